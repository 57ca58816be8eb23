//! Calendar periods: the units of `datetime_add` and `datetime_diff`.

use hindsight_kql_types::Civil;
use hindsight_kql_types::datetime::days_in_month;
use hindsight_kql_types::ticks::{
    TICKS_PER_DAY, TICKS_PER_HOUR, TICKS_PER_MICROSECOND, TICKS_PER_MILLISECOND, TICKS_PER_MINUTE,
    TICKS_PER_SECOND, in_range,
};

/// A unit of calendar arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Period {
    /// A number of months: a month, a quarter, a year.
    Months(i64),
    /// A number of ticks; weeks start on Sunday.
    Ticks(i64),
    /// A hundredth of a tick.
    Nanosecond,
}

/// One week in ticks.
pub(super) const TICKS_PER_WEEK: i64 = 7 * TICKS_PER_DAY;

impl Period {
    /// The names of the periods, for messages.
    pub(super) const NAMES: [&str; 11] = [
        "year",
        "quarter",
        "month",
        "week",
        "day",
        "hour",
        "minute",
        "second",
        "millisecond",
        "microsecond",
        "nanosecond",
    ];

    /// The period named `name`, case-insensitively.
    pub(super) fn parse(name: &str) -> Option<Period> {
        Some(match name.to_ascii_lowercase().as_str() {
            "year" => Period::Months(12),
            "quarter" => Period::Months(3),
            "month" => Period::Months(1),
            "week" => Period::Ticks(TICKS_PER_WEEK),
            "day" => Period::Ticks(TICKS_PER_DAY),
            "hour" => Period::Ticks(TICKS_PER_HOUR),
            "minute" => Period::Ticks(TICKS_PER_MINUTE),
            "second" => Period::Ticks(TICKS_PER_SECOND),
            "millisecond" => Period::Ticks(TICKS_PER_MILLISECOND),
            "microsecond" => Period::Ticks(TICKS_PER_MICROSECOND),
            "nanosecond" => Period::Nanosecond,
            _ => return None,
        })
    }

    /// `ticks` moved by `count` periods; `None` if out of range.
    pub(super) fn add(self, ticks: i64, count: i64) -> Option<i64> {
        match self {
            Period::Months(months) => add_months(ticks, count.checked_mul(months)?),
            Period::Ticks(size) => in_range(ticks.checked_add(count.checked_mul(size)?)?),
            Period::Nanosecond => in_range(ticks.checked_add(count / 100)?),
        }
    }

    /// The number of period boundaries between `from` and `to`, negative if `to` is earlier.
    pub(super) fn boundaries(self, to: i64, from: i64) -> i64 {
        match self {
            Period::Months(months) => (month_number(to) / months) - (month_number(from) / months),
            // Year one began on a Monday, so after a shift by one day every Sunday is a multiple of a week.
            Period::Ticks(TICKS_PER_WEEK) => {
                (to + TICKS_PER_DAY) / TICKS_PER_WEEK - (from + TICKS_PER_DAY) / TICKS_PER_WEEK
            }
            Period::Ticks(size) => to / size - from / size,
            Period::Nanosecond => (to - from).wrapping_mul(100),
        }
    }
}

/// The number of months since January of year zero.
fn month_number(ticks: i64) -> i64 {
    let civil = Civil::from_ticks(ticks);
    i64::from(civil.year) * 12 + i64::from(civil.month) - 1
}

/// `ticks` moved by whole months: the day is clamped to the last day of the month, the time of day is unchanged.
pub(super) fn add_months(ticks: i64, months: i64) -> Option<i64> {
    let civil = Civil::from_ticks(ticks);
    let number = month_number(ticks).checked_add(months)?;
    let year = i32::try_from(number.div_euclid(12)).ok()?;
    let month = u32::try_from(number.rem_euclid(12)).ok()? + 1;
    let day = civil.day.min(days_in_month(year, month));
    Civil {
        year,
        month,
        day,
        ..civil
    }
    .to_ticks()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_period_is_known() {
        assert!(
            Period::NAMES
                .iter()
                .all(|name| Period::parse(name).is_some())
        );
    }

    fn ticks(text: &str) -> i64 {
        hindsight_kql_types::datetime::parse(text).expect("a datetime")
    }

    #[test]
    fn adds_by_the_calendar() {
        let check = |period: &str, count: i64, from: &str, expected: Option<&str>| {
            let period = Period::parse(period).expect("a period");
            assert_eq!(
                period.add(ticks(from), count),
                expected.map(ticks),
                "{period:?} {count} {from}"
            );
        };
        check(
            "month",
            1,
            "2020-01-31 10:00:00",
            Some("2020-02-29 10:00:00"),
        );
        check("Year", 1, "2020-02-29", Some("2021-02-28"));
        check("quarter", -1, "2020-01-15", Some("2019-10-15"));
        check("week", 2, "2020-01-01", Some("2020-01-15"));
        check("year", 8000, "2020-01-01", None);
        check("day", -1, "0001-01-01", None);
    }

    #[test]
    fn counts_boundaries() {
        let check = |period: &str, to: &str, from: &str, expected: i64| {
            let period = Period::parse(period).expect("a period");
            assert_eq!(
                period.boundaries(ticks(to), ticks(from)),
                expected,
                "{period:?} {to} {from}"
            );
        };
        check("day", "2020-01-01 23:00:00", "2020-01-01 01:00:00", 0);
        check("month", "2020-01-31", "2020-02-01", -1);
        check("year", "2021-01-01", "2020-12-31", 1);
        check("quarter", "2020-04-01", "2020-03-31", 1);
        check("hour", "2020-01-02 01:00:00", "2020-01-01 23:59:00", 2);
        // A Sunday and the Saturday before it.
        check("week", "2021-01-03", "2021-01-02", 1);
        check("week", "2021-01-02", "2020-12-28", 0);
    }
}
