//! The numeric conversions `to*()` between types (`docs/semantics.md §8`), with the results of the row engine.
//!
//! Conversions from text are in [`crate::number`], [`crate::real`], [`crate::decimal`], [`crate::datetime`],
//! [`crate::timespan`] and [`crate::guid`]; those of a dynamic are methods of [`crate::DynamicRef`].

use crate::{decimal, ticks};

/// `tolong(real)` over rows: truncates towards zero and saturates; NaN is null.
pub fn long_from_real(value: f64) -> Option<i64> {
    (!value.is_nan()).then_some(value as i64)
}

/// `tolong(real)` of a constant: as [`long_from_real`] within the range; beyond it the smallest long, and infinity is null too.
pub fn long_from_constant_real(value: f64) -> Option<i64> {
    const LIMIT: f64 = i64::MAX as f64;
    value.is_finite().then_some(if value < LIMIT {
        value as i64
    } else {
        i64::MIN
    })
}

/// `toint(real)` over rows: truncates towards zero and saturates at the range of `int`; NaN is null.
pub fn int_from_real(value: f64) -> Option<i32> {
    (!value.is_nan()).then_some(value as i32)
}

/// `toint(real)` of a constant: as [`int_from_real`] within the range; beyond it the smallest int, and infinity is null too.
pub fn int_from_constant_real(value: f64) -> Option<i32> {
    value
        .is_finite()
        .then_some(if value.trunc() <= f64::from(i32::MAX) {
            value as i32
        } else {
            i32::MIN
        })
}

/// `toint` of a long or of ticks: wraps to 32 bits.
pub fn int_from_long(value: i64) -> i32 {
    value as i32
}

/// `tolong(decimal)`: truncates towards zero; null beyond 64 bits.
pub fn long_from_decimal(value: i128) -> Option<i64> {
    decimal::to_i64(value)
}

/// `toint(decimal)`: truncates towards zero, then wraps to 32 bits like a `long`.
pub fn int_from_decimal(value: i128) -> Option<i32> {
    decimal::to_i64(value).map(int_from_long)
}

/// `toreal` of a long or of ticks.
pub fn real_from_long(value: i64) -> f64 {
    value as f64
}

/// `tobool(number)`: nonzero. NaN is nonzero.
pub fn bool_from_real(value: f64) -> bool {
    value != 0.0
}

/// `tobool(long)`: nonzero.
pub fn bool_from_long(value: i64) -> bool {
    value != 0
}

/// `todatetime(long)`: the number of ticks; null outside the years 1 to 9999.
pub fn datetime_from_long(value: i64) -> Option<i64> {
    ticks::in_range(value)
}

/// `todatetime(real)`: as [`datetime_from_long`] for the integer part.
pub fn datetime_from_real(value: f64) -> Option<i64> {
    timespan_from_real(value).and_then(ticks::in_range)
}

/// `totimespan(real)`: the number of ticks without its fraction; NaN, infinity and what exceeds 64 bits are null.
pub fn timespan_from_real(value: f64) -> Option<i64> {
    const LIMIT: f64 = i64::MAX as f64;
    (value.abs() < LIMIT).then_some(value as i64)
}
