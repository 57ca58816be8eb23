//! Functions on dynamic values that are neither arrays nor bags alone.

pub(crate) mod cells;
mod json;
pub(crate) mod pack;
pub(crate) mod rows;
mod sketches;

use super::ScalarFunction;

pub(crate) use pack::pack_array_unless_all_null;

pub(crate) static LIST: &[&ScalarFunction] = &[
    &json::PARSE_JSON,
    &json::DYNAMIC_TO_JSON,
    &json::TREEPATH,
    &sketches::DCOUNT_HLL,
    &sketches::HLL_MERGE,
];
