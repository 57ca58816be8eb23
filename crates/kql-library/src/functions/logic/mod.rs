//! Conditions and null handling (`docs/semantics.md §5, §12`).

mod assert;
mod case;
mod coalesce;
mod empty;
mod extreme;
mod not;

use super::prelude::*;

pub(crate) static LIST: &[&ScalarFunction] = &[
    &assert::DEF,
    &case::CASE,
    &case::IFF,
    &coalesce::DEF,
    &empty::ISNULL,
    &empty::ISNOTNULL,
    &empty::ISEMPTY,
    &empty::ISNOTEMPTY,
    &extreme::MAX_OF,
    &extreme::MIN_OF,
    &not::DEF,
];

/// The inner kernels of these functions.
pub(super) static KERNELS: &[&InnerKernel] = &[
    &case::CASE_KERNEL,
    &coalesce::KERNEL,
    &empty::ISNOTEMPTY_KERNEL,
    &empty::ISEMPTY_KERNEL,
    &extreme::GREATEST,
    &extreme::LEAST,
];
