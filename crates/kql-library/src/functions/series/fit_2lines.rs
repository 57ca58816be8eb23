//! `series_fit_2lines` and `series_fit_2lines_dynamic`: regression by two lines (`docs/semantics.md §26`).

use hindsight_kql_types::Encoder;

use super::fit::Line;
use super::numbers::{reals, write_reals};
use crate::dynamic::rows::{Row, each, with_rows};
use crate::functions::prelude::*;
use crate::work::CancellationToken;

pub(crate) static LINES: ScalarFunction = function(
    &["series_fit_2lines(array: dynamic) -> real"],
    "The two least-squares lines that fit the parts of a series best: R-squared, the index of the first point of the right part, variances, values, and the lines, in a column each.",
    ResultName::None,
    &[example(
        "print y = dynamic([1, 2, 3, 10, 8, 6]) | project (r, at) = series_fit_2lines(y) | project r, at",
        "r:real, at:long\n1.0 | 3",
    )],
    |args| {
        with_rows(
            args,
            |value| args.collect_reals(value),
            |row| Some(TwoLines::of(row)?.rsquare),
        )
    },
);

pub(crate) static LINES_DYNAMIC: ScalarFunction = function(
    &["series_fit_2lines_dynamic(series: dynamic) -> dynamic"],
    "The result of series_fit_2lines as a bag.",
    ResultName::None,
    &[example(
        "print f = series_fit_2lines_dynamic(dynamic([1, 2, 3, 10, 8, 6])) | project at = f.split_idx, right = f.right.slope, left = f.left.slope",
        "at:dynamic, right:dynamic, left:dynamic\n3 | -2.0 | 1.0",
    )],
    |args| {
        each(args, |row, encoder| {
            let fit = TwoLines::of(row)?;
            encoder.begin_bag();
            encoder.key("rsquare");
            encoder.real(fit.rsquare);
            encoder.key("split_idx");
            encoder.long(fit.split);
            encoder.key("variance");
            encoder.real(fit.variance);
            encoder.key("rvariance");
            encoder.real(fit.rvariance);
            encoder.key("line_fit");
            write_reals(&fit.values(), encoder);
            for (name, line) in [("right", &fit.right), ("left", &fit.left)] {
                encoder.key(name);
                encoder.begin_bag();
                let names = ["rsquare", "slope", "interception", "variance", "rvariance"];
                for (name, value) in names.into_iter().zip(fields(line)) {
                    encoder.key(name);
                    encoder.real(value);
                }
                encoder.end();
            }
            encoder.end();
            Some(())
        })
    },
);

/// The columns of `series_fit_2lines`.
pub(crate) static COLUMNS: &[(&str, ScalarType)] = &[
    ("rsquare", ScalarType::Real),
    ("split_idx", ScalarType::Long),
    ("variance", ScalarType::Real),
    ("rvariance", ScalarType::Real),
    ("line_fit", ScalarType::Dynamic),
    ("right_rsquare", ScalarType::Real),
    ("right_slope", ScalarType::Real),
    ("right_interception", ScalarType::Real),
    ("right_variance", ScalarType::Real),
    ("right_rvariance", ScalarType::Real),
    ("left_rsquare", ScalarType::Real),
    ("left_slope", ScalarType::Real),
    ("left_interception", ScalarType::Real),
    ("left_variance", ScalarType::Real),
    ("left_rvariance", ScalarType::Real),
];

/// The values of all columns as an array.
pub(crate) fn all(args: &KernelArgs<'_>) -> KernelResult {
    each(args, |row, encoder: &mut Encoder| {
        let fit = TwoLines::of(row)?;
        encoder.begin_array();
        encoder.real(fit.rsquare);
        encoder.long(fit.split);
        encoder.real(fit.variance);
        encoder.real(fit.rvariance);
        write_reals(&fit.values(), encoder);
        for value in fields(&fit.right).into_iter().chain(fields(&fit.left)) {
            encoder.real(value);
        }
        encoder.end();
        Some(())
    })
}

/// R-squared, slope, interception, variance and residual variance of a line.
fn fields(line: &Line) -> [f64; 5] {
    [
        line.rsquare,
        line.slope,
        line.interception,
        line.variance,
        line.rvariance,
    ]
}

struct TwoLines {
    rsquare: f64,
    /// The index of the first point of the right part.
    split: i64,
    variance: f64,
    rvariance: f64,
    left: Line,
    right: Line,
}

impl TwoLines {
    /// Of all splits into parts of at least two points, that with the least sum of squared residuals; of equal ones the first.
    fn of(row: Row<'_>) -> Option<TwoLines> {
        let y = reals(row, 0)?;
        let split = best_split(&y)?;
        let (left, right) = y.split_at_checked(split)?;
        let (left, right) = (Line::of(left)?, Line::of(right)?);
        let n = y.len() as f64;
        let mean = y.iter().sum::<f64>() / n;
        let total: f64 = y.iter().map(|y| (y - mean) * (y - mean)).sum();
        let rest = left.squares + right.squares;
        Some(TwoLines {
            rsquare: 1.0 - rest / total,
            split: i64::try_from(split).ok()?,
            variance: total / (n - 1.0),
            rvariance: rest / (n - 1.0),
            left,
            right,
        })
    }

    fn values(&self) -> Vec<f64> {
        let mut values = self.left.values(self.left.count);
        values.extend(self.right.values(self.right.count));
        values
    }
}

/// The relative difference at which two sums of squares are equal.
const EQUAL: f64 = 1e-12;

fn best_split(y: &[f64]) -> Option<usize> {
    let left = squares_of_prefixes(y.iter().copied())?;
    let mut right = squares_of_prefixes(y.iter().rev().copied())?;
    right.reverse();
    // `right[i]` belongs to the points from i on, and `left[i]` to the points up to i.
    let sums: Vec<(usize, f64)> = left
        .iter()
        .zip(right.iter().skip(1))
        .zip(1..)
        .filter(|(_, split)| *split >= 2 && split + 2 <= y.len())
        .map(|((left, right), split)| (split, left + right))
        .collect();
    let least = sums.iter().map(|(_, sum)| *sum).reduce(f64::min)?;
    let total = left.last()?.abs().max(1.0);
    sums.into_iter()
        .find(|(_, sum)| *sum <= least + EQUAL * total)
        .map(|(split, _)| split)
}

/// For each prefix, the sum of the squared residuals of its least-squares line. The sums are updated by each point from the
/// means so far, which keeps their digits.
fn squares_of_prefixes(y: impl Iterator<Item = f64>) -> Option<Vec<f64>> {
    let cancellation = CancellationToken::current();
    let (mut mean_x, mut mean_y) = (0.0, 0.0);
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    let mut squares = Vec::new();
    for (at, y) in y.enumerate() {
        if at % 65_536 == 0 && cancellation.is_cancelled() {
            return None;
        }
        let (n, x) = (at as f64 + 1.0, at as f64);
        let (from_x, from_y) = (x - mean_x, y - mean_y);
        mean_x += from_x / n;
        mean_y += from_y / n;
        xx += from_x * (x - mean_x);
        xy += from_x * (y - mean_y);
        yy += from_y * (y - mean_y);
        squares.push(if at == 0 { 0.0 } else { yy - xy * xy / xx });
    }
    Some(squares)
}
