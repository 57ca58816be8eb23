//! Text to datetime (`docs/semantics.md §8.6`).

use super::Civil;
use super::cursor::{Cursor, Digits};
use crate::ticks::{
    TICKS_PER_HOUR, TICKS_PER_MINUTE, TICKS_PER_SECOND, UNIX_EPOCH_TICKS, in_range,
};

/// Parses a datetime. Returns ticks, or `None` if `text` is not a datetime.
///
/// Accepted forms are ISO 8601 with `T` or a space, `yyyy/MM/dd`, `MM/dd/yyyy` (**month first**), the forms of RFC 822 and
/// RFC 850, the compact `yyyyMMdd`, and a single number: four digits are a year, eight a date, fourteen a date and a time,
/// any other count is seconds since 1970. Offsets are converted to UTC. Digits after the seventh of a fraction are ignored.
pub fn parse(text: &str) -> Option<i64> {
    let text = text.trim_ascii();
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return single_number(text);
    }
    let mut cursor = Cursor::new(text);
    let mut civil = date(&mut cursor)?;
    if at_time(&mut cursor) {
        time(&mut cursor, &mut civil)?;
    }
    let local = civil.to_ticks()?;
    let offset = zone(&mut cursor)?;
    cursor.is_empty().then_some(())?;
    in_range(local.checked_sub(offset)?)
}

/// A single number: `2025` is a year, `20250614` a date, and `1` one second after 1970. The rule for other numbers is not
/// known (`docs/semantics.md §31`).
fn single_number(text: &str) -> Option<i64> {
    match text.len() {
        4 => Civil::date(text.parse().ok()?, 1, 1).to_ticks(),
        8 => compact_date(text.parse().ok()?).to_ticks(),
        14 => {
            let (day, clock) = text.split_at_checked(8)?;
            let clock: u32 = clock.parse().ok()?;
            let mut civil = compact_date(day.parse().ok()?);
            set_compact_clock(&mut civil, clock);
            civil.to_ticks()
        }
        _ => {
            let seconds: i64 = text.parse().ok()?;
            in_range(
                seconds
                    .checked_mul(TICKS_PER_SECOND)?
                    .checked_add(UNIX_EPOCH_TICKS)?,
            )
        }
    }
}

fn compact_date(digits: u32) -> Civil {
    Civil::date((digits / 10_000) as i32, digits / 100 % 100, digits % 100)
}

fn set_compact_clock(civil: &mut Civil, clock: u32) {
    civil.hour = clock / 10_000;
    civil.minute = clock / 100 % 100;
    civil.second = clock % 100;
}

fn date(cursor: &mut Cursor<'_>) -> Option<Civil> {
    if cursor.peek()?.is_ascii_digit() {
        return numeric_date(cursor);
    }
    let word = cursor.word();
    if let Some(month) = month_of(word) {
        return month_word_date(cursor, month);
    }
    is_weekday(word).then_some(())?;
    cursor.eat(b',');
    cursor.skip_space();
    if cursor.peek()?.is_ascii_digit() {
        return numeric_date(cursor);
    }
    let month = month_of(cursor.word())?;
    month_word_date(cursor, month)
}

/// A date that starts with a number: year first, month first, or day before the name of the month.
fn numeric_date(cursor: &mut Cursor<'_>) -> Option<Civil> {
    let first = cursor.digits()?;
    match cursor.peek()? {
        b'T' | b't' if first.count == 8 => Some(compact_date(first.value)),
        separator @ (b'-' | b'/' | b'.') => {
            cursor.bump();
            if cursor.peek()?.is_ascii_alphabetic() {
                let month = month_of(cursor.word())?;
                cursor.eat(separator).then_some(())?;
                return day_month_year(first, month, cursor.digits()?);
            }
            separated_date(cursor, first, separator)
        }
        _ if first.count == 8 => Some(compact_date(first.value)),
        _ => {
            cursor.skip_space().then_some(())?;
            let month = month_of(cursor.word())?;
            cursor.skip_space().then_some(())?;
            day_month_year(first, month, cursor.digits()?)
        }
    }
}

fn separated_date(cursor: &mut Cursor<'_>, first: Digits, separator: u8) -> Option<Civil> {
    let second = two_digits(cursor)?;
    if first.count == 4 {
        let day = if cursor.eat(separator) {
            two_digits(cursor)?
        } else {
            1
        };
        return Some(Civil::date(first.value as i32, second, day));
    }
    cursor.eat(separator).then_some(())?;
    if first.count > 2 {
        return None;
    }
    Some(Civil::date(year(cursor.digits()?)?, first.value, second))
}

/// `Dec 2, 2022`: the part after the name of the month.
fn month_word_date(cursor: &mut Cursor<'_>, month: u32) -> Option<Civil> {
    cursor.skip_space().then_some(())?;
    let day = cursor.digits()?;
    let comma = cursor.eat(b',');
    (cursor.skip_space() || comma).then_some(())?;
    day_month_year(day, month, cursor.digits()?)
}

fn day_month_year(day: Digits, month: u32, years: Digits) -> Option<Civil> {
    (day.count <= 2).then_some(())?;
    Some(Civil::date(year(years)?, month, day.value))
}

/// Two-digit years are in .NET's window 1930 to 2029; the cloud's rule is not measured (`docs/semantics.md §31`).
fn year(digits: Digits) -> Option<i32> {
    match (digits.count, digits.value as i32) {
        (4, year) => Some(year),
        (2, year) if year < 30 => Some(2000 + year),
        (2, year) => Some(1900 + year),
        _ => None,
    }
}

/// Whether a time of day follows. Consumes the separator.
fn at_time(cursor: &mut Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    let separated = ahead.skip_space() || ahead.eat(b'T') || ahead.eat(b't');
    let found = separated && ahead.peek().is_some_and(|b| b.is_ascii_digit());
    if found {
        *cursor = ahead;
    }
    found
}

fn time(cursor: &mut Cursor<'_>, civil: &mut Civil) -> Option<()> {
    let first = cursor.digits()?;
    if first.count == 6 {
        set_compact_clock(civil, first.value);
    } else {
        (first.count <= 2 && cursor.eat(b':')).then_some(())?;
        civil.hour = first.value;
        civil.minute = two_digits(cursor)?;
        if !cursor.eat(b':') {
            return Some(());
        }
        civil.second = two_digits(cursor)?;
    }
    if cursor.eat(b'.') {
        civil.tick_of_second = cursor.fraction()?;
    }
    Some(())
}

/// The offset from UTC in ticks: nothing, `Z`, `GMT`, `UTC`, `+02:00`, `-0500` or `+02`.
fn zone(cursor: &mut Cursor<'_>) -> Option<i64> {
    cursor.skip_space();
    let sign = match cursor.peek() {
        None => return Some(0),
        Some(b'+') => 1,
        Some(b'-') => -1,
        Some(_) => {
            let word = cursor.word();
            let utc = ["Z", "GMT", "UTC", "UT"];
            return utc
                .iter()
                .any(|name| word.eq_ignore_ascii_case(name.as_bytes()))
                .then_some(0);
        }
    };
    cursor.bump();
    let first = cursor.digits()?;
    let (hours, minutes) = match first.count {
        4 => (first.value / 100, first.value % 100),
        1 | 2 if cursor.eat(b':') => (first.value, two_digits(cursor)?),
        1 | 2 => (first.value, 0),
        _ => return None,
    };
    (hours <= 14 && minutes < 60).then_some(())?;
    Some(sign * (i64::from(hours) * TICKS_PER_HOUR + i64::from(minutes) * TICKS_PER_MINUTE))
}

fn two_digits(cursor: &mut Cursor<'_>) -> Option<u32> {
    let digits = cursor.digits()?;
    (digits.count <= 2).then_some(digits.value)
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const WEEKDAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

fn month_of(word: &[u8]) -> Option<u32> {
    let index = MONTHS.iter().position(|name| is_name(word, name))?;
    Some(index as u32 + 1)
}

fn is_weekday(word: &[u8]) -> bool {
    WEEKDAYS.iter().any(|name| is_name(word, name))
}

/// Whether `word` is `name` or its first three letters, ignoring case.
fn is_name(word: &[u8], name: &str) -> bool {
    word.eq_ignore_ascii_case(name.as_bytes())
        || name
            .get(..3)
            .is_some_and(|short| word.eq_ignore_ascii_case(short.as_bytes()))
}
