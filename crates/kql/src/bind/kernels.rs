//! The inner kernels of operators on scalars.

use super::{arithmetic, comparison, dynamic, volatile};
use crate::call::InnerKernel;

static OTHERS: [&InnerKernel; 6] = [
    &dynamic::ELEMENT,
    &dynamic::MEMBER,
    &dynamic::STEP,
    &volatile::BETWEEN,
    &volatile::EQUAL,
    &volatile::UNEQUAL,
];

/// All of them.
pub(crate) fn inner_kernels() -> impl Iterator<Item = &'static InnerKernel> {
    let lists = [arithmetic::KERNELS, comparison::KERNELS, &OTHERS];
    lists.into_iter().flatten().copied()
}
