//! `series_periods_validate` (`docs/semantics.md §26`).

use hindsight_kql_syntax::Code;

use super::numbers::{Number, reals, scalar, write};
use super::periods::detect;
use crate::dynamic::rows::{Row, each};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &["series_periods_validate(series: dynamic, period: number...) -> dynamic"],
    aliases: &[],
    summary: "The given periods and their scores from 0 to 1, in a column each; a length that is no period of the series has the score 0.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print s = dynamic([2, 5, 3, 4, 3, 2, 1, 2, 3, 4, 3, 2, 1, 2, 3, 4, 3, 2, 1, 2, 3, 4, 3, 2, 1]) | project (periods, scores) = series_periods_validate(s, 5, 6) | project periods, none = scores[0], six = round(todouble(scores[1]), 4)",
        "periods:dynamic, none:dynamic, six:real\n[5.0,6.0] | 0.0 | 0.8163",
    )],
    eval: Eval::Rewrite(|call| {
        check(call)?;
        Ok(call_kernel(call, &KERNEL))
    }),
};

pub(super) static KERNEL: InnerKernel = InnerKernel::new("series_periods_validate", |args| {
    each(args, |row, encoder| {
        reals(row, 0)?;
        write(
            periods(row)?.into_iter().map(|p| Some(Number::Real(p))),
            encoder,
        );
        Some(())
    })
});

/// The most periods of one call.
const MAX_PERIODS: usize = 16;

/// Checks the number of periods.
pub(crate) fn check(call: &CallArgs<'_>) -> Result<(), Diagnostic> {
    if call.args.len() > MAX_PERIODS + 1 {
        return Err(refuse(
            call,
            Code::ArgumentRange,
            format!(
                "series_periods_validate(): the function expects at most {MAX_PERIODS} periods"
            ),
        ));
    }
    Ok(())
}

/// The values of all columns as an array.
pub(crate) fn all(args: &KernelArgs<'_>) -> KernelResult {
    each(args, |row, encoder| {
        let detected = detect(&reals(row, 0)?);
        let periods = periods(row)?;
        let score = |length: f64| {
            let found = detected.iter().find(|p| p.length as f64 == length.round());
            found.map_or(0.0, |p| p.score)
        };
        encoder.begin_array();
        write(periods.iter().map(|p| Some(Number::Real(*p))), encoder);
        write(
            periods.iter().map(|p| Some(Number::Real(score(*p)))),
            encoder,
        );
        encoder.end();
        Some(())
    })
}

fn periods(row: Row<'_>) -> Option<Vec<f64>> {
    (1..row.len())
        .map(|index| Some(scalar(row, index)?.real()))
        .collect()
}
