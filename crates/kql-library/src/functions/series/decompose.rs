//! `series_decompose` (`docs/semantics.md §26`).

use super::decomposition::Positions;
use super::numbers::write_reals;
use crate::dynamic::rows::each;
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &[
        "series_decompose(series: dynamic, [period: integer], [trend: string], [test_points: integer], [seasonality_threshold: number]) -> dynamic",
    ],
    aliases: &[],
    summary: "Decomposes a series into its baseline, seasonal component, trend and residual, in a column each.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print s = dynamic([1, 3, 2, 4, 3, 5]) | project (baseline, seasonal, trend, residual) = series_decompose(s, 2, 'none')",
        "baseline:dynamic, seasonal:dynamic, trend:dynamic, residual:dynamic\n[2.0,4.0,2.0,4.0,2.0,4.0] | [2.0,4.0,2.0,4.0,2.0,4.0] | [0.0,0.0,0.0,0.0,0.0,0.0] | [-1.0,-1.0,0.0,0.0,1.0,1.0]",
    )],
    eval: Eval::Rewrite(|call| {
        check(call)?;
        Ok(call_kernel(call, &KERNEL))
    }),
};

pub(super) static KERNEL: InnerKernel = InnerKernel::new("series_decompose", |args| {
    each(args, |row, encoder| {
        write_reals(&POSITIONS.decompose(row)?.baseline, encoder);
        Some(())
    })
});

const POSITIONS: Positions = Positions {
    period: 1,
    trend: 2,
    test_points: 3,
    threshold: 4,
};

/// The columns of `series_decompose` and `series_decompose_forecast`.
pub(crate) static COLUMNS: &[(&str, ScalarType)] = &[
    ("baseline", ScalarType::Dynamic),
    ("seasonal", ScalarType::Dynamic),
    ("trend", ScalarType::Dynamic),
    ("residual", ScalarType::Dynamic),
];

/// Checks the constant arguments.
pub(crate) fn check(call: &CallArgs<'_>) -> Result<(), Diagnostic> {
    POSITIONS.check("series_decompose", call)
}

/// The values of all columns as an array.
pub(crate) fn all(args: &KernelArgs<'_>) -> KernelResult {
    all_at(args, POSITIONS)
}

/// As [`all`], for arguments at other positions.
pub(crate) fn all_at(args: &KernelArgs<'_>, positions: Positions) -> KernelResult {
    each(args, |row, encoder| {
        let parts = positions.decompose(row)?;
        encoder.begin_array();
        write_reals(&parts.baseline, encoder);
        write_reals(&parts.seasonal, encoder);
        write_reals(&parts.trend, encoder);
        write_reals(&parts.residual, encoder);
        encoder.end();
        Some(())
    })
}
