//! `series_fit_poly`: regression by a polynomial (`docs/semantics.md §26`).

use super::least_squares::polynomial;
use super::numbers::{reals, write_reals};
use crate::dynamic::rows::{Row, each, with_rows};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &[
        "series_fit_poly(y_series: dynamic) -> real",
        "series_fit_poly(y_series: dynamic, x_series: dynamic, [degree: integer]) -> real",
    ],
    "The least-squares polynomial through a series: R-squared, the coefficients from the highest power down, variances and values, in a column each.",
    ResultName::None,
    &[example(
        "print x = dynamic([0, 1, 2, 3]), y = dynamic([1, 2, 5, 10]) | project (r, c) = series_fit_poly(y, x, 2) | project r = round(r, 9), a = round(todouble(c[0]), 9), b = round(todouble(c[2]), 9)",
        "r:real, a:real, b:real\n1.0 | 1.0 | 1.0",
    )],
    |args| {
        with_rows(
            args,
            |value| args.collect_reals(value),
            |row| Some(Fit::of(row)?.rsquare),
        )
    },
);

/// The columns of `series_fit_poly`.
pub(crate) static COLUMNS: &[(&str, ScalarType)] = &[
    ("rsquare", ScalarType::Real),
    ("coefficients", ScalarType::Dynamic),
    ("variance", ScalarType::Real),
    ("rvariance", ScalarType::Real),
    ("poly_fit", ScalarType::Dynamic),
];

/// The values of all columns as an array.
pub(crate) fn all(args: &KernelArgs<'_>) -> KernelResult {
    each(args, |row, encoder| {
        let fit = Fit::of(row)?;
        encoder.begin_array();
        encoder.real(fit.rsquare);
        write_reals(&fit.coefficients, encoder);
        encoder.real(fit.variance);
        encoder.real(fit.rvariance);
        write_reals(&fit.values, encoder);
        encoder.end();
        Some(())
    })
}

/// The highest degree. The powers of numbers beyond [-1, 1] leave the range of doubles long before.
const MAX_DEGREE: usize = 256;

struct Fit {
    rsquare: f64,
    coefficients: Vec<f64>,
    variance: f64,
    rvariance: f64,
    values: Vec<f64>,
}

impl Fit {
    /// The polynomial through the points of a row. Without an x series the points are at 1, 2, 3, … `None` if the series are
    /// not of equal lengths, or do not determine a polynomial of the degree.
    fn of(row: Row<'_>) -> Option<Fit> {
        let y = reals(row, 0)?;
        let x = match row.value(1) {
            None => (1..=y.len()).map(|x| x as f64).collect(),
            Some(_) => reals(row, 1)?,
        };
        let degree = match row.value(2) {
            None => 1,
            Some(_) => usize::try_from(row.long(2)?).ok()?,
        };
        if x.len() != y.len() || degree > MAX_DEGREE {
            return None;
        }
        let fit = polynomial(&x, &y, degree)?;
        let n = y.len() as f64;
        let mean = y.iter().sum::<f64>() / n;
        let square = |a: f64| a * a;
        let total: f64 = y.iter().map(|y| square(y - mean)).sum();
        let rest: f64 = y.iter().zip(&fit.values).map(|(y, f)| square(y - f)).sum();
        Some(Fit {
            rsquare: 1.0 - rest / total,
            coefficients: fit.coefficients,
            variance: total / (n - 1.0),
            rvariance: rest / (n - 1.0),
            values: fit.values,
        })
    }
}
