//! Functions on property bags (`docs/semantics.md §9.8`).

mod pack;
mod path;
mod read;
mod transform;

use crate::call::InnerKernel;
use crate::definition::ScalarFunction;

pub(crate) static LIST: &[&ScalarFunction] = &[
    &pack::BAG_PACK,
    &pack::BAG_ZIP,
    &read::BAG_KEYS,
    &read::BAG_HAS_KEY,
    &transform::BAG_MERGE,
    &transform::BAG_REMOVE_KEYS,
    &transform::BAG_SET_KEY,
];

/// The inner kernels of these functions.
pub(super) static KERNELS: &[&InnerKernel] =
    &[&pack::BAG_PACK_KERNEL, &pack::PACK, &pack::PACK_NON_EMPTY];

pub use pack::pack_columns;
