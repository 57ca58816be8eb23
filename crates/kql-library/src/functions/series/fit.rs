//! `series_fit_line` and `series_fit_line_dynamic`: least-squares regression of a series.

use hindsight_kql_types::Encoder;

use super::numbers::reals;
use crate::dynamic::rows::{Row, each, with_rows};
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
            |row| Some(Line::of(row)?.rsquare),
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
            let line = Line::of(row)?;
            encoder.begin_bag();
            for (name, value) in [
                ("rsquare", line.rsquare),
                ("slope", line.slope),
                ("variance", line.variance),
                ("rvariance", line.rvariance),
                ("interception", line.interception),
            ] {
                encoder.key(name);
                encoder.real(value);
            }
            encoder.key("line_fit");
            line.write_fit(encoder);
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
        let line = Line::of(row)?;
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
        line.write_fit(encoder);
        encoder.end();
        Some(())
    })
}

struct Line {
    rsquare: f64,
    slope: f64,
    variance: f64,
    rvariance: f64,
    interception: f64,
    count: usize,
}

impl Line {
    /// The variances are sample variances; `rsquare` is 1 less the residual share of the variance. The first element is at x
    /// = 1, as recorded: the line through 2, 5, 6, … starts at 1.06 and has the interception -1.67.
    fn of(row: Row<'_>) -> Option<Line> {
        let y = reals(row, 0)?;
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
            count,
        })
    }

    fn write_fit(&self, encoder: &mut Encoder) {
        encoder.begin_array();
        for x in 1..=self.count {
            encoder.real(self.interception + self.slope * x as f64);
        }
        encoder.end();
    }
}
