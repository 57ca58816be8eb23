//! Timespans: text forms and parsing (`docs/semantics.md §1.3, §8.5, §8.7`).

use std::fmt;

use crate::datetime::cursor::Cursor;
use crate::ticks::{
    TICKS_PER_DAY, TICKS_PER_HOUR, TICKS_PER_MICROSECOND, TICKS_PER_MILLISECOND, TICKS_PER_MINUTE,
    TICKS_PER_SECOND,
};

/// Nanoseconds in one tick; units smaller than a tick are counted in nanoseconds.
const NANOS_PER_TICK: i128 = 100;

/// Parses a timespan: `[-][d.]hh:mm[:ss[.fffffff]]` or a number with a unit (`1d`, `-90s`). Returns ticks.
///
/// A number without a unit is not a timespan. Digits after the seventh of a fraction are ignored.
pub fn parse(text: &str) -> Option<i64> {
    let text = text.trim_ascii();
    if text.contains(':') {
        return parse_clock(text);
    }
    let (number, unit) = split_unit(text)?;
    from_unit(number, unit)
}

/// Parses the text inside `timespan(…)` and `time(…)`: as [`parse`], but with optional white space before the unit, and a
/// number without a unit is in days (`docs/semantics.md §1.3`).
pub fn parse_literal(text: &str) -> Option<i64> {
    let text = text.trim_ascii();
    if let Some(ticks) = parse(text) {
        return Some(ticks);
    }
    match split_unit(text) {
        Some((number, unit)) => from_unit(number.trim_ascii_end(), unit),
        None => from_unit(text, "d"),
    }
}

/// `number` of `unit` in ticks, `number` being digits with an optional sign and fraction.
///
/// The result is truncated to ticks: `150nanoseconds` is one tick. `None` for an unknown unit or an overflow.
pub fn from_unit(number: &str, unit: &str) -> Option<i64> {
    let (negative, digits) = strip_sign(number);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || whole.len() > 19 || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    // The twelfth digit of a fraction of a day is far below one tick.
    let fraction = fraction.get(..12).unwrap_or(fraction);
    let scale = 10i128.pow(fraction.len() as u32);
    let part: i128 = if fraction.is_empty() {
        0
    } else {
        fraction.parse().ok()?
    };
    let mantissa = whole.parse::<i128>().ok()?.checked_mul(scale)? + part;
    let nanos = mantissa.checked_mul(unit_nanos(unit)?)? / scale;
    let ticks = nanos / NANOS_PER_TICK;
    i64::try_from(if negative { -ticks } else { ticks }).ok()
}

/// Writes `[-][d.]hh:mm:ss[.fffffff]`: the day part only from one day on, the fraction only if it is not zero
/// (`docs/semantics.md §8.5, §28.2`).
pub fn write(ticks: i64, out: &mut impl fmt::Write) -> fmt::Result {
    if ticks < 0 {
        out.write_char('-')?;
    }
    let ticks = ticks.unsigned_abs();
    let days = ticks / TICKS_PER_DAY as u64;
    if days > 0 {
        write!(out, "{days}.")?;
    }
    write!(
        out,
        "{:02}:{:02}:{:02}",
        ticks % TICKS_PER_DAY as u64 / TICKS_PER_HOUR as u64,
        ticks % TICKS_PER_HOUR as u64 / TICKS_PER_MINUTE as u64,
        ticks % TICKS_PER_MINUTE as u64 / TICKS_PER_SECOND as u64,
    )?;
    match ticks % TICKS_PER_SECOND as u64 {
        0 => Ok(()),
        fraction => write!(out, ".{fraction:07}"),
    }
}

fn parse_clock(text: &str) -> Option<i64> {
    let (negative, text) = strip_sign(text);
    let mut cursor = Cursor::new(text);
    let first = cursor.digits()?;
    let (days, hours) = if cursor.eat(b'.') {
        (first.value, cursor.digits()?.value)
    } else {
        (0, first.value)
    };
    cursor.eat(b':').then_some(())?;
    let minutes = cursor.digits()?.value;
    let (mut seconds, mut fraction) = (0, 0);
    if cursor.eat(b':') {
        seconds = cursor.digits()?.value;
        if cursor.eat(b'.') {
            fraction = cursor.fraction()?;
        }
    }
    let fits = cursor.is_empty() && hours < 24 && minutes < 60 && seconds < 60;
    fits.then_some(())?;
    let ticks = i64::from(days)
        .checked_mul(TICKS_PER_DAY)?
        .checked_add(i64::from(hours) * TICKS_PER_HOUR)?
        .checked_add(i64::from(minutes) * TICKS_PER_MINUTE)?
        .checked_add(i64::from(seconds) * TICKS_PER_SECOND)?
        .checked_add(i64::from(fraction))?;
    Some(if negative { -ticks } else { ticks })
}

fn strip_sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// The number and the unit, if there is a unit.
fn split_unit(text: &str) -> Option<(&str, &str)> {
    let at = text.find(|c: char| c.is_ascii_alphabetic())?;
    text.split_at_checked(at)
}

fn unit_nanos(unit: &str) -> Option<i128> {
    let ticks = match unit {
        "d" | "day" | "days" => TICKS_PER_DAY,
        "h" | "hr" | "hrs" | "hour" | "hours" => TICKS_PER_HOUR,
        "m" | "min" | "minute" | "minutes" => TICKS_PER_MINUTE,
        "s" | "sec" | "second" | "seconds" => TICKS_PER_SECOND,
        "ms" | "milli" | "millis" | "millisec" | "millisecond" | "milliseconds" => {
            TICKS_PER_MILLISECOND
        }
        "micro" | "micros" | "microsec" | "microsecond" | "microseconds" => TICKS_PER_MICROSECOND,
        "nano" | "nanos" | "nanosec" | "nanosecond" | "nanoseconds" => return Some(1),
        "tick" | "ticks" => 1,
        _ => return None,
    };
    Some(i128::from(ticks) * NANOS_PER_TICK)
}
