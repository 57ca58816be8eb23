//! `series_seasonal` (`docs/semantics.md §26`).

use super::decomposition::{Seasonality, seasonal};
use super::numbers::{reals, write_reals};
use crate::dynamic::rows::each;
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["series_seasonal(series: dynamic, [period: integer], [test_points: integer]) -> dynamic"],
    "The seasonal component of a series: the median of the points of each phase of the period, which is detected unless it is given; zeros if no period is found.",
    ResultName::None,
    &[
        example(
            "print s = series_seasonal(dynamic([1, 3, 5, 1, 3, 5, 2, 4, 6]), 3)",
            "s:dynamic\n[1.0,3.0,5.0,1.0,3.0,5.0,1.0,3.0,5.0]",
        ),
        example(
            "print s = series_seasonal(dynamic([1, 3, 5, 2, 4, 6]))",
            "s:dynamic\n[0.0,0.0,0.0,0.0,0.0,0.0]",
        ),
    ],
    |args| {
        each(args, |row, encoder| {
            let series = reals(row, 0)?;
            let or = |index: usize, default: i64| match row.value(index) {
                None => Some(default),
                Some(_) => row.long(index),
            };
            let test_points = usize::try_from(or(2, 0)?).unwrap_or(0);
            let learned = series.len().checked_sub(test_points)?;
            let seasonality = Seasonality::of(or(1, -1)?, DEFAULT_THRESHOLD);
            write_reals(&seasonal(&series, learned, seasonality)?, encoder);
            Some(())
        })
    },
);

/// The least score of a detected period. It is higher than that of `series_decompose`.
const DEFAULT_THRESHOLD: f64 = 0.7;
