//! Number literals.

/// `int(…)`: 32 bits; hexadecimal wraps (`0xFFFFFFFF` is -1).
pub(crate) fn parse_int(text: &str) -> Option<i32> {
    match hexadecimal(text) {
        Some(hex) => u32::try_from(hex?).ok().map(|bits| bits as i32),
        None => decimal_integer(text)?.try_into().ok(),
    }
}

/// `long(…)` and the signed numbers of `datatable`: 64 bits; hexadecimal wraps and takes no sign.
pub(crate) fn signed_long(text: &str) -> Option<i64> {
    match hexadecimal(text) {
        Some(hex) => hex.map(|bits| bits as i64),
        None => decimal_integer(text)?.try_into().ok(),
    }
}

/// A bare number token: digits or hexadecimal.
pub(crate) fn parse_integer(text: &str) -> Option<i64> {
    signed_long(text)
}

/// The bits of a `0x…` text: `None` if the text is not hexadecimal, `Some(None)` if it has too many digits.
fn hexadecimal(text: &str) -> Option<Option<u64>> {
    let digits = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))?;
    let valid = (1..=16).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    Some(
        valid
            .then(|| u64::from_str_radix(digits, 16).ok())
            .flatten(),
    )
}

fn decimal_integer(text: &str) -> Option<i128> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// A bare real token: digits with a fraction or an exponent.
pub(crate) fn parse_real(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// `real(…)`: a number, `nan`, `inf`, `+inf`, `-inf`.
pub(crate) fn parse_real_literal(text: &str) -> Option<f64> {
    match text.to_ascii_lowercase().as_str() {
        "nan" => return Some(f64::NAN),
        "inf" | "+inf" => return Some(f64::INFINITY),
        "-inf" => return Some(f64::NEG_INFINITY),
        _ => {}
    }
    if hexadecimal(text).is_some() {
        return signed_long(text).map(|number| number as f64);
    }
    let numeric = text
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    if !numeric {
        return None;
    }
    text.parse().ok()
}

/// `decimal(…)`: the digits as `-?digits[.digits][e±n]`, without leading zeros or a plus sign.
pub(crate) fn normalise_decimal(text: &str) -> Option<String> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(decimal_integer(exponent)?)),
        None => (digits, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    let mut out = format!("{sign}{}", if whole.is_empty() { "0" } else { whole });
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    if let Some(exponent) = exponent {
        out.push_str(&format!("e{exponent}"));
    }
    Some(out)
}
