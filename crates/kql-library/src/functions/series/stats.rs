//! `series_stats` and `series_stats_dynamic`.

use hindsight_kql_types::Encoder;

use super::numbers::{Number, series};
use crate::dynamic::rows::{Row, each, with_rows};
use crate::functions::prelude::*;

pub(crate) static STATS: ScalarFunction = function(
    &["series_stats(series: dynamic, [ignore_nonfinite: bool]) -> real"],
    "Minimum, maximum, their indexes, mean, standard deviation and variance of a series, in a column each.",
    ResultName::None,
    &[
        example(
            "print x = dynamic([2, 6, 4]) | project series_stats(x)",
            "series_stats_x_min:real, series_stats_x_min_idx:long, series_stats_x_max:real, \
             series_stats_x_max_idx:long, series_stats_x_avg:real, series_stats_x_stdev:real, \
             series_stats_x_variance:real\n2.0 | 0 | 6.0 | 1 | 4.0 | 2.0 | 4.0",
        ),
        example(
            "print low = series_stats(dynamic([2, 6, 4]))",
            "low:real\n2.0",
        ),
    ],
    |args| {
        with_rows(
            args,
            |value| args.collect_reals(value),
            |row| Some(Stats::of(row)?.min),
        )
    },
);

pub(crate) static STATS_DYNAMIC: ScalarFunction = function(
    &["series_stats_dynamic(series: dynamic, [ignore_nonfinite: bool]) -> dynamic"],
    "The statistics of a series as a bag.",
    ResultName::None,
    &[example(
        "print s = series_stats_dynamic(dynamic([2, 6, 4]))",
        "s:dynamic\n{\"min\":2.0,\"min_idx\":0,\"max\":6.0,\"max_idx\":1,\"avg\":4.0,\"stdev\":2.0,\"variance\":4.0,\"sum\":12.0,\"len\":3}",
    )],
    |args| {
        each(args, |row, encoder| {
            let stats = Stats::of(row)?;
            encoder.begin_bag();
            for (name, value) in stats.fields() {
                encoder.key(name);
                value.write(encoder);
            }
            encoder.key("sum");
            encoder.real(stats.sum);
            encoder.key("len");
            encoder.long(stats.len);
            encoder.end();
            Some(())
        })
    },
);

/// The columns of `series_stats`.
pub(crate) static COLUMNS: &[(&str, ScalarType)] = &[
    ("min", ScalarType::Real),
    ("min_idx", ScalarType::Long),
    ("max", ScalarType::Real),
    ("max_idx", ScalarType::Long),
    ("avg", ScalarType::Real),
    ("stdev", ScalarType::Real),
    ("variance", ScalarType::Real),
];

/// The values of all columns as an array.
pub(crate) fn all(args: &KernelArgs<'_>) -> KernelResult {
    each(args, |row, encoder: &mut Encoder| {
        let stats = Stats::of(row)?;
        encoder.begin_array();
        for (_, value) in stats.fields() {
            value.write(encoder);
        }
        encoder.end();
        Some(())
    })
}

struct Stats {
    min: f64,
    min_idx: i64,
    max: f64,
    max_idx: i64,
    sum: f64,
    len: i64,
    variance: f64,
}

impl Stats {
    /// The statistics of a series. The second argument ignores NaN, infinities and nulls. `None` if an element is not a number
    /// or no element remains.
    fn of(row: Row<'_>) -> Option<Stats> {
        let finite = row.bool(1).unwrap_or(false);
        let all: Vec<Option<f64>> = series(row, 0)?
            .into_iter()
            .map(|x| x.map(Number::real))
            .collect();
        let mut values: Vec<(i64, f64)> = Vec::with_capacity(all.len());
        for (at, x) in (0..).zip(all) {
            match x.filter(|x| !finite || x.is_finite()) {
                Some(x) => values.push((at, x)),
                None if finite => {}
                None => return None,
            }
        }
        let len = i64::try_from(values.len()).ok()?;
        let sum: f64 = values.iter().map(|(_, x)| x).sum();
        let mean = sum / len as f64;
        let squares: f64 = values.iter().map(|(_, x)| (x - mean) * (x - mean)).sum();
        // Of equal elements, the first.
        let least = |a: (i64, f64), b: (i64, f64)| if b.1 < a.1 { b } else { a };
        let most = |a: (i64, f64), b: (i64, f64)| if b.1 > a.1 { b } else { a };
        let (min_idx, min) = values.iter().copied().reduce(least)?;
        let (max_idx, max) = values.iter().copied().reduce(most)?;
        let variance = match len {
            1 => 0.0,
            len => squares / (len - 1) as f64,
        };
        Some(Stats {
            min,
            min_idx,
            max,
            max_idx,
            sum,
            len,
            variance,
        })
    }

    fn fields(&self) -> [(&'static str, Number); 7] {
        [
            ("min", Number::Real(self.min)),
            ("min_idx", Number::Long(self.min_idx)),
            ("max", Number::Real(self.max)),
            ("max_idx", Number::Long(self.max_idx)),
            ("avg", Number::Real(self.sum / self.len as f64)),
            ("stdev", Number::Real(self.variance.sqrt())),
            ("variance", Number::Real(self.variance)),
        ]
    }
}
