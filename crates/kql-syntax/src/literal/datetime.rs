//! The text inside `datetime(…)` (`semantics.md §1.3, §8.6`).

use super::calendar::Civil;
use super::timespan::{number, ticks_of_fraction};
use super::{TICKS_PER_DAY, TICKS_PER_SECOND};

/// Ticks of 100 ns since 0001-01-01 UTC for a text form of a moment, or nothing where the text is none.
///
/// Known forms: ISO 8601 with `T` or a space, slashes, month-first dates, day and month names, `yyyymmdd`, a year,
/// the comma form `2025, 6, 14`; a zone is `Z`, `GMT`, `UTC` or `±hh:mm`.
pub fn parse_datetime(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Some(civil) = comma_form(text) {
        return civil.to_ticks();
    }
    let (text, offset) = split_zone(text)?;
    let (date, time) = split_time(text);
    let mut civil = date_form(date.trim())
        .or_else(|| date_form(&date.split_whitespace().collect::<String>()))?;
    if let Some(time) = time {
        read_time(time.trim(), &mut civil)?;
    }
    let ticks = civil.to_ticks()?.checked_sub(offset)?;
    (0..3_652_059 * TICKS_PER_DAY)
        .contains(&ticks)
        .then_some(ticks)
}

/// `2025, 6, 14, 10, 30, 5.25`: year and month at least.
fn comma_form(text: &str) -> Option<Civil> {
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let part = |index: usize, otherwise: i64| match parts.get(index) {
        Some(text) => number(text, 9999),
        None => Some(otherwise),
    };
    if !(2..=6).contains(&parts.len()) {
        return None;
    }
    let mut civil = Civil {
        year: part(0, 1)?,
        month: part(1, 1)?,
        day: part(2, 1)?,
        hour: part(3, 0)?,
        minute: part(4, 0)?,
        ..Civil::default()
    };
    if let Some(seconds) = parts.get(5) {
        read_seconds(seconds, &mut civil)?;
    }
    Some(civil)
}

/// The text without its zone, and the zone's distance from UTC in ticks.
fn split_zone(text: &str) -> Option<(&str, i64)> {
    for suffix in ["Z", "z", "GMT", "UTC"] {
        if let Some(rest) = text.strip_suffix(suffix) {
            return Some((rest.trim_end(), 0));
        }
    }
    // A sign is a zone only after a time of day: dates have hyphens too.
    let Some(colon) = text.find(':') else {
        return Some((text, 0));
    };
    let Some(sign) = text.get(colon..)?.rfind(['+', '-']).map(|at| at + colon) else {
        return Some((text, 0));
    };
    let (rest, zone) = text.split_at_checked(sign)?;
    let digits = zone.get(1..)?;
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() == 4 => digits.split_at_checked(2)?,
        None => (digits, "0"),
    };
    let ticks = (number(hours, 14)? * 60 + number(minutes, 59)?) * 60 * TICKS_PER_SECOND;
    Some((
        rest.trim_end(),
        if zone.starts_with('-') { -ticks } else { ticks },
    ))
}

/// The date and the time of day.
fn split_time(text: &str) -> (&str, Option<&str>) {
    let Some(colon) = text.find(':') else {
        return (text, None);
    };
    let before = text.get(..colon).unwrap_or("");
    match before.rfind(['T', 't', ' ']) {
        Some(at) => (
            text.get(..at).unwrap_or(""),
            Some(text.get(at + 1..).unwrap_or("")),
        ),
        None => (text, None),
    }
}

fn read_time(text: &str, civil: &mut Civil) -> Option<()> {
    let (text, afternoon) = match text.to_ascii_uppercase() {
        upper if upper.ends_with("AM") => (text.get(..text.len() - 2)?.trim_end(), Some(false)),
        upper if upper.ends_with("PM") => (text.get(..text.len() - 2)?.trim_end(), Some(true)),
        _ => (text, None),
    };
    let mut parts = text.split(':');
    civil.hour = number(parts.next()?, 23)?;
    civil.minute = number(parts.next()?, 59)?;
    if let Some(seconds) = parts.next() {
        read_seconds(seconds, civil)?;
    }
    if let Some(afternoon) = afternoon {
        if !(1..=12).contains(&civil.hour) {
            return None;
        }
        civil.hour = civil.hour % 12 + if afternoon { 12 } else { 0 };
    }
    parts.next().is_none().then_some(())
}

fn read_seconds(text: &str, civil: &mut Civil) -> Option<()> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, ticks_of_fraction(fraction)?),
        None => (text, 0),
    };
    civil.second = number(whole, 59)?;
    civil.ticks = fraction;
    Some(())
}

fn date_form(text: &str) -> Option<Civil> {
    let date = |year, month, day| Civil {
        year,
        month,
        day,
        ..Civil::default()
    };
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return match text.len() {
            4 => Some(date(number(text, 9999)?, 1, 1)),
            8 => Some(date(
                number(text.get(..4)?, 9999)?,
                number(text.get(4..6)?, 12)?,
                number(text.get(6..)?, 31)?,
            )),
            _ => None,
        };
    }
    if text.bytes().any(|b| b.is_ascii_alphabetic()) {
        let (year, month, day) = worded(text)?;
        return Some(date(year, month, day));
    }
    let parts: Vec<&str> = text.split(['-', '/', '.']).collect();
    match parts.as_slice() {
        [year, month] if year.len() == 4 => Some(date(number(year, 9999)?, number(month, 12)?, 1)),
        [year, month, day] if year.len() == 4 => Some(date(
            number(year, 9999)?,
            number(month, 12)?,
            number(day, 31)?,
        )),
        [month, day, year] if year.len() == 4 => Some(date(
            number(year, 9999)?,
            number(month, 12)?,
            number(day, 31)?,
        )),
        _ => None,
    }
}

/// `2 Dec 2022`, `Dec 2, 2022`, `Fri, 02 Dec 2022`.
fn worded(text: &str) -> Option<(i64, i64, i64)> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    const DAYS: [&str; 7] = [
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    let mut month = None;
    let mut numbers = Vec::new();
    for word in text.split([' ', ',', '-']).filter(|word| !word.is_empty()) {
        let word = word.to_ascii_lowercase();
        let names = |full: &str| full == word || (word.len() == 3 && full.starts_with(&word));
        if word.bytes().all(|b| b.is_ascii_digit()) {
            numbers.push(number(&word, 9999)?);
        } else if let Some(at) = MONTHS.iter().position(|full| names(full)) {
            month = Some(at as i64 + 1);
        } else if !DAYS.iter().any(|full| names(full)) {
            return None;
        }
    }
    match numbers.as_slice() {
        [day, year] if *year >= 1000 => Some((*year, month?, *day)),
        _ => None,
    }
}
