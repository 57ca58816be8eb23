//! ISO 8601 periods and durations as clients send them (`docs/api-facts.md §2`, `D11`).

use hindsight_kql_syntax::ast::{BinaryOp, Expr};
use hindsight_kql_types::datetime;
use hindsight_kql_types::ticks::{
    TICKS_PER_DAY, TICKS_PER_HOUR, TICKS_PER_MINUTE, TICKS_PER_SECOND,
};

use crate::error::EngineError;
use crate::request::TimeRange;

/// The longest duration that is read: 400 days. Telemetry is not kept that long, and arithmetic stays in range.
const LONGEST: i64 = 400 * TICKS_PER_DAY;

/// A period as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Period {
    /// `PT12H`: the time before now.
    Last(i64),
    /// `start/end`, `start/duration`, `duration/end`.
    Fixed(TimeRange),
}

impl Period {
    /// The half-open range that the period means at `now`.
    pub(crate) fn resolve(self, now: i64) -> TimeRange {
        match self {
            Period::Last(ticks) => TimeRange {
                start: now.saturating_sub(ticks),
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
            start: end - duration(first)?,
            end,
        }
    } else if second.starts_with(['P', 'p']) {
        let start = moment(first)?;
        TimeRange {
            start,
            end: start + duration(second)?,
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
    datetime::parse(text.trim()).ok_or_else(|| {
        bad(format!(
            "'{text}' is not an ISO 8601 date and time such as 2025-01-31T12:00:00Z."
        ))
    })
}

fn duration(text: &str) -> Result<i64, EngineError> {
    parse_duration(text).ok_or_else(|| {
        bad(format!("'{text}' is not an ISO 8601 duration such as PT12H or P1D, longer than nothing and up to 400 days."))
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
/// and are not read; nor is a duration of zero, below zero or above 400 days.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    let rest = text.strip_prefix(['P', 'p'])?;
    let (date, time) = match rest.split_once(['T', 't']) {
        Some((_, "")) => return None,
        Some((date, time)) => (date, time),
        None => (rest, ""),
    };
    if date.is_empty() && time.is_empty() {
        return None;
    }
    let date = sum(date, &[('W', 7 * TICKS_PER_DAY), ('D', TICKS_PER_DAY)])?;
    let time = sum(
        time,
        &[
            ('H', TICKS_PER_HOUR),
            ('M', TICKS_PER_MINUTE),
            ('S', TICKS_PER_SECOND),
        ],
    )?;
    let total = date + time;
    (total >= 1.0 && total <= LONGEST as f64).then_some(total.round() as i64)
}

/// Adds up `12H30M`-like parts, whose units must come in this order.
fn sum(mut text: &str, units: &[(char, i64)]) -> Option<f64> {
    let mut total = 0.0;
    for (unit, ticks) in units {
        let Some(at) = text.find([*unit, unit.to_ascii_lowercase()]) else {
            continue;
        };
        let number = &text[..at];
        if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            return None;
        }
        total += number.parse::<f64>().ok()? * *ticks as f64;
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
            ("PT3H", Some(Period::Last(3 * TICKS_PER_HOUR))),
            ("2025-03-06T02:00:00Z/2025-03-06T01:00:00Z", None),
            ("yesterday", None),
        ] {
            assert_eq!(parse_period(text).ok(), expected, "{text}");
        }
    }
}
