//! Timespan literals: `1.5h`, `time(1.02:03:04.5)`, `timespan(15 seconds)`.

use std::fmt;

use super::{TICKS_PER_DAY, TICKS_PER_SECOND};

/// The unit that a suffix names, as a fraction of ticks: nanoseconds are a hundredth.
pub(crate) fn timespan_unit(suffix: &str) -> Option<(i64, i64)> {
    const MILLI: i64 = TICKS_PER_SECOND / 1000;
    Some(match suffix {
        "d" | "day" | "days" => (TICKS_PER_DAY, 1),
        "h" | "hr" | "hrs" | "hour" | "hours" => (3600 * TICKS_PER_SECOND, 1),
        "m" | "min" | "minute" | "minutes" => (60 * TICKS_PER_SECOND, 1),
        "s" | "sec" | "second" | "seconds" => (TICKS_PER_SECOND, 1),
        "ms" | "milli" | "millis" | "millisec" | "millisecond" | "milliseconds" => (MILLI, 1),
        "micro" | "micros" | "microsec" | "microsecond" | "microseconds" => (10, 1),
        "nano" | "nanos" | "nanosec" | "nanosecond" | "nanoseconds" => (1, 100),
        "tick" | "ticks" => (1, 1),
        _ => return None,
    })
}

/// The ticks of a bare literal such as `1.5h`, exact to the tick, rounded down.
pub fn parse_timespan_suffix(text: &str) -> Option<i64> {
    let split = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (number, suffix) = text.split_at_checked(split)?;
    let (ticks, divisor) = timespan_unit(suffix)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || whole.len() + fraction.len() > 24 {
        return None;
    }
    let digits: String = [whole, fraction].concat();
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let mantissa: i128 = digits.parse().ok()?;
    let scale = 10i128.checked_pow(fraction.len() as u32)?;
    let numerator = mantissa.checked_mul(i128::from(ticks))?;
    (numerator / scale.checked_mul(i128::from(divisor))?)
        .try_into()
        .ok()
}

/// The ticks of the text inside `timespan(…)`: `[-][d.]hh:mm[:ss[.fffffff]]`, a number with a unit, or whole days.
pub fn parse_timespan(text: &str) -> Option<i64> {
    let text = text.trim();
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let ticks = if text.contains(':') {
        clock(text)?
    } else if text.bytes().all(|b| b.is_ascii_digit()) {
        text.parse::<i128>()
            .ok()?
            .checked_mul(i128::from(TICKS_PER_DAY))?
    } else {
        i128::from(parse_timespan_suffix(
            &text.split_whitespace().collect::<String>(),
        )?)
    };
    (if negative { -ticks } else { ticks }).try_into().ok()
}

/// `[d.]hh:mm[:ss[.fffffff]]`
fn clock(text: &str) -> Option<i128> {
    let mut parts = text.split(':');
    let (first, minutes, seconds) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let (days, hours) = match first.split_once('.') {
        Some((days, hours)) => (number(days, i64::MAX)?, number(hours, 23)?),
        None => (0, number(first, 23)?),
    };
    let minutes = number(minutes, 59)?;
    let (seconds, fraction) = match seconds {
        None => (0, 0),
        Some(seconds) => match seconds.split_once('.') {
            Some((seconds, fraction)) => (number(seconds, 59)?, ticks_of_fraction(fraction)?),
            None => (number(seconds, 59)?, 0),
        },
    };
    let whole = ((hours * 60 + minutes) * 60 + seconds) * TICKS_PER_SECOND + fraction;
    i128::from(days)
        .checked_mul(i128::from(TICKS_PER_DAY))?
        .checked_add(i128::from(whole))
}

pub(super) fn number(text: &str, largest: i64) -> Option<i64> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().filter(|value| *value <= largest)
}

/// The digits after the point of a second; the eighth and later digits are dropped.
pub(super) fn ticks_of_fraction(text: &str) -> Option<i64> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    format!("{text:0<7}").get(..7)?.parse().ok()
}

/// Writes a timespan as a literal: `90m` where a unit fits, else `time(1.02:03:04.5000000)`.
pub(crate) fn write_timespan(f: &mut fmt::Formatter<'_>, ticks: i64) -> fmt::Result {
    if ticks >= 0 {
        for suffix in ["d", "h", "m", "s", "ms"] {
            if let Some((unit, 1)) = timespan_unit(suffix)
                && ticks % unit == 0
            {
                return write!(f, "{}{suffix}", ticks / unit);
            }
        }
    }
    let magnitude = ticks.unsigned_abs();
    let sign = if ticks < 0 { "-" } else { "" };
    let (day, second) = (TICKS_PER_DAY as u64, TICKS_PER_SECOND as u64);
    let seconds = magnitude % day / second;
    write!(
        f,
        "time({sign}{}.{:02}:{:02}:{:02}.{:07})",
        magnitude / day,
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        magnitude % second
    )
}
