//! Text of datetimes: the full form of `tostring` and the trimmed form of result cells.

use std::fmt;

use super::Civil;

const FRACTION_AT: usize = 19;

/// Writes the form of `tostring` and of dynamic values: always seven digits, `2020-01-02T03:04:05.6000000Z`
/// (`docs/semantics.md §8.5`).
pub fn write_full(ticks: i64, out: &mut impl fmt::Write) -> fmt::Result {
    let civil = Civil::from_ticks(ticks);
    let mut text = [0u8; FRACTION_AT + 9];
    fill(&civil, &mut text);
    push_ascii(&text, out)
}

/// Writes the form of result cells: without trailing zeros of the fraction, and without a fraction that is zero, `2007-01-02T00:00:00Z` (`docs/semantics.md §28.2`).
pub fn write_trimmed(ticks: i64, out: &mut impl fmt::Write) -> fmt::Result {
    let civil = Civil::from_ticks(ticks);
    let mut text = [0u8; FRACTION_AT + 9];
    fill(&civil, &mut text);
    let (head, fraction) = text.split_at(FRACTION_AT);
    push_ascii(head, out)?;
    if civil.tick_of_second != 0 {
        let digits = fraction.strip_suffix(b"Z").unwrap_or(fraction);
        let zeros = digits.iter().rev().take_while(|d| **d == b'0').count();
        push_ascii(digits.get(..digits.len() - zeros).unwrap_or(digits), out)?;
    }
    out.write_char('Z')
}

fn fill(civil: &Civil, text: &mut [u8; FRACTION_AT + 9]) {
    text.copy_from_slice(b"0000-00-00T00:00:00.0000000Z");
    // Only the year of a tick count outside the datetime range needs the modulo.
    put(&mut text[0..4], civil.year.unsigned_abs());
    put(&mut text[5..7], civil.month);
    put(&mut text[8..10], civil.day);
    put(&mut text[11..13], civil.hour);
    put(&mut text[14..16], civil.minute);
    put(&mut text[17..19], civil.second);
    put(&mut text[20..27], civil.tick_of_second);
}

fn put(digits: &mut [u8], mut number: u32) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

fn push_ascii(bytes: &[u8], out: &mut impl fmt::Write) -> fmt::Result {
    out.write_str(std::str::from_utf8(bytes).unwrap_or_default())
}
