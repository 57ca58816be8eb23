//! Functions on dynamic values that are neither arrays nor bags alone.

pub(crate) mod cells;
mod data_size;
mod json;
pub(crate) mod pack;
pub(crate) mod rows;
mod sketches;
mod tdigest;

use super::ScalarFunction;

pub(crate) use pack::pack_array_unless_all_null;

pub(crate) static LIST: &[&ScalarFunction] = &[
    &data_size::DEF,
    &json::PARSE_JSON,
    &json::DYNAMIC_TO_JSON,
    &json::TREEPATH,
    &sketches::DCOUNT_HLL,
    &sketches::HLL_MERGE,
    &tdigest::PERCENTILE,
    &tdigest::PERCENTILES_ARRAY,
    &tdigest::RANK,
    &tdigest::PERCENT_RANK,
    &tdigest::MERGE,
];
