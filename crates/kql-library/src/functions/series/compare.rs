//! `series_less` and the other comparisons of two series, element by element.

use super::numbers::{Number, pairs};
use crate::dynamic::rows::each;
use crate::functions::prelude::*;

macro_rules! comparison {
    ($const:ident, $name:literal, $op:tt, $summary:literal, $example:literal, $answer:literal) => {
        pub(crate) static $const: ScalarFunction = function(
            &[
                concat!($name, "(series1: dynamic, series2: number|dynamic) -> dynamic"),
                concat!($name, "(series1: number, series2: dynamic) -> dynamic"),
            ],
            $summary,
            ResultName::None,
            &[example($example, concat!("s:dynamic\n", $answer))],
            |args| apply(args, |a, b| a $op b, |a, b| a $op b),
        );
    };
}

comparison!(EQUALS, "series_equals", ==,
    "Whether the elements of two series are equal, one by one.",
    "print s = series_equals(dynamic([1, 2]), dynamic([1.0, 3]))", "[true,false]");
comparison!(NOT_EQUALS, "series_not_equals", !=,
    "Whether the elements of two series differ, one by one.",
    "print s = series_not_equals(dynamic([1, 2]), 2)", "[true,false]");
comparison!(LESS, "series_less", <,
    "Whether the elements of the first series are less than those of the second.",
    "print s = series_less(dynamic([1, 2]), dynamic([2, 2]))", "[true,false]");
comparison!(LESS_EQUALS, "series_less_equals", <=,
    "Whether the elements of the first series are at most those of the second.",
    "print s = series_less_equals(dynamic([1, 3]), dynamic([1, 2]))", "[true,false]");
comparison!(GREATER, "series_greater", >,
    "Whether the elements of the first series are greater than those of the second.",
    "print s = series_greater(dynamic([20, 5, null]), 15)", "[true,false,null]");
comparison!(GREATER_EQUALS, "series_greater_equals", >=,
    "Whether the elements of the first series are at least those of the second.",
    "print s = series_greater_equals(dynamic([15, 5]), 15)", "[true,false]");

fn apply(
    args: &KernelArgs<'_>,
    longs: fn(i64, i64) -> bool,
    reals: fn(f64, f64) -> bool,
) -> KernelResult {
    each(args, |row, encoder| {
        let pairs = pairs(row)?;
        encoder.begin_array();
        for pair in pairs {
            match pair {
                (Some(Number::Long(a)), Some(Number::Long(b))) => encoder.bool(longs(a, b)),
                (Some(a), Some(b)) => encoder.bool(reals(a.real(), b.real())),
                _ => encoder.null(),
            }
        }
        encoder.end();
        Some(())
    })
}
