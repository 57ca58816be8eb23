//! Text to `long`, `int` and `bool` (`docs/semantics.md §8.1, §8.4`).

/// The `long` that `text` writes: decimal digits with an optional sign, or `0x` hex without one, blanks around
/// allowed. Out of range is `None`; hex of 64 bits wraps (`0xFFFFFFFFFFFFFFFF` is -1).
pub fn parse_long(text: &str) -> Option<i64> {
    let text = text.trim_ascii();
    match hex_digits(text) {
        Some(digits) => parse_hex(digits).map(|bits| bits as i64),
        None => is_decimal(text).then(|| text.parse().ok()).flatten(),
    }
}

/// The `int` that `text` writes, by the rules of [`parse_long`]; hex wraps to 32 bits.
pub fn parse_int(text: &str) -> Option<i32> {
    let text = text.trim_ascii();
    match hex_digits(text) {
        Some(digits) => parse_hex(digits).map(|bits| bits as i32),
        None => is_decimal(text).then(|| text.parse().ok()).flatten(),
    }
}

/// The `bool` that `text` writes: `true` or `false` in any case, or integer text by whether it is zero.
///
/// Blanks are allowed around integers but not around the words: one of two conflicting measurements, the one that
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

/// Refuses what `str::parse` would take or reject differently: only a sign and digits pass.
fn is_decimal(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}
