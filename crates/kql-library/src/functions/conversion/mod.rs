//! Conversions between types (`docs/semantics.md §8`). They are total: a value that does not fit becomes null, never an error.

mod gettype;
mod source;
mod to_bool;
mod to_datetime;
mod to_decimal;
mod to_guid;
mod to_int;
mod to_real;
mod to_string;
mod to_timespan;
mod tohex;

use super::prelude::*;

pub use to_real::DEF as TO_REAL;
pub use to_string::DEF as TO_STRING;

pub(crate) static LIST: &[&ScalarFunction] = &[
    &gettype::DEF,
    &to_bool::DEF,
    &to_datetime::DEF,
    &to_decimal::DEF,
    &to_guid::DEF,
    &to_int::TOINT,
    &to_int::TOLONG,
    &to_real::DEF,
    &to_string::DEF,
    &to_timespan::DEF,
    &tohex::DEF,
];

/// The inner kernels of these functions.
pub(super) static KERNELS: &[&InnerKernel] = &[&to_int::TOINT_KERNEL, &to_int::TOLONG_KERNEL];
