//! `series_outliers` (`docs/semantics.md §26`).

use hindsight_kql_syntax::Code;

use super::numbers::{Number, scalar, series, write_reals};
use crate::dynamic::rows::{Row, each};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = ScalarFunction {
    signatures: &[
        "series_outliers(series: dynamic, [kind: const string], [ignore_val: number], [min_percentile: const number], [max_percentile: const number], [test_points: integer]) -> dynamic",
    ],
    aliases: &[],
    summary: "Scores the outliers of a series by Tukey's fences: above 1.5 is a rise, below -1.5 a drop. Nulls and ignored values have the score 0.",
    result_name: ResultName::FirstArgument,
    volatile: false,
    examples: &[example(
        "print s = series_outliers(dynamic([1, 2, 3, 4, 11]), 'tukey')",
        "s:dynamic\n[-0.5,0.0,0.0,0.0,3.5]",
    )],
    eval: Eval::Rewrite(bind),
};

/// The test for outliers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// The fences are the quartiles, and their unit is the distance between them.
    Tukey,
    /// The fences are the 10th and the 90th percentile.
    CustomTukey,
}

impl Method {
    /// The method of a name; `None` for an unknown name.
    pub(crate) fn named(name: &str) -> Option<Method> {
        match name {
            "tukey" => Some(Method::Tukey),
            "ctukey" => Some(Method::CustomTukey),
            _ => None,
        }
    }

    /// The percentiles of the fences.
    fn percentiles(self) -> (f64, f64) {
        match self {
            Method::Tukey => (25.0, 75.0),
            Method::CustomTukey => (10.0, 90.0),
        }
    }

    /// The unit of the scores, as a part of the distance between the fences.
    fn unit(self) -> f64 {
        match self {
            Method::Tukey => 1.0,
            // The documentation does not tell the unit. This is the ratio of the recorded scores.
            Method::CustomTukey => 0.360_671_563_966_202_54,
        }
    }
}

pub(super) static KERNEL: InnerKernel = InnerKernel::new("series_outliers", |args| {
    each(args, |row, encoder| {
        let method = match row.value(1) {
            None => Method::CustomTukey,
            Some(Value::String(name)) => Method::named(&name)?,
            Some(_) => return None,
        };
        let values = known(row)?;
        let test_points = match row.value(5) {
            None => 0,
            Some(_) => usize::try_from(row.long(5)?).unwrap_or(0),
        };
        let learned = values.len().checked_sub(test_points)?;
        write_reals(&scores(&values, learned, method)?, encoder);
        Some(())
    })
});

fn bind(call: &CallArgs<'_>) -> Result<Expr, Diagnostic> {
    let kind = constant_text(call, 1).unwrap_or_else(|| "ctukey".to_owned());
    let Some(method) = Method::named(&kind) else {
        let message =
            format!("series_outliers(): the kind is 'ctukey' or 'tukey' and not '{kind}'");
        return Err(refuse(call, Code::Semantics, message));
    };
    for (index, default) in [(3, 10.0), (4, 90.0)] {
        let Some(percentile) = constant_number(call, index) else {
            continue;
        };
        if !(2.0..=98.0).contains(&percentile) {
            let message = "series_outliers(): a percentile is between 2 and 98";
            return Err(refuse(call, Code::Semantics, message));
        }
        if method == Method::CustomTukey && percentile != default {
            let message = "series_outliers(): percentiles other than 10 and 90 are not supported: no source states the scale of their scores";
            return Err(refuse(call, Code::Semantics, message));
        }
    }
    Ok(call_kernel(call, &KERNEL))
}

fn constant_number(call: &CallArgs<'_>, index: usize) -> Option<f64> {
    match call
        .args
        .get(index)?
        .constant
        .as_ref()?
        .clone()
        .convert(ScalarType::Real)
    {
        Value::Real(number) => Some(number),
        _ => None,
    }
}

/// The elements, without those to ignore; `None` if one is neither a number nor null.
fn known(row: Row<'_>) -> Option<Vec<Option<f64>>> {
    let ignored = scalar(row, 2).map(Number::real);
    let elements = row.array(0)?;
    let values = series(row, 0)?;
    let numeric = elements
        .iter()
        .zip(&values)
        .all(|(e, v)| v.is_some() || e.is_null());
    let kept = |x: &f64| ignored.is_none_or(|i| *x != i) && !x.is_nan();
    let values = values.into_iter().map(|x| x.map(Number::real).filter(kept));
    numeric.then(|| values.collect())
}

/// The scores of values, with fences learned from the first `learned` ones; `None` if these have no number.
pub(crate) fn scores(values: &[Option<f64>], learned: usize, method: Method) -> Option<Vec<f64>> {
    let mut sorted: Vec<f64> = values.get(..learned)?.iter().copied().flatten().collect();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = method.percentiles();
    let (low, high) = (percentile(&sorted, low)?, percentile(&sorted, high)?);
    let unit = (high - low) * method.unit();
    let score = |value: &Option<f64>| match value {
        Some(value) if *value > high => (value - high) / unit,
        Some(value) if *value < low => (value - low) / unit,
        _ => 0.0,
    };
    Some(values.iter().map(score).collect())
}

/// The percentile of sorted values, interpolated linearly.
fn percentile(sorted: &[f64], percentile: f64) -> Option<f64> {
    let place = percentile / 100.0 * sorted.len().checked_sub(1)? as f64;
    let (low, part) = (place.floor() as usize, place.fract());
    let first = *sorted.get(low)?;
    let next = sorted.get(low + 1).copied().unwrap_or(first);
    Some(first + (next - first) * part)
}
