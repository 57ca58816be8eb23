//! Cumulative series: what each counted up to, so that the next point becomes the difference since the last one.
//!
//! | point | row |
//! |---|---|
//! | the first of its series, which began after everything that was forgotten | its value |
//! | the first of its series otherwise | none; the value is remembered |
//! | later than the last one | the difference; none if it is zero |
//! | of a series that began anew, or counts less than before | its value |
//! | not later than the last one | none: a repetition, or out of order |
//!
//! Changes are staged and take effect once the rows are stored, so that a request that is sent again gives the same rows.

use std::collections::HashMap;

use crate::error::Rejection;

/// The identity of a series: a digest of its resource, scope, metric and attributes.
pub(crate) type Key = [u8; 16];

/// A sum, exact as long as it is an integer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Int(i64),
    Double(f64),
}

impl Number {
    pub(crate) fn as_f64(self) -> f64 {
        match self {
            Number::Int(value) => value as f64,
            Number::Double(value) => value,
        }
    }

    fn minus(self, other: Number) -> Number {
        if let (Number::Int(a), Number::Int(b)) = (self, other)
            && let Some(difference) = a.checked_sub(b)
        {
            return Number::Int(difference);
        }
        Number::Double(self.as_f64() - other.as_f64())
    }
}

/// What a series has counted up to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Total {
    /// When it began to count, nanoseconds since 1970; 0 if it is not given.
    pub(crate) start: u64,
    /// When it had counted this, nanoseconds since 1970.
    pub(crate) time: u64,
    pub(crate) sum: Number,
    /// How many measurements; `None` for sums, which count as one.
    pub(crate) count: Option<u64>,
}

impl Total {
    /// Whether this total cannot follow `last` without a reset in between.
    fn is_less_than(&self, last: &Total) -> bool {
        match (self.count, last.count) {
            (Some(count), Some(before)) => count < before,
            _ => self.sum.as_f64() < last.sum.as_f64(),
        }
    }
}

/// The row of a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Difference {
    pub(crate) sum: f64,
    pub(crate) count: u64,
    /// Whether the point covers the whole life of its series, so that its minimum and maximum hold for the row.
    pub(crate) is_whole: bool,
}

#[derive(Debug, Clone, Copy)]
struct Remembered {
    total: Total,
    /// When it was last sent, ticks of this machine.
    seen: i64,
}

/// The limits of an application's series.
#[derive(Debug, Clone, Copy)]
pub struct SeriesLimits {
    /// The most series.
    pub most: usize,
    /// The idle time, in ticks, after which a series is forgotten.
    pub idle: i64,
}

/// The cumulative series of an application.
#[derive(Debug)]
pub struct Series {
    known: HashMap<Key, Remembered>,
    /// Nanoseconds since 1970: a series that began before may have been known and forgotten.
    forgotten_before: u64,
    /// When idle series were last looked for, ticks.
    swept: i64,
}

/// How often idle series are looked for, ticks.
const SWEEP: i64 = 60 * 10_000_000;

impl Series {
    /// No series. Those that began before `forgotten_before`, nanoseconds since 1970, may have been known to an earlier process.
    pub fn new(forgotten_before: u64) -> Series {
        Series {
            known: HashMap::new(),
            forgotten_before,
            swept: i64::MIN,
        }
    }

    /// Whether no series is known.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Forgets series that were not sent for long.
    pub fn sweep(&mut self, now: i64, limits: SeriesLimits) {
        if now < self.swept.saturating_add(SWEEP) {
            return;
        }
        self.swept = now;
        let oldest = now.saturating_sub(limits.idle);
        let mut forgotten = self.forgotten_before;
        self.known.retain(|_, series| {
            let keep = series.seen >= oldest;
            if !keep {
                forgotten = forgotten.max(series.total.time);
            }
            keep
        });
        self.forgotten_before = forgotten;
    }

    /// Changes to these series that take no effect yet.
    pub fn stage(&self, now: i64, limits: SeriesLimits) -> Staged<'_> {
        Staged {
            series: self,
            changes: HashMap::new(),
            added: 0,
            now,
            limits,
        }
    }

    /// Lets staged changes take effect: their rows are stored.
    pub fn commit(&mut self, changes: Changes) {
        self.known.extend(changes.0);
    }
}

/// Staged changes without the series that they change.
#[derive(Debug, Default)]
pub struct Changes(HashMap<Key, Remembered>);

impl Changes {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Changes to the series of an application.
pub struct Staged<'s> {
    series: &'s Series,
    changes: HashMap<Key, Remembered>,
    added: usize,
    now: i64,
    limits: SeriesLimits,
}

impl Staged<'_> {
    /// The changes, to be committed.
    pub fn into_changes(self) -> Changes {
        Changes(self.changes)
    }

    /// The difference that a point makes; `None` if it has no row.
    pub(crate) fn difference(
        &mut self,
        key: Key,
        total: Total,
    ) -> Result<Option<Difference>, Rejection> {
        let last = self
            .changes
            .get(&key)
            .or_else(|| self.series.known.get(&key));
        let last = last.map(|series| series.total);
        let whole = Difference {
            sum: total.sum.as_f64(),
            count: total.count.unwrap_or(1),
            is_whole: true,
        };
        let found = match last {
            None => {
                if self.series.known.len() + self.added >= self.limits.most {
                    return Err(Rejection::TooManySeries {
                        limit: self.limits.most,
                    });
                }
                self.added += 1;
                let is_new = total.start > 0
                    && total.start < total.time
                    && total.start >= self.series.forgotten_before;
                is_new.then_some(whole)
            }
            Some(last) if total.time <= last.time => return Ok(None),
            Some(last) if total.start > last.time => Some(whole),
            Some(last) if total.is_less_than(&last) => Some(Difference {
                is_whole: false,
                ..whole
            }),
            Some(last) => Some(Difference {
                sum: total.sum.minus(last.sum).as_f64(),
                count: match (total.count, last.count) {
                    (Some(count), Some(before)) => count.saturating_sub(before),
                    _ => 1,
                },
                is_whole: false,
            }),
        };
        let seen = self.now;
        self.changes.insert(key, Remembered { total, seen });
        let is_sum = total.count.is_none();
        Ok(found.filter(|found| found.count > 0 && (found.sum != 0.0 || !is_sum)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: SeriesLimits = SeriesLimits {
        most: 2,
        idle: 1000,
    };

    fn sum(start: u64, time: u64, value: i64) -> Total {
        Total {
            start,
            time,
            sum: Number::Int(value),
            count: None,
        }
    }

    /// The differences that points of one series make, each of a request of its own.
    fn differences(series: &mut Series, points: &[Total]) -> Vec<Option<f64>> {
        let each = points.iter().map(|point| {
            let mut staged = series.stage(0, LIMITS);
            let found = staged.difference([1; 16], *point).unwrap();
            let changes = staged.into_changes();
            series.commit(changes);
            found.map(|found| found.sum)
        });
        each.collect()
    }

    #[test]
    fn totals_become_differences() {
        let points = [
            sum(10, 20, 5),
            sum(10, 30, 12),
            sum(10, 40, 12),
            sum(10, 40, 13),
            sum(10, 35, 13),
        ];
        let found = differences(&mut Series::new(0), &points);
        assert_eq!(found, [Some(5.0), Some(7.0), None, None, None]);
    }

    #[test]
    fn a_series_that_began_anew_or_counts_less_gives_its_value() {
        let points = [
            sum(10, 20, 5),
            sum(25, 30, 9),
            sum(25, 40, 4),
            sum(25, 50, 6),
        ];
        let found = differences(&mut Series::new(0), &points);
        assert_eq!(found, [Some(5.0), Some(9.0), Some(4.0), Some(2.0)]);
    }

    #[test]
    fn a_first_point_counts_only_if_it_cannot_have_been_counted_before() {
        let first =
            |forgotten, start| differences(&mut Series::new(forgotten), &[sum(start, 20, 5)])[0];
        assert_eq!(first(0, 10), Some(5.0));
        assert_eq!(first(10, 10), Some(5.0));
        assert_eq!(first(11, 10), None);
        assert_eq!(first(0, 0), None, "the start is not given");
        assert_eq!(first(0, 20), None, "the start says nothing");
        // What was remembered then gives differences.
        let found = differences(&mut Series::new(99), &[sum(10, 20, 5), sum(10, 30, 6)]);
        assert_eq!(found, [None, Some(1.0)]);
    }

    #[test]
    fn what_is_not_stored_is_not_remembered() {
        let mut series = Series::new(0);
        for _ in 0..2 {
            let mut staged = series.stage(0, LIMITS);
            let found = staged.difference([1; 16], sum(10, 20, 5)).unwrap();
            assert_eq!(found.map(|found| found.sum), Some(5.0));
            let again = staged.difference([1; 16], sum(10, 30, 8)).unwrap();
            assert_eq!(
                again.map(|found| found.sum),
                Some(3.0),
                "within one request"
            );
        }
        assert!(series.is_empty());
        assert_eq!(differences(&mut series, &[sum(10, 20, 5)]), [Some(5.0)]);
    }

    #[test]
    fn series_are_limited_and_idle_ones_are_forgotten() {
        let mut series = Series::new(0);
        let mut staged = series.stage(0, LIMITS);
        for key in [1, 2] {
            assert!(staged.difference([key; 16], sum(10, 20, 5)).is_ok());
        }
        let refused = staged.difference([3; 16], sum(10, 20, 5));
        assert_eq!(refused, Err(Rejection::TooManySeries { limit: 2 }));
        let changes = staged.into_changes();
        series.commit(changes);
        series.sweep(SWEEP, LIMITS);
        assert!(series.is_empty());
        // It may come back: its value was counted.
        assert_eq!(differences(&mut series, &[sum(10, 30, 9)]), [None]);
        let mut others = Series::new(0);
        others.forgotten_before = 20;
        assert_eq!(differences(&mut others, &[sum(25, 30, 9)]), [Some(9.0)]);
    }

    #[test]
    fn histograms_differ_in_sum_and_count() {
        let point = |time, sum, count| Total {
            start: 10,
            time,
            sum: Number::Double(sum),
            count: Some(count),
        };
        let series = Series::new(0);
        let mut staged = series.stage(0, LIMITS);
        let mut next = |point| staged.difference([1; 16], point).unwrap();
        let first = next(point(20, 300.0, 3)).unwrap();
        assert_eq!((first.sum, first.count, first.is_whole), (300.0, 3, true));
        let second = next(point(30, 380.0, 5)).unwrap();
        assert_eq!(
            (second.sum, second.count, second.is_whole),
            (80.0, 2, false)
        );
        assert_eq!(next(point(40, 380.0, 5)), None);
        let reset = next(point(50, 7.0, 1)).unwrap();
        assert_eq!((reset.sum, reset.count), (7.0, 1));
    }

    #[test]
    fn large_integers_are_exact() {
        let large = 9_007_199_254_740_993;
        let found = differences(
            &mut Series::new(0),
            &[sum(10, 20, large), sum(10, 30, large + 1)],
        );
        assert_eq!(found[1], Some(1.0));
    }
}
