//! `series_decompose_anomalies` (`docs/semantics.md §26`).

use hindsight_kql_syntax::Code;

use super::decomposition::Positions;
use super::numbers::{Number, scalar, write, write_reals};
use super::outliers::{Method, scores};
use crate::dynamic::rows::{Row, each};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &[
        "series_decompose_anomalies(series: dynamic, [threshold: number], [period: integer], [trend: string], [test_points: integer], [method: string], [seasonality_threshold: number]) -> dynamic",
    ],
    aliases: &[],
    summary: "The anomalies of a series: 1 for a rise, -1 for a drop, else 0; their scores; and the baseline of series_decompose, in a column each.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print a = series_decompose_anomalies(dynamic([1, 2, 1, 2, 1, 30, 1, 2, 1, 2, 1]), 1.5, 0)",
        "a:dynamic\n[0,0,0,0,0,1,0,0,0,0,0]",
    )],
    eval: Eval::Rewrite(|call| {
        check(call)?;
        Ok(call_kernel(call, &KERNEL))
    }),
};

pub(super) static KERNEL: InnerKernel = InnerKernel::new("series_decompose_anomalies", |args| {
    each(args, |row, encoder| {
        Anomalies::of(row)?.write_flags(encoder);
        Some(())
    })
});

const POSITIONS: Positions = Positions {
    period: 2,
    trend: 3,
    test_points: 4,
    threshold: 6,
};

/// The position of the method.
const METHOD: usize = 5;

/// The columns of `series_decompose_anomalies`.
pub(crate) static COLUMNS: &[(&str, ScalarType)] = &[
    ("ad_flag", ScalarType::Dynamic),
    ("ad_score", ScalarType::Dynamic),
    ("baseline", ScalarType::Dynamic),
];

/// Checks the constant arguments.
pub(crate) fn check(call: &CallArgs<'_>) -> Result<(), Diagnostic> {
    POSITIONS.check("series_decompose_anomalies", call)?;
    match constant_text(call, METHOD) {
        Some(method) if Method::named(&method).is_none() => Err(refuse(
            call,
            Code::Semantics,
            format!(
                "series_decompose_anomalies(): the method is 'ctukey' or 'tukey' and not '{method}'"
            ),
        )),
        _ => Ok(()),
    }
}

/// The values of all columns as an array.
pub(crate) fn all(args: &KernelArgs<'_>) -> KernelResult {
    each(args, |row, encoder| {
        let anomalies = Anomalies::of(row)?;
        encoder.begin_array();
        anomalies.write_flags(encoder);
        write_reals(&anomalies.scores, encoder);
        write_reals(&anomalies.baseline, encoder);
        encoder.end();
        Some(())
    })
}

struct Anomalies {
    threshold: f64,
    scores: Vec<f64>,
    baseline: Vec<f64>,
}

impl Anomalies {
    fn of(row: Row<'_>) -> Option<Anomalies> {
        let threshold = match row.value(1) {
            None => 1.5,
            Some(_) => scalar(row, 1)?.real(),
        };
        let method = match row.value(METHOD) {
            None => Method::CustomTukey,
            Some(Value::String(name)) => Method::named(&name)?,
            Some(_) => return None,
        };
        let test_points = row.long(POSITIONS.test_points).unwrap_or(0);
        let parts = POSITIONS.decompose(row)?;
        let residual: Vec<Option<f64>> = parts.residual.into_iter().map(Some).collect();
        let learned = residual
            .len()
            .checked_sub(usize::try_from(test_points).unwrap_or(0))?;
        Some(Anomalies {
            threshold,
            scores: scores(&residual, learned, method)?,
            baseline: parts.baseline,
        })
    }

    fn write_flags(&self, encoder: &mut hindsight_kql_types::Encoder) {
        let flag = |score: &f64| {
            if *score > self.threshold {
                1
            } else if *score < -self.threshold {
                -1
            } else {
                0
            }
        };
        write(
            self.scores.iter().map(|s| Some(Number::Long(flag(s)))),
            encoder,
        );
    }
}
