//! `series_add` and the other operations on two series, element by element.

use super::numbers::{Number, pairs, write};
use crate::dynamic::rows::each;
use crate::functions::prelude::*;

pub(crate) static ADD: ScalarFunction = function(
    &[
        "series_add(series1: dynamic, series2: number|dynamic) -> dynamic",
        "series_add(series1: number, series2: dynamic) -> dynamic",
    ],
    "The sums of the elements of two series, or of a series and a number.",
    ResultName::None,
    &[example(
        "print s = series_add(dynamic([1, 2, null]), dynamic([0.5, 2, 3]))",
        "s:dynamic\n[1.5,4,null]",
    )],
    |args| apply(args, |a, b| whole(a, b, i64::wrapping_add, |a, b| a + b)),
);

pub(crate) static SUBTRACT: ScalarFunction = function(
    &[
        "series_subtract(series1: dynamic, series2: number|dynamic) -> dynamic",
        "series_subtract(series1: number, series2: dynamic) -> dynamic",
    ],
    "The differences of the elements of two series, or of a series and a number.",
    ResultName::None,
    &[example(
        "print s = series_subtract(dynamic([5, 7]), 2)",
        "s:dynamic\n[3,5]",
    )],
    |args| apply(args, |a, b| whole(a, b, i64::wrapping_sub, |a, b| a - b)),
);

pub(crate) static MULTIPLY: ScalarFunction = function(
    &[
        "series_multiply(series1: dynamic, series2: number|dynamic) -> dynamic",
        "series_multiply(series1: number, series2: dynamic) -> dynamic",
    ],
    "The products of the elements of two series, or of a series and a number.",
    ResultName::None,
    &[example(
        "print s = series_multiply(dynamic([2, 3]), dynamic([4, 0.5]))",
        "s:dynamic\n[8,1.5]",
    )],
    |args| apply(args, |a, b| whole(a, b, i64::wrapping_mul, |a, b| a * b)),
);

pub(crate) static DIVIDE: ScalarFunction = function(
    &[
        "series_divide(series1: dynamic, series2: number|dynamic) -> dynamic",
        "series_divide(series1: number, series2: dynamic) -> dynamic",
    ],
    "The quotients of the elements of two series, or of a series and a number, as doubles.",
    ResultName::None,
    &[example(
        "print s = series_divide(dynamic([6, 3]), dynamic([3, 2]))",
        "s:dynamic\n[2.0,1.5]",
    )],
    |args| apply(args, |a, b| Number::Real(a.real() / b.real())),
);

pub(crate) static POW: ScalarFunction = function(
    &[
        "series_pow(series1: dynamic, series2: number|dynamic) -> dynamic",
        "series_pow(series1: number, series2: dynamic) -> dynamic",
    ],
    "The elements of the first series raised to the powers of the second, as doubles.",
    ResultName::None,
    &[example(
        "print s = series_pow(dynamic([4, 5]), dynamic([0.5, 2]))",
        "s:dynamic\n[2.0,25.0]",
    )],
    |args| apply(args, |a, b| Number::Real(a.real().powf(b.real()))),
);

/// Integers stay integers; a double operand makes the result a double.
fn whole(a: Number, b: Number, longs: fn(i64, i64) -> i64, reals: fn(f64, f64) -> f64) -> Number {
    match (a, b) {
        (Number::Long(a), Number::Long(b)) => Number::Long(longs(a, b)),
        (a, b) => Number::Real(reals(a.real(), b.real())),
    }
}

fn apply(args: &KernelArgs<'_>, f: impl Fn(Number, Number) -> Number) -> KernelResult {
    each(args, |row, encoder| {
        let results = pairs(row)?.into_iter().map(|(a, b)| Some(f(a?, b?)));
        write(results, encoder);
        Some(())
    })
}
