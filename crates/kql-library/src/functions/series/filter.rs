//! `series_fir` and `series_iir`: digital filters.

use super::numbers::{Number, reals, series, write};
use crate::dynamic::rows::each;
use crate::functions::prelude::*;
use crate::kernel::total;

pub(crate) static FIR: ScalarFunction = function(
    &["series_fir(series: dynamic, filter: dynamic, [normalize: bool], [center: bool]) -> dynamic"],
    "The finite impulse response filter: each element is a sum of preceding elements weighted by the filter.",
    ResultName::FirstArgument,
    &[
        example(
            "print s = series_fir(dynamic([5, 15, 10]), dynamic([1, -1]), false)",
            "s:dynamic\n[5,10,-5]",
        ),
        example(
            "print s = series_fir(dynamic([4, 8]), dynamic([1, 1]))",
            "s:dynamic\n[2.0,6.0]",
        ),
    ],
    fir,
);

pub(crate) static IIR: ScalarFunction = function(
    &["series_iir(series: dynamic, numerators: dynamic, denominators: dynamic) -> dynamic"],
    "The infinite impulse response filter: weighted sums of inputs (numerators) minus weighted sums of outputs \
    (denominators).",
    ResultName::FirstArgument,
    &[example(
        "print s = series_iir(dynamic([1, 2, 3]), dynamic([1]), dynamic([1, -1]))",
        "s:dynamic\n[1.0,3.0,6.0]",
    )],
    iir,
);

/// Elements before the first count as 0. Integers stay integers unless the filter is normalized.
fn fir(args: &KernelArgs<'_>) -> KernelResult {
    each(args, |row, encoder| {
        let (normalize, center) = (row.bool(2), row.bool(3).unwrap_or(false));
        let values = series(row, 0)?;
        let filter = series(row, 1)?
            .into_iter()
            .collect::<Option<Vec<Number>>>()?;
        let normalize = normalize.unwrap_or_else(|| filter.iter().all(|w| w.real() >= 0.0));
        let sum: f64 = filter.iter().map(|w| w.real()).sum();
        let shift = if center { filter.len() / 2 } else { 0 };
        let whole = whole(&values, &filter).filter(|_| !normalize);
        let results = (0..values.len()).map(|at| {
            // The cost is quadratic for a long filter over a long series, so the loop checks for cancellation.
            if !args.limits().should_continue() {
                return None;
            }
            if let Some((values, filter)) = &whole {
                let products = terms(values, filter, at + shift).map(|(x, w)| x * w);
                return i64::try_from(products.sum::<i128>()).ok().map(Number::Long);
            }
            let products =
                terms(&values, &filter, at + shift).map(|(x, w)| Some(x?.real() * w.real()));
            let total = total(products.collect::<Option<Vec<f64>>>()?);
            Some(Number::Real(if normalize { total / sum } else { total }))
        });
        write(results, encoder);
        Some(())
    })
}

/// The elements and the weights as integers, if all are.
fn whole(values: &[Option<Number>], filter: &[Number]) -> Option<(Vec<i128>, Vec<i128>)> {
    let long = |number: &Number| match number {
        Number::Long(value) => Some(i128::from(*value)),
        Number::Real(_) => None,
    };
    let values = values.iter().map(|x| long(x.as_ref()?));
    let filter = filter.iter().map(long);
    Some((
        values.collect::<Option<_>>()?,
        filter.collect::<Option<_>>()?,
    ))
}

/// The elements up to `newest` with their weights, the newest first.
fn terms<V: Copy, W: Copy>(
    values: &[V],
    filter: &[W],
    newest: usize,
) -> impl Iterator<Item = (V, W)> {
    filter
        .iter()
        .enumerate()
        .filter_map(move |(back, weight)| Some((*values.get(newest.checked_sub(back)?)?, *weight)))
}

fn iir(args: &KernelArgs<'_>) -> KernelResult {
    each(args, |row, encoder| {
        let (input, b, a) = (reals(row, 0)?, reals(row, 1)?, reals(row, 2)?);
        let (first, a) = a.split_first()?;
        let mut output: Vec<f64> = Vec::with_capacity(input.len());
        for at in 0..input.len() {
            if !args.limits().should_continue() {
                return None;
            }
            let sum = |weights: &[f64], values: &[f64], newest: Option<usize>| -> f64 {
                weights
                    .iter()
                    .enumerate()
                    .filter_map(|(back, w)| Some(w * values.get(newest?.checked_sub(back)?)?))
                    .sum()
            };
            let value = sum(&b, &input, Some(at)) - sum(a, &output, at.checked_sub(1));
            output.push(value / first);
        }
        write(output.into_iter().map(|y| Some(Number::Real(y))), encoder);
        Some(())
    })
}
