//! `series_decompose_forecast` (`docs/semantics.md §26`).

use super::decompose::all_at;
use super::decomposition::Positions;
use super::numbers::write_reals;
use crate::dynamic::rows::each;
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &[
        "series_decompose_forecast(series: dynamic, test_points: integer, [period: integer], [trend: string], [seasonality_threshold: number]) -> dynamic",
    ],
    aliases: &[],
    summary: "Forecasts the last points of a series from its seasonal component and trend, which are learned without these points; the columns are those of series_decompose.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print s = series_decompose_forecast(dynamic([1, 2, 3, 0, 0]), 2, 0, 'linefit')",
        "s:dynamic\n[1.0,2.0,3.0,4.0,5.0]",
    )],
    eval: Eval::Rewrite(|call| {
        check(call)?;
        Ok(call_kernel(call, &KERNEL))
    }),
};

pub(super) static KERNEL: InnerKernel = InnerKernel::new("series_decompose_forecast", |args| {
    each(args, |row, encoder| {
        write_reals(&POSITIONS.decompose(row)?.baseline, encoder);
        Some(())
    })
});

const POSITIONS: Positions = Positions {
    test_points: 1,
    period: 2,
    trend: 3,
    threshold: 4,
};

/// Checks the constant arguments.
pub(crate) fn check(call: &CallArgs<'_>) -> Result<(), Diagnostic> {
    POSITIONS.check("series_decompose_forecast", call)
}

/// The values of all columns as an array.
pub(crate) fn all(args: &KernelArgs<'_>) -> KernelResult {
    all_at(args, POSITIONS)
}
