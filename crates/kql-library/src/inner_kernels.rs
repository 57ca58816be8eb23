//! The inner kernels of the library, which travel between processes by name.
//!
//! A kernel that is not listed is refused when a plan that calls it is encoded. The conformance cases call every function and operator,
//! and a test of the crate `kql` encodes their plans.

use crate::call::InnerKernel;
use crate::convert::CONVERT;
use crate::list_match::{HAS_ALL, HAS_ANY, IN, IN_FOLDED};
use crate::real_key::{REAL_KEY, REAL_RANK};
use crate::{aggregates, functions, text_match};

static SHARED: &[&InnerKernel] = &[
    &CONVERT, &HAS_ALL, &HAS_ANY, &IN, &IN_FOLDED, &REAL_KEY, &REAL_RANK,
];

/// All inner kernels of the library.
pub(crate) fn inner_kernels() -> impl Iterator<Item = &'static InnerKernel> {
    let shared = SHARED.iter().chain(aggregates::KERNELS).copied();
    shared
        .chain(text_match::inner_kernels())
        .chain(functions::inner_kernels())
}
