//! Interval buckets: aligned to UTC multiples, clipped to the time span, never more than [`MOST_BINS`] (`D11`).

use hindsight_kql_types::ticks::{
    TICKS_PER_DAY, TICKS_PER_HOUR, TICKS_PER_MINUTE, TICKS_PER_SECOND,
};

use crate::request::TimeRange;

/// The most buckets in a reply.
const MOST_BINS: i64 = 10_000;

/// The steps that a too fine interval is widened to.
const STEPS: [i64; 15] = [
    TICKS_PER_SECOND,
    5 * TICKS_PER_SECOND,
    15 * TICKS_PER_SECOND,
    30 * TICKS_PER_SECOND,
    TICKS_PER_MINUTE,
    5 * TICKS_PER_MINUTE,
    15 * TICKS_PER_MINUTE,
    30 * TICKS_PER_MINUTE,
    TICKS_PER_HOUR,
    3 * TICKS_PER_HOUR,
    6 * TICKS_PER_HOUR,
    12 * TICKS_PER_HOUR,
    TICKS_PER_DAY,
    7 * TICKS_PER_DAY,
    30 * TICKS_PER_DAY,
];

/// The interval that is used for the one that was asked for.
pub(super) fn adjust(interval: i64, range: TimeRange) -> i64 {
    if bins(interval, range) <= MOST_BINS {
        return interval;
    }
    let fits = |step: &&i64| **step >= interval && bins(**step, range) <= MOST_BINS;
    STEPS
        .iter()
        .find(fits)
        .copied()
        .unwrap_or(30 * TICKS_PER_DAY)
}

/// How many buckets there are: a range that is not aligned touches one more than its length says.
fn bins(interval: i64, range: TimeRange) -> i64 {
    let aligned = range.start - range.start.rem_euclid(interval);
    let span = range.end - aligned;
    span / interval + i64::from(span % interval != 0)
}

/// The buckets of `range`, oldest first: `(aligned start, clipped range)`.
pub(super) fn buckets(interval: i64, range: TimeRange) -> Vec<(i64, TimeRange)> {
    let first = range.start - range.start.rem_euclid(interval);
    let mut buckets = Vec::new();
    let mut start = first;
    while start < range.end {
        let end = start + interval;
        buckets.push((
            start,
            TimeRange {
                start: start.max(range.start),
                end: end.min(range.end),
            },
        ));
        start = end;
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_are_utc_multiples_and_the_ends_are_clipped() {
        let minute = |m: i64| 700_000 * TICKS_PER_DAY + m * TICKS_PER_MINUTE;
        let range = TimeRange {
            start: minute(31),
            end: minute(150),
        };
        let found: Vec<(i64, i64)> = buckets(TICKS_PER_HOUR, range)
            .iter()
            .map(|(_, r)| (r.start, r.end))
            .collect();
        assert_eq!(
            found,
            [
                (minute(31), minute(60)),
                (minute(60), minute(120)),
                (minute(120), minute(150))
            ]
        );
    }

    #[test]
    fn a_too_fine_interval_widens_to_the_next_step_that_fits() {
        let days = |n: i64| TimeRange {
            start: 0,
            end: n * TICKS_PER_DAY,
        };
        assert_eq!(adjust(TICKS_PER_SECOND, days(1)), 15 * TICKS_PER_SECOND);
        assert_eq!(adjust(TICKS_PER_HOUR, days(1)), TICKS_PER_HOUR);
        assert_eq!(adjust(TICKS_PER_SECOND, days(90)), 15 * TICKS_PER_MINUTE);
    }
}
