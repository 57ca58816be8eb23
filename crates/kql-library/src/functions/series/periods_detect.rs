//! `series_periods_detect` (`docs/semantics.md §26`).

use super::numbers::{Number, reals, scalar, write};
use super::periods::{Period, detect};
use crate::dynamic::rows::{Row, each};
use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &[
        "series_periods_detect(series: dynamic, min_period: number, max_period: number, num_periods: long) -> dynamic",
    ],
    "The strongest periods of a series within a range of lengths, and their scores from 0 to 1, in a column each; 0 stands for periods that are not found.",
    ResultName::None,
    &[example(
        "print p = series_periods_detect(dynamic([2, 5, 3, 4, 3, 2, 1, 2, 3, 4, 3, 2, 1, 2, 3, 4, 3, 2, 1, 2, 3, 4, 3, 2, 1]), 4, 10, 1)",
        "p:dynamic\n[6.0]",
    )],
    |args| {
        each(args, |row, encoder| {
            let periods = strongest(row)?;
            write(periods.iter().map(|p| Some(length(p))), encoder);
            Some(())
        })
    },
);

/// The columns of `series_periods_detect` and `series_periods_validate`.
pub(crate) static COLUMNS: &[(&str, ScalarType)] = &[
    ("periods", ScalarType::Dynamic),
    ("scores", ScalarType::Dynamic),
];

/// The values of all columns as an array.
pub(crate) fn all(args: &KernelArgs<'_>) -> KernelResult {
    each(args, |row, encoder| {
        let periods = strongest(row)?;
        encoder.begin_array();
        write(periods.iter().map(|p| Some(length(p))), encoder);
        write(
            periods
                .iter()
                .map(|p| Some(Number::Real(p.map_or(0.0, |p| p.score)))),
            encoder,
        );
        encoder.end();
        Some(())
    })
}

fn length(period: &Option<Period>) -> Number {
    Number::Real(period.map_or(0.0, |p| p.length as f64))
}

/// The longest list of periods that a call may ask for.
const MAX_PERIODS: usize = 10_000;

/// As many periods as the call asks for; `None` stands for those that are not found.
fn strongest(row: Row<'_>) -> Option<Vec<Option<Period>>> {
    let series = reals(row, 0)?;
    let (least, most) = (scalar(row, 1)?.real(), scalar(row, 2)?.real());
    let count = usize::try_from(row.long(3)?)
        .ok()
        .filter(|count| *count <= MAX_PERIODS)?;
    let within = |period: &Period| (least..=most).contains(&(period.length as f64));
    let mut periods: Vec<Option<Period>> = detect(&series)
        .into_iter()
        .filter(within)
        .map(Some)
        .collect();
    periods.resize(count, None);
    Some(periods)
}
