//! `percentile_tdigest`, `rank_tdigest` and related functions: read and merge the states of the aggregate `tdigest`
//! (`docs/semantics.md §16.7`).

use crate::dynamic::rows::{Row, each, with_rows};
use crate::functions::prelude::*;
use crate::states::tdigest::Tdigest;

pub(crate) static PERCENTILE: ScalarFunction = function(
    &["percentile_tdigest(tdigest: dynamic, percentage: int|long|real) -> dynamic"],
    "The percentile of a state of `tdigest`; with `typeof(T)` as the third argument, as a value of that type.",
    ResultName::Prefixed("percentile_tdigest"),
    &[example(
        "range x from 1 to 100 step 1 | summarize t = tdigest(x) | project p = percentile_tdigest(t, 95)",
        "p:dynamic\n95",
    )],
    |args| {
        let percent = args.reals(1)?;
        check(args, |row| percent.get(row).into_iter().collect())?;
        each(args, |row, encoder| {
            let percent = percent.get(row.number())?;
            let found = Tdigest::read(row.dynamic(0))?.percentiles(&[percent]);
            found.into_iter().flatten().next()?.pack(encoder);
            Some(())
        })
    },
);

pub(crate) static PERCENTILES_ARRAY: ScalarFunction = function(
    &["percentiles_array_tdigest(tdigest: dynamic, percentage: int|long|real|dynamic...) -> dynamic"],
    "The percentiles of a state of `tdigest` as an array; the percentages are numbers or an array of numbers.",
    ResultName::Prefixed("percentile_tdigest"),
    &[example(
        "range x from 1 to 100 step 1 | summarize t = tdigest(x) | project p = percentiles_array_tdigest(t, 50, 95)",
        "p:dynamic\n[50,95]",
    )],
    |args| {
        each(args, |row, encoder| {
            let percents = percents(row)?;
            let found = Tdigest::read(row.dynamic(0))?.percentiles(&percents);
            encoder.begin_array();
            for value in found {
                match value {
                    Some(value) => value.pack(encoder),
                    None => encoder.null(),
                }
            }
            encoder.end();
            Some(())
        })
    },
)
.with_aliases(&["percentile_array_tdigest"]);

pub(crate) static RANK: ScalarFunction = function(
    &["rank_tdigest(tdigest: dynamic, value: any) -> real"],
    "The number of values in a state of `tdigest` that are not greater than the value.",
    ResultName::None,
    &[example(
        "range x from 1 to 1000 step 1 | summarize t = tdigest(x) | project n = rank_tdigest(t, 685)",
        "n:real\n685.0",
    )],
    |args| rank(args, |_, rank| rank),
);

pub(crate) static PERCENT_RANK: ScalarFunction = function(
    &["percentrank_tdigest(tdigest: dynamic, value: any) -> real"],
    "The percentage of the values in a state of `tdigest` that are not greater than the value.",
    ResultName::None,
    &[example(
        "range x from 1 to 1000 step 1 | summarize t = tdigest(x) | project n = percentrank_tdigest(t, 500)",
        "n:real\n50.0",
    )],
    |args| rank(args, |count, rank| 100.0 * rank / count),
);

pub(crate) static MERGE: ScalarFunction = function(
    &["tdigest_merge(tdigest: dynamic, other: dynamic...) -> dynamic"],
    "The union of states of `tdigest`; null if their value types differ.",
    ResultName::Fixed("tdigests_merge_result"),
    &[example(
        "range x from 1 to 5 step 1 | summarize a = tdigest(x), b = tdigest(x + 5) | project p = percentile_tdigest(merge_tdigest(a, b), 100)",
        "p:dynamic\n10",
    )],
    |args| {
        each(args, |row, encoder| {
            let mut states = (0..row.len()).filter_map(|index| Tdigest::read(row.dynamic(index)));
            let mut union = states.next()?;
            states.all(|state| union.merge(&state)).then(|| union.write(encoder))
        })
    },
)
.with_aliases(&["merge_tdigest"]);

/// The percentages in the arguments from the second on: numbers, or arrays of numbers.
fn percents(row: Row<'_>) -> Option<Vec<f64>> {
    let mut all = Vec::new();
    for index in 1..row.len() {
        if let Some(array) = row.array(index) {
            for element in array {
                all.push(element.to_real()?);
            }
            continue;
        }
        match row.value(index)?.convert(ScalarType::Real) {
            Value::Real(percent) => all.push(percent),
            _ => return None,
        }
    }
    all.iter().all(|p| (0.0..=100.0).contains(p)).then_some(all)
}

/// Reports an error for percentages that are out of range.
fn check(args: &KernelArgs<'_>, percents: impl Fn(usize) -> Vec<f64>) -> Result<(), KernelError> {
    let wrong = (0..args.rows())
        .flat_map(percents)
        .find(|p| !(0.0..=100.0).contains(p));
    match wrong {
        Some(wrong) => Err(KernelError::Failed(format!(
            "the percentage must be from 0 to 100, not {wrong}"
        ))),
        None => Ok(()),
    }
}

fn rank(args: &KernelArgs<'_>, result: impl Fn(f64, f64) -> f64) -> KernelResult {
    with_rows(
        args,
        |read| args.collect_reals(read),
        |row| {
            let value = row.value(1).filter(|value| !value.is_null())?;
            let (count, rank) = Tdigest::read(row.dynamic(0))?.rank(&value)?;
            Some(result(count, rank))
        },
    )
}
