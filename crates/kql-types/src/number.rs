//! Text to `long`, `int` and `bool` (`docs/semantics.md §8.1, §8.4`).

/// Parses a `long`: decimal digits with an optional sign, or `0x` and hexadecimal digits without one, with optional white
/// space around. `None` if out of range; 64-bit hexadecimal wraps (`0xFFFFFFFFFFFFFFFF` is -1).
pub fn parse_long(text: &str) -> Option<i64> {
    let text = text.trim_ascii();
    match hex_digits(text) {
        Some(digits) => parse_hex(digits).map(|bits| bits as i64),
        None => is_decimal(text).then(|| text.parse().ok()).flatten(),
    }
}

/// Parses an `int` by the rules of [`parse_long`]; hexadecimal wraps to 32 bits.
pub fn parse_int(text: &str) -> Option<i32> {
    let text = text.trim_ascii();
    match hex_digits(text) {
        Some(digits) => parse_hex(digits).map(|bits| bits as i32),
        None => is_decimal(text).then(|| text.parse().ok()).flatten(),
    }
}

/// Parses a `bool`: `true` or `false` in any case, or an integer, which is true if it is not zero.
///
/// White space is allowed around integers but not around the words. Of two conflicting measurements this is the one that
/// was recorded (`docs/semantics.md §31`).
pub fn parse_bool(text: &str) -> Option<bool> {
    if text.eq_ignore_ascii_case("true") {
        return Some(true);
    }
    if text.eq_ignore_ascii_case("false") {
        return Some(false);
    }
    parse_long(text).map(|number| number != 0)
}

fn hex_digits(text: &str) -> Option<&str> {
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))
}

fn parse_hex(digits: &str) -> Option<u64> {
    let hex =
        !digits.is_empty() && digits.len() <= 16 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    hex.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}

/// Accepts only a sign and digits, so that the differences between `str::parse` and KQL do not matter.
fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}
