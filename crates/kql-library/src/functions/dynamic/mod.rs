//! Functions on dynamic values that are not specific to arrays or bags.

mod data_size;
mod json;
mod sketches;
mod tdigest;

use crate::definition::ScalarFunction;

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
