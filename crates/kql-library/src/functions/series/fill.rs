//! `series_fill_const`, `_forward`, `_backward` and `_linear`: replace missing values.

use super::numbers::{Number, scalar, series, write};
use crate::dynamic::rows::{Row, each};
use crate::functions::prelude::*;

pub(crate) static CONST: ScalarFunction = function(
    &["series_fill_const(series: dynamic, [constant: number], [missing: number]) -> dynamic"],
    "The series with every missing element replaced by a constant, by default 0.",
    ResultName::FirstArgument,
    &[example(
        "print s = series_fill_const(dynamic([1, null, 3]), 7)",
        "s:dynamic\n[1,7,3]",
    )],
    |args| {
        let has_constant = args.len() > 1;
        fill(args, 2, |row, series| {
            let constant = if has_constant {
                scalar(row, 1)
            } else {
                Some(Number::Long(0))
            };
            series.iter().map(|x| x.or(constant)).collect()
        })
    },
);

pub(crate) static FORWARD: ScalarFunction = function(
    &["series_fill_forward(series: dynamic, [missing: number]) -> dynamic"],
    "The series with every missing element replaced by the previous element.",
    ResultName::FirstArgument,
    &[example(
        "print s = series_fill_forward(dynamic([null, 5, null]))",
        "s:dynamic\n[null,5,5]",
    )],
    |args| fill(args, 1, |_, series| forward(series.into_iter())),
);

pub(crate) static BACKWARD: ScalarFunction = function(
    &["series_fill_backward(series: dynamic, [missing: number]) -> dynamic"],
    "The series with every missing element replaced by the next element.",
    ResultName::FirstArgument,
    &[example(
        "print s = series_fill_backward(dynamic([null, 5, null]))",
        "s:dynamic\n[5,5,null]",
    )],
    |args| {
        fill(args, 1, |_, series| {
            let mut filled = forward(series.into_iter().rev());
            filled.reverse();
            filled
        })
    },
);

pub(crate) static LINEAR: ScalarFunction = function(
    &[
        "series_fill_linear(series: dynamic, [missing: number], [fill_edges: bool], [constant: number]) -> dynamic",
    ],
    "Missing elements interpolated linearly; at the ends the nearest element, or the constant if all elements are missing.",
    ResultName::FirstArgument,
    &[
        example(
            "print s = series_fill_linear(dynamic([1.0, null, 2.0, null]))",
            "s:dynamic\n[1.0,1.5,2.0,2.0]",
        ),
        example(
            "print s = series_fill_linear(dynamic([null, 1, null, 2]), real(null), false)",
            "s:dynamic\n[null,1,1,2]",
        ),
    ],
    linear,
);

/// Removes the elements that equal the placeholder (argument `missing`) from the series and fills the gaps with `f`.
fn fill(
    args: &KernelArgs<'_>,
    missing: usize,
    f: impl Fn(Row<'_>, Vec<Option<Number>>) -> Vec<Option<Number>>,
) -> KernelResult {
    each(args, |row, encoder| {
        let placeholder = scalar(row, missing).map(Number::real);
        let is_missing = |x: f64| placeholder.is_some_and(|p| p == x || (p.is_nan() && x.is_nan()));
        let series = series(row, 0)?
            .into_iter()
            .map(|x| x.filter(|x| !is_missing(x.real())))
            .collect();
        write(f(row, series), encoder);
        Some(())
    })
}

fn forward(series: impl Iterator<Item = Option<Number>>) -> Vec<Option<Number>> {
    series
        .scan(None, |last, x| {
            *last = x.or(*last);
            Some(*last)
        })
        .collect()
}

fn linear(args: &KernelArgs<'_>) -> KernelResult {
    fill(args, 1, |row, series| {
        let edges = row.bool(2).unwrap_or(true);
        let known: Vec<(usize, Number)> = (0..)
            .zip(&series)
            .filter_map(|(at, x)| Some((at, (*x)?)))
            .collect();
        if known.is_empty() {
            let constant = scalar(row, 3).map_or(0.0, Number::real);
            return vec![Some(Number::Real(constant)); series.len()];
        }
        let whole = known.iter().all(|(_, x)| matches!(x, Number::Long(_)));
        (0..)
            .zip(&series)
            .map(|(at, x)| x.or_else(|| between(&known, at, edges, whole)))
            .collect()
    })
}

/// The value at `at` by linear interpolation between the known neighbors, truncated in a series of integers.
fn between(known: &[(usize, Number)], at: usize, edges: bool, whole: bool) -> Option<Number> {
    let next = known.partition_point(|(place, _)| *place < at);
    let right = known.get(next);
    let left = next.checked_sub(1).and_then(|i| known.get(i));
    let (Some((x0, y0)), Some((x1, y1))) = (left, right) else {
        return left.or(right).filter(|_| edges).map(|(_, y)| *y);
    };
    let (width, distance) = (*x1 - *x0, at - *x0);
    if let (Number::Long(y0), Number::Long(y1), true) = (y0, y1, whole) {
        let (width, distance) = (width as i128, distance as i128);
        let (y0, y1) = (i128::from(*y0), i128::from(*y1));
        let value = (y0 * (width - distance) + y1 * distance) / width;
        return i64::try_from(value).ok().map(Number::Long);
    }
    let slope = (y1.real() - y0.real()) / width as f64;
    Some(Number::Real(y0.real() + slope * distance as f64))
}
