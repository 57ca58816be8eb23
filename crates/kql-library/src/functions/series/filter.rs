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
        let whole = !normalize
            && filter.iter().all(|w| matches!(w, Number::Long(_)))
            && values.iter().all(|x| matches!(x, Some(Number::Long(_))));
        let results = (0..values.len()).map(|at| {
            // The cost is quadratic for a long filter over a long series, so the loop checks for cancellation.
            if !args.limits().should_continue() {
                return None;
            }
            let terms = filter.iter().enumerate().filter_map(|(back, weight)| {
                let at = (at + shift).checked_sub(back)?;
                Some((values.get(at)?.map(Number::real), weight.real()))
            });
            let products = terms.map(|(x, w)| x.map(|x| x * w));
            let total = total(products.collect::<Option<Vec<f64>>>()?);
            Some(match (normalize, whole) {
                (true, _) => Number::Real(total / sum),
                (false, true) => Number::Long(total as i64),
                (false, false) => Number::Real(total),
            })
        });
        write(results, encoder);
        Some(())
    })
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
