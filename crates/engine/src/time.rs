//! ISO 8601 periods and durations as clients send them (`docs/api-facts.md §2`, `D11`).

use hindsight_kql_syntax::ast::{BinaryOp, Expr};
use hindsight_kql_types::datetime::{self, Civil, days_in_month};
use hindsight_kql_types::ticks::{
    MAX_DATETIME_TICKS, TICKS_PER_DAY, TICKS_PER_HOUR, TICKS_PER_MINUTE, TICKS_PER_SECOND,
};

use crate::error::EngineError;
use crate::request::TimeRange;

/// The longest duration that is read: 9,999 years, which is longer than all time.
const LONGEST: f64 = 9_999.0 * 366.0 * TICKS_PER_DAY as f64;

/// The first datetime.
const EARLIEST: i64 = 0;

/// An ISO 8601 duration. A month and a year have no fixed length: they are counted on the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Duration {
    months: i64,
    ticks: i64,
}

impl Duration {
    /// The time this long before `moment`, at the earliest the first that there is.
    fn before(self, moment: i64) -> i64 {
        add_months(moment, -self.months)
            .saturating_sub(self.ticks)
            .max(EARLIEST)
    }

    /// The time this long after `moment`, at the latest the last that there is.
    fn after(self, moment: i64) -> i64 {
        add_months(moment, self.months)
            .saturating_add(self.ticks)
            .min(MAX_DATETIME_TICKS)
    }
}

/// The same day and time of another month, or that month's last day.
fn add_months(moment: i64, months: i64) -> i64 {
    let mut civil = Civil::from_ticks(moment);
    let month = i64::from(civil.year) * 12 + i64::from(civil.month) - 1 + months;
    let limit = if months < 0 {
        EARLIEST
    } else {
        MAX_DATETIME_TICKS
    };
    let (Ok(year), Ok(month)) = (
        i32::try_from(month.div_euclid(12)),
        u32::try_from(month.rem_euclid(12)),
    ) else {
        return limit;
    };
    civil.year = year;
    civil.month = month + 1;
    civil.day = civil.day.min(days_in_month(year, civil.month));
    civil.to_ticks().unwrap_or(limit)
}

/// A period as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Period {
    /// `PT12H`: the time before now.
    Last(Duration),
    /// `start/end`, `start/duration`, `duration/end`.
    Fixed(TimeRange),
}

impl Period {
    /// The last hours.
    pub(crate) const fn hours(hours: i64) -> Period {
        Period::Last(Duration {
            months: 0,
            ticks: hours * TICKS_PER_HOUR,
        })
    }

    /// The half-open range that the period means at `now`.
    pub(crate) fn resolve(self, now: i64) -> TimeRange {
        match self {
            Period::Last(duration) => TimeRange {
                start: duration.before(now),
                end: now,
            },
            Period::Fixed(range) => range,
        }
    }
}

/// Reads a `timespan`.
pub(crate) fn parse_period(text: &str) -> Result<Period, EngineError> {
    let text = text.trim();
    let Some((first, second)) = text.split_once('/') else {
        return Ok(Period::Last(duration(text)?));
    };
    let range = if first.starts_with(['P', 'p']) {
        let end = moment(second)?;
        TimeRange {
            start: duration(first)?.before(end),
            end,
        }
    } else if second.starts_with(['P', 'p']) {
        let start = moment(first)?;
        TimeRange {
            start,
            end: duration(second)?.after(start),
        }
    } else {
        TimeRange {
            start: moment(first)?,
            end: moment(second)?,
        }
    };
    if range.start > range.end {
        return Err(bad(format!("The timespan '{text}' ends before it starts.")));
    }
    Ok(Period::Fixed(range))
}

fn moment(text: &str) -> Result<i64, EngineError> {
    let moment = (!lacks_plus(text)).then(|| datetime::parse(text.trim()));
    moment.flatten().ok_or_else(|| {
        let hint = if lacks_plus(text) {
            " In a URL, the '+' of a time zone is written %2B."
        } else {
            ""
        };
        bad(format!(
            "'{text}' is not an ISO 8601 date and time such as 2025-01-31T12:00:00Z.{hint}"
        ))
    })
}

/// Whether a space stands where a time zone begins: `T12:00:00 01:00`. In a URL, `+` means a space.
fn lacks_plus(text: &str) -> bool {
    text.trim().split_once(' ').is_some_and(|(time, zone)| {
        let digits = zone.bytes().filter(u8::is_ascii_digit).count();
        let others = zone.bytes().filter(|b| !b.is_ascii_digit()).count();
        time.contains(['T', 't']) && matches!((digits, others), (2 | 4, 0) | (4, 1))
    })
}

fn duration(text: &str) -> Result<Duration, EngineError> {
    parse_calendar_duration(text).ok_or_else(|| {
        bad(format!("'{text}' is not an ISO 8601 duration such as PT12H, P1D or P1M, longer than nothing and up to 9999 years."))
    })
}

fn bad(message: String) -> EngineError {
    EngineError::BadParameter {
        parameter: "timespan".to_owned(),
        message,
        position: None,
    }
}

/// Reads an ISO 8601 duration of weeks, days, hours, minutes and seconds in ticks. Months and years have no fixed length
/// and are not read; nor is a duration of zero, below zero or above 9,999 years.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    let duration = parse_calendar_duration(text)?;
    (duration.months == 0).then_some(duration.ticks)
}

/// Whether `text` is an ISO 8601 duration, perhaps of months and years.
pub(crate) fn is_duration(text: &str) -> bool {
    parse_calendar_duration(text).is_some()
}

/// Reads an ISO 8601 duration, also of months and years, which are whole numbers. A duration of zero, below zero or above
/// 9,999 years is not read.
fn parse_calendar_duration(text: &str) -> Option<Duration> {
    let rest = text.strip_prefix(['P', 'p'])?;
    let (date, time) = match rest.split_once(['T', 't']) {
        Some((_, "")) => return None,
        Some((date, time)) => (date, time),
        None => (rest, ""),
    };
    if date.is_empty() && time.is_empty() {
        return None;
    }
    // The place after the last unit of the calendar; weeks and days follow.
    let calendar = date.rfind(['Y', 'y', 'M', 'm']).map_or(0, |unit| unit + 1);
    let (calendar, days) = date.split_at(calendar);
    let months = sum(calendar, &[('Y', 12), ('M', 1)])?;
    let days = sum(days, &[('W', 7 * TICKS_PER_DAY), ('D', TICKS_PER_DAY)])?;
    let time = sum(
        time,
        &[
            ('H', TICKS_PER_HOUR),
            ('M', TICKS_PER_MINUTE),
            ('S', TICKS_PER_SECOND),
        ],
    )?;
    let ticks = days + time;
    let in_range = (months >= 1.0 || ticks >= 1.0) && ticks <= LONGEST && months <= 12.0 * 9_999.0;
    (in_range && months.fract() == 0.0).then_some(Duration {
        months: months as i64,
        ticks: ticks.round() as i64,
    })
}

/// Adds up `12H30M`-like parts, whose units must come in this order.
fn sum(mut text: &str, units: &[(char, i64)]) -> Option<f64> {
    let mut total = 0.0;
    for (unit, size) in units {
        let Some(at) = text.find([*unit, unit.to_ascii_lowercase()]) else {
            continue;
        };
        // ISO 8601 writes fractions with a point or a comma.
        let number = text[..at].replace(',', ".");
        if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            return None;
        }
        total += number.parse::<f64>().ok()? * *size as f64;
        text = &text[at + 1..];
    }
    text.is_empty().then_some(total)
}

/// The ISO 8601 form of a duration in ticks: `PT1H`, `P1D`, `PT1M30S`.
pub(crate) fn format_duration(ticks: i64) -> String {
    use std::fmt::Write;
    let mut text = String::from("P");
    let days = ticks / TICKS_PER_DAY;
    if days > 0 {
        let _ = write!(text, "{days}D");
    }
    let mut rest = ticks % TICKS_PER_DAY;
    if rest > 0 {
        text.push('T');
    }
    for (unit, size) in [('H', TICKS_PER_HOUR), ('M', TICKS_PER_MINUTE)] {
        if rest >= size {
            let _ = write!(text, "{}{unit}", rest / size);
            rest %= size;
        }
    }
    if rest > 0 {
        let seconds = format!("{}.{:07}", rest / TICKS_PER_SECOND, rest % TICKS_PER_SECOND);
        let _ = write!(
            text,
            "{}S",
            seconds.trim_end_matches('0').trim_end_matches('.')
        );
    }
    text
}

/// `start <= timestamp and timestamp < end`
pub(crate) fn within(range: TimeRange) -> Expr {
    let timestamp = || Expr::name("timestamp");
    let from = Expr::binary(
        BinaryOp::GreaterOrEqual,
        timestamp(),
        Expr::datetime(range.start),
    );
    from.and(Expr::binary(
        BinaryOp::Less,
        timestamp(),
        Expr::datetime(range.end),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_that_clients_send() {
        for (text, seconds) in [
            ("PT12H", 43_200),
            ("P1D", 86_400),
            ("PT5M", 300),
            ("PT43200.0S", 43_200),
            ("P1W", 604_800),
            ("P1DT2H3M4S", 93_784),
            ("pt1h", 3_600),
        ] {
            assert_eq!(
                parse_duration(text),
                Some(seconds * TICKS_PER_SECOND),
                "{text}"
            );
        }
    }

    #[test]
    fn durations_that_are_refused() {
        for text in [
            "",
            "P",
            "PT",
            "12H",
            "PT-1H",
            "P1M",
            "P1Y",
            "PT0S",
            "P99999999D",
            "P1D1M",
            "PT1H2",
            "PTH",
            "PT1S1M",
        ] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }

    #[test]
    fn durations_print_as_they_are_read() {
        for text in ["PT1H", "P1D", "PT1M30S", "PT0.5S", "P7D", "P1DT12H"] {
            assert_eq!(
                parse_duration(text).map(format_duration).as_deref(),
                Some(text)
            );
        }
    }

    #[test]
    fn periods_take_either_end_or_both() {
        let hour = |h: i64| {
            datetime::parse("2025-03-06T00:00:00Z")
                .map(|t| t + h * TICKS_PER_HOUR)
                .unwrap_or_default()
        };
        let fixed = |a, b| {
            Some(Period::Fixed(TimeRange {
                start: hour(a),
                end: hour(b),
            }))
        };
        for (text, expected) in [
            (
                "2025-03-06T00:00:00+00:00/2025-03-06T01:00:00+00:00",
                fixed(0, 1),
            ),
            ("2025-03-06T00:00:00/2025-03-06T01:00:00", fixed(0, 1)),
            ("2025-03-06T00:00:00Z/PT2H", fixed(0, 2)),
            ("PT2H/2025-03-06T04:00:00Z", fixed(2, 4)),
            ("PT3H", Some(Period::hours(3))),
            ("2025-03-06T02:00:00Z/2025-03-06T01:00:00Z", None),
            ("yesterday", None),
        ] {
            assert_eq!(parse_period(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn months_and_years_are_counted_on_the_calendar() {
        let now = datetime::parse("2024-03-31T12:00:00Z").unwrap_or_default();
        for (text, start) in [
            ("P1M", "2024-02-29T12:00:00Z"),
            ("P1Y", "2023-03-31T12:00:00Z"),
            ("P1Y1M1DT1H", "2023-02-27T11:00:00Z"),
            ("P13M", "2023-02-28T12:00:00Z"),
            ("P2W", "2024-03-17T12:00:00Z"),
            ("P1000D", "2021-07-05T12:00:00Z"),
            ("PT0,5S", "2024-03-31T11:59:59.5Z"),
            ("P9999Y", "0001-01-01T00:00:00Z"),
        ] {
            let range = parse_period(text).map(|period| period.resolve(now));
            let start = datetime::parse(start);
            assert_eq!(range.ok().map(|range| range.start), start, "{text}");
        }
        let after = parse_period("2024-01-31T00:00:00Z/P1M").map(|period| period.resolve(now));
        let end = datetime::parse("2024-02-29T00:00:00Z");
        assert_eq!(after.ok().map(|range| range.end), end);
        for text in ["P0M", "P1.5M", "P1M1Y", "P10000Y", "P1M-1D"] {
            assert!(parse_period(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_plus_that_became_a_space_is_named() {
        for (text, hint) in [
            ("2025-03-06T02:00:00 01:00/PT1H", true),
            ("PT1H/2025-03-06T02:00:00 0100", true),
            ("2025-03-06T02:00:00+01:00/PT1H now", false),
            ("soon/PT1H", false),
        ] {
            let message = parse_period(text).unwrap_err().to_string();
            assert_eq!(message.contains("%2B"), hint, "{message}");
        }
        assert!(parse_period("2025-03-06T02:00:00+01:00/PT1H").is_ok());
    }
}
