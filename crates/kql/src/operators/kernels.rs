//! The inner kernels of tabular operators.

use super::{make_series, parse_kv};
use crate::call::InnerKernel;

/// All of them.
pub(crate) static KERNELS: &[&InnerKernel] = &[
    &make_series::SERIES_BIN,
    &parse_kv::AFTER_KEY,
    &parse_kv::BETWEEN_DELIMITERS,
    &parse_kv::BY_REGEX,
];
