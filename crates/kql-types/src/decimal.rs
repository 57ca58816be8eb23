//! Decimals: 38 digits, 12 of them after the point, as one scaled `i128` (Arrow `Decimal128(38, 12)`).

use std::fmt;

use crate::DECIMAL_SCALE;
use crate::real::is_number;

/// The scaled value of the decimal 1.
pub const ONE: i128 = 10i128.pow(DECIMAL_SCALE as u32);
/// The greatest scaled value.
pub const MAX: i128 = 10i128.pow(38) - 1;

/// Parses a decimal: sign, digits, fraction and exponent, with optional white space around. Returns the scaled value.
///
/// The fraction is rounded to twelve digits, half away from zero. `None` if `text` is not a number or too large.
pub fn parse(text: &str) -> Option<i128> {
    let text = text.trim_ascii();
    is_number(text.as_bytes()).then_some(())?;
    let negative = text.starts_with('-');
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = whole.trim_start_matches('0');
    let point = (whole.len() as i32).checked_add(exponent)?;
    let digits = whole.bytes().chain(fraction.bytes());
    let value = scaled(digits, point.checked_add(i32::from(DECIMAL_SCALE))?)?;
    Some(if negative { -value } else { value })
}

/// The first `keep` digits as a number, padded with zeros and rounded by the next digit.
fn scaled(digits: impl Iterator<Item = u8>, keep: i32) -> Option<i128> {
    let mut value = 0i128;
    let mut taken = 0;
    for digit in digits.map(|b| i128::from(b.wrapping_sub(b'0'))) {
        if taken == keep {
            return checked(value + i128::from(digit >= 5));
        }
        if taken > keep {
            return Some(0);
        }
        value = checked(value.checked_mul(10)?.checked_add(digit)?)?;
        taken += 1;
    }
    if value == 0 {
        return Some(0);
    }
    let zeros = u32::try_from(keep - taken).ok()?;
    checked(value.checked_mul(10i128.checked_pow(zeros)?)?)
}

/// `value` if it has at most 38 digits.
pub fn checked(value: i128) -> Option<i128> {
    (-MAX..=MAX).contains(&value).then_some(value)
}

/// Writes plain digits, without an exponent, padding or trailing zeros (`docs/semantics.md §8.5`).
pub fn write(value: i128, out: &mut impl fmt::Write) -> fmt::Result {
    if value < 0 {
        out.write_char('-')?;
    }
    let magnitude = value.unsigned_abs();
    let one = ONE.unsigned_abs();
    write!(out, "{}", magnitude / one)?;
    let mut fraction = magnitude % one;
    if fraction == 0 {
        return Ok(());
    }
    let mut width = DECIMAL_SCALE as usize;
    while fraction.is_multiple_of(10) {
        fraction /= 10;
        width -= 1;
    }
    write!(out, ".{fraction:0width$}")
}

/// The text of [`write`].
pub fn to_text(value: i128) -> String {
    let mut text = String::new();
    // Writing to a String never fails.
    let _ = write(value, &mut text);
    text
}

/// The decimal with the shortest digits that parse to `value`; `None` for NaN, infinity and numbers that are too large.
pub fn from_f64(value: f64) -> Option<i128> {
    value.is_finite().then(|| parse(&format!("{value:e}")))?
}

/// The decimal of an integer. Every `long` fits.
pub fn from_i64(value: i64) -> i128 {
    i128::from(value) * ONE
}

/// The closest real.
pub fn to_f64(value: i128) -> f64 {
    const EXACT: u128 = 1 << 53;
    if value.unsigned_abs() <= EXACT {
        return value as f64 / ONE as f64;
    }
    to_text(value).parse().unwrap_or(f64::NAN)
}

/// The value truncated towards zero; `None` if it does not fit a `long`.
pub fn to_i64(value: i128) -> Option<i64> {
    i64::try_from(value / ONE).ok()
}
