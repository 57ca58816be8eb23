//! `series_fit_line` and `series_fit_line_dynamic`: least-squares regression of a series.

use super::numbers::{reals, write_reals};
use crate::dynamic::rows::{each, with_rows};
use crate::functions::prelude::*;

pub(crate) static LINE: ScalarFunction = function(
    &["series_fit_line(series: dynamic) -> real"],
    "The least-squares line through a series: its R-squared, slope, variances, interception and values, in a column each.",
    ResultName::None,
    &[
        example(
            "print fit = series_fit_line(dynamic([1, 3, 5]))",
            "fit:real\n1.0",
        ),
        example(
            "print y = dynamic([1, 3, 5]) | project (fit, slope) = series_fit_line(y) | project fit, slope",
            "fit:real, slope:real\n1.0 | 2.0",
        ),
    ],
    |args| {
        with_rows(
            args,
            |value| args.collect_reals(value),
            |row| Some(Line::of(&reals(row, 0)?)?.rsquare),
        )
    },
);

pub(crate) static LINE_DYNAMIC: ScalarFunction = function(
    &["series_fit_line_dynamic(series: dynamic) -> dynamic"],
    "The least-squares line through a series, as a bag.",
    ResultName::None,
    &[
        example(
            "print slope = series_fit_line_dynamic(dynamic([1, 3, 5])).slope",
            "slope:dynamic\n2.0",
        ),
        example(
            "print fit = series_fit_line_dynamic(dynamic([1, 3, 5])) | project at = fit.interception, line = fit.line_fit",
            "at:dynamic, line:dynamic\n-1.0 | [1.0,3.0,5.0]",
        ),
    ],
    |args| {
        each(args, |row, encoder| {
            let line = Line::of(&reals(row, 0)?)?;
            encoder.begin_bag();
            for (name, value) in [
                ("slope", line.slope),
                ("interception", line.interception),
                ("rsquare", line.rsquare),
                ("variance", line.variance),
                ("rvariance", line.rvariance),
            ] {
                encoder.key(name);
                encoder.real(value);
            }
            encoder.key("line_fit");
            write_reals(&line.values(line.count), encoder);
            encoder.end();
            Some(())
        })
    },
);

/// The columns of `series_fit_line`.
pub(crate) static COLUMNS: &[(&str, ScalarType)] = &[
    ("rsquare", ScalarType::Real),
    ("slope", ScalarType::Real),
    ("variance", ScalarType::Real),
    ("rvariance", ScalarType::Real),
    ("interception", ScalarType::Real),
    ("line_fit", ScalarType::Dynamic),
];

/// The values of all columns as an array.
pub(crate) fn all(args: &KernelArgs<'_>) -> KernelResult {
    each(args, |row, encoder| {
        let line = Line::of(&reals(row, 0)?)?;
        encoder.begin_array();
        for value in [
            line.rsquare,
            line.slope,
            line.variance,
            line.rvariance,
            line.interception,
        ] {
            encoder.real(value);
        }
        write_reals(&line.values(line.count), encoder);
        encoder.end();
        Some(())
    })
}

/// A least-squares line. The first point is at x = 1.
pub(super) struct Line {
    pub(super) rsquare: f64,
    pub(super) slope: f64,
    /// The sample variance of the points.
    pub(super) variance: f64,
    /// The sample variance of the residuals.
    pub(super) rvariance: f64,
    pub(super) interception: f64,
    /// The sum of the squared residuals.
    pub(super) squares: f64,
    /// The number of points.
    pub(super) count: usize,
}

impl Line {
    /// The line through a series; `None` for fewer than two points. The variances are sample variances; `rsquare` is 1 less the
    /// residual share of the variance. The first element is at x = 1, as recorded: the line through 2, 5, 6, … starts at 1.06
    /// and has the interception -1.67.
    pub(super) fn of(y: &[f64]) -> Option<Line> {
        let count = y.len();
        if count < 2 {
            return None;
        }
        let n = count as f64;
        let mean_x = (n + 1.0) / 2.0;
        let mean_y = y.iter().sum::<f64>() / n;
        let points = || {
            y.iter()
                .enumerate()
                .map(|(i, y)| (i as f64 + 1.0 - mean_x, y - mean_y))
        };
        let xy: f64 = points().map(|(x, y)| x * y).sum();
        let xx: f64 = points().map(|(x, _)| x * x).sum();
        let slope = xy / xx;
        let yy: f64 = points().map(|(_, y)| y * y).sum();
        let rest: f64 = points()
            .map(|(x, y)| (y - slope * x) * (y - slope * x))
            .sum();
        Some(Line {
            rsquare: 1.0 - rest / yy,
            slope,
            variance: yy / (n - 1.0),
            rvariance: rest / (n - 1.0),
            interception: mean_y - slope * mean_x,
            squares: rest,
            count,
        })
    }

    /// The values at the first `count` points.
    pub(super) fn values(&self, count: usize) -> Vec<f64> {
        (1..=count)
            .map(|x| self.interception + self.slope * x as f64)
            .collect()
    }
}
