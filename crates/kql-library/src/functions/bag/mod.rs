//! Functions on bags of properties (`semantics.md §9.8`).

mod change;
mod look;
mod pack;
mod path;

use crate::definition::ScalarFunction;

pub(crate) static LIST: &[&ScalarFunction] = &[
    &pack::BAG_PACK,
    &pack::BAG_ZIP,
    &look::BAG_KEYS,
    &look::BAG_HAS_KEY,
    &change::BAG_MERGE,
    &change::BAG_REMOVE_KEYS,
    &change::BAG_SET_KEY,
];

pub use pack::pack_columns;
