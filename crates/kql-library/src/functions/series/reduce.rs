//! Functions that reduce one or two series to a number.

use super::numbers::{Number, pairs, reals};
use crate::dynamic::rows::{Row, with_rows};
use crate::functions::prelude::*;
use crate::kernel::total;

pub(crate) static SUM: ScalarFunction = function(
    &["series_sum(series: dynamic) -> real"],
    "The sum of the elements.",
    ResultName::None,
    &[example(
        "print n = series_sum(dynamic([1, 2.5]))",
        "n:real\n3.5",
    )],
    |args| reduce(args, |row| Some(total(reals(row, 0)?))),
);

pub(crate) static PRODUCT: ScalarFunction = function(
    &["series_product(series: dynamic) -> real"],
    "The product of the elements.",
    ResultName::None,
    &[example(
        "print n = series_product(dynamic([2, 2.5]))",
        "n:real\n5.0",
    )],
    |args| reduce(args, |row| Some(reals(row, 0)?.iter().product())),
);

pub(crate) static MAGNITUDE: ScalarFunction = function(
    &["series_magnitude(series: dynamic) -> real"],
    "The magnitude of the series as a vector.",
    ResultName::None,
    &[example(
        "print n = series_magnitude(dynamic([3, 4]))",
        "n:real\n5.0",
    )],
    |args| reduce(args, |row| Some(magnitude(&reals(row, 0)?))),
);

pub(crate) static DOT_PRODUCT: ScalarFunction = function(
    &[
        "series_dot_product(series1: dynamic, series2: number|dynamic) -> real",
        "series_dot_product(series1: number, series2: dynamic) -> real",
    ],
    "The sum of the products of the elements of two series, or of a series and a number.",
    ResultName::None,
    &[example(
        "print n = series_dot_product(dynamic([1, 2]), dynamic([3, 4]))",
        "n:real\n11.0",
    )],
    |args| reduce(args, |row| Some(dot(&both(row)?))),
);

pub(crate) static PEARSON: ScalarFunction = function(
    &["series_pearson_correlation(series1: dynamic, series2: dynamic) -> real"],
    "Pearson's correlation of two series of equal length.",
    ResultName::None,
    &[example(
        "print n = series_pearson_correlation(dynamic([1, 2, 3]), dynamic([6, 4, 2]))",
        "n:real\n-1.0",
    )],
    |args| reduce(args, pearson),
);

pub(crate) static COSINE: ScalarFunction = function(
    &[
        "series_cosine_similarity(series1: dynamic, series2: dynamic, [magnitude1: int|long|real], [magnitude2: int|long|real]) -> real",
    ],
    "The cosine of the angle between two series as vectors; their magnitudes are optional arguments.",
    ResultName::None,
    &[example(
        "print n = series_cosine_similarity(dynamic([3, 4]), dynamic([0, 2]))",
        "n:real\n0.8",
    )],
    |args| {
        let given = args.len();
        reduce(args, |row| {
            let pairs = both(row)?;
            let (left, right): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
            let size = |index: usize, series: &[f64]| {
                if given > index {
                    super::numbers::scalar(row, index).map(Number::real)
                } else {
                    Some(magnitude(series))
                }
            };
            Some(dot(&pairs) / (size(2, &left)? * size(3, &right)?))
        })
    },
);

fn reduce(args: &KernelArgs<'_>, f: impl FnMut(Row<'_>) -> Option<f64>) -> KernelResult {
    with_rows(args, |value| args.collect_reals(value), f)
}

/// The pairs of two series that have a number at every position.
fn both(row: Row<'_>) -> Option<Vec<(f64, f64)>> {
    let pair = |(a, b): (Option<Number>, Option<Number>)| Some((a?.real(), b?.real()));
    pairs(row)?.into_iter().map(pair).collect()
}

fn dot(pairs: &[(f64, f64)]) -> f64 {
    total(pairs.iter().map(|(a, b)| a * b))
}

fn magnitude(series: &[f64]) -> f64 {
    total(series.iter().map(|x| x * x)).sqrt()
}

fn pearson(row: Row<'_>) -> Option<f64> {
    let pairs = both(row)?;
    let count = pairs.len() as f64;
    let mean_x = pairs.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = pairs.iter().map(|(_, y)| y).sum::<f64>() / count;
    let moment = |f: fn(f64, f64) -> f64| -> f64 {
        pairs.iter().map(|(x, y)| f(x - mean_x, y - mean_y)).sum()
    };
    let spread = (moment(|x, _| x * x) * moment(|_, y| y * y)).sqrt();
    Some(moment(|x, y| x * y) / spread)
}
