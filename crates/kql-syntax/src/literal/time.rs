//! Datetime and timespan literals. `hindsight_kql_types` parses the forms that conversions share; this file has the forms of
//! literals alone.

use std::fmt;

use hindsight_kql_types::datetime::{self, Civil};
use hindsight_kql_types::ticks::{
    TICKS_PER_DAY, TICKS_PER_HOUR, TICKS_PER_MILLISECOND, TICKS_PER_MINUTE, TICKS_PER_SECOND,
};
use hindsight_kql_types::timespan;

/// Ticks of 100 ns since 0001-01-01 UTC for the text inside `datetime(…)`.
///
/// In addition to the forms of `todatetime` there are the comma form `2025, 6, 14` and white space around the hyphens of a date.
pub fn parse_datetime(text: &str) -> Option<i64> {
    comma_form(text)
        .or_else(|| datetime::parse(text))
        .or_else(|| datetime::parse(&text.split('-').map(str::trim).collect::<Vec<_>>().join("-")))
}

/// `2025, 6, 14, 10, 30, 5.25`: at least year and month; a missing part is its first value.
fn comma_form(text: &str) -> Option<i64> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    if !(2..=6).contains(&parts.len()) {
        return None;
    }
    let part = |index: usize, otherwise: u32| match parts.get(index) {
        Some(text) => digits(text),
        None => Some(otherwise),
    };
    let mut civil = Civil::date(i32::try_from(part(0, 1)?).ok()?, part(1, 1)?, part(2, 1)?);
    civil.hour = part(3, 0)?;
    civil.minute = part(4, 0)?;
    let (whole, fraction) = parts.get(5).map_or(("0", ""), |seconds| {
        seconds.split_once('.').unwrap_or((seconds, ""))
    });
    civil.second = digits(whole)?;
    if !fraction.is_empty() {
        digits(fraction)?;
        civil.tick_of_second = digits(format!("{fraction:0<7}").get(..7)?)?;
    }
    civil.to_ticks()
}

fn digits(text: &str) -> Option<u32> {
    let all = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    all.then(|| text.parse().ok()).flatten()
}

/// Ticks of 100 ns for the text inside `timespan(…)`: a clock form, a number with a unit, or whole days.
pub fn parse_timespan(text: &str) -> Option<i64> {
    timespan::parse_literal(text)
}

/// The ticks of a bare literal such as `1.5h`, with an optional sign.
pub(crate) fn parse_timespan_suffix(text: &str) -> Option<i64> {
    timespan::parse(text)
}

/// Whether a word is a unit of timespans.
pub(crate) fn is_timespan_unit(word: &str) -> bool {
    timespan::from_unit("1", word).is_some()
}

/// Writes `datetime(2020-01-02T03:04:05.25Z)`, or the date alone if the time of day is zero.
pub(crate) fn write_datetime(f: &mut fmt::Formatter<'_>, ticks: i64) -> fmt::Result {
    let mut text = String::new();
    datetime::write_trimmed(ticks, &mut text)?;
    let shown = match text.split_once('T') {
        Some((date, "00:00:00Z")) => date,
        _ => &text,
    };
    write!(f, "datetime({shown})")
}

/// Writes a timespan as a literal: `90m` if it is a multiple of a unit, else `time(1.02:03:04.5)`.
pub(crate) fn write_timespan(f: &mut fmt::Formatter<'_>, ticks: i64) -> fmt::Result {
    const UNITS: [(i64, &str); 5] = [
        (TICKS_PER_DAY, "d"),
        (TICKS_PER_HOUR, "h"),
        (TICKS_PER_MINUTE, "m"),
        (TICKS_PER_SECOND, "s"),
        (TICKS_PER_MILLISECOND, "ms"),
    ];
    let fits = |unit: &&(i64, &str)| ticks >= 0 && ticks % unit.0 == 0;
    if let Some((unit, suffix)) = UNITS.iter().find(fits) {
        return write!(f, "{}{suffix}", ticks / unit);
    }
    f.write_str("time(")?;
    timespan::write(ticks, f)?;
    f.write_str(")")
}
