//! The pieces of JSON that all replies are made of.

use std::fmt::Write;

use hindsight_kql_types::{datetime, ticks};

/// Appends a JSON string with its quotes.
pub(crate) fn string(text: &str, out: &mut String) {
    out.push('"');
    // Most texts have nothing to escape: looking at many bytes at once costs less than copying piece by piece.
    let special = |chunk: &[u8]| chunk.iter().fold(false, |any, b| any | must_escape(*b));
    if text.as_bytes().chunks(32).any(special) {
        escaped(text, out);
    } else {
        out.push_str(text);
    }
    out.push('"');
}

const fn must_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn escaped(text: &str, out: &mut String) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f => "",
            _ => continue,
        };
        out.push_str(text.get(from..at).unwrap_or_default());
        if escape.is_empty() {
            // Writing into a text cannot fail.
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(escape);
        }
        from = at + 1;
    }
    out.push_str(text.get(from..).unwrap_or_default());
}

/// Appends a key with its colon.
pub(crate) fn key(name: &str, out: &mut String) {
    string(name, out);
    out.push(':');
}

/// Appends a real: the shortest digits that read back the same, whole numbers without a fraction, and what JSON has
/// no number for as a text.
pub(crate) fn real(value: f64, out: &mut String) {
    if value.is_finite() {
        let mut buffer = ryu::Buffer::new();
        let text = buffer.format_finite(value);
        out.push_str(text.strip_suffix(".0").unwrap_or(text));
    } else if value.is_nan() {
        out.push_str("\"NaN\"");
    } else {
        out.push_str(if value > 0.0 {
            "\"Infinity\""
        } else {
            "\"-Infinity\""
        });
    }
}

/// Appends an integer.
pub(crate) fn integer(value: i64, out: &mut String) {
    out.push_str(itoa::Buffer::new().format(value));
}

/// Appends a time as a JSON string, the fraction trimmed (`D21`).
pub(crate) fn time(at: i64, out: &mut String) {
    out.push('"');
    let _ = datetime::write_trimmed(at, out);
    out.push('"');
}

/// A time as text, the fraction trimmed (`D21`).
pub(crate) fn time_text(at: i64) -> String {
    let mut text = String::new();
    let _ = datetime::write_trimmed(at, &mut text);
    text
}

/// Appends a time with exactly three digits of fraction, as metrics show it (`D21`).
pub(crate) fn time_milliseconds(at: i64, out: &mut String) {
    let full_milliseconds = ticks::to_unix_millis(at);
    let milliseconds = full_milliseconds.rem_euclid(1000);
    let mut second = String::new();
    let whole = ticks::from_unix_millis(full_milliseconds - milliseconds).unwrap_or(at);
    let _ = datetime::write_trimmed(whole, &mut second);
    let _ = write!(
        out,
        "\"{}.{milliseconds:03}Z\"",
        second.trim_end_matches('Z')
    );
}

/// Writes a list with commas between its items.
pub(crate) fn list<T>(
    items: impl IntoIterator<Item = T>,
    out: &mut String,
    mut write: impl FnMut(T, &mut String),
) {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(item, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped() {
        let check = |text: &str, expected: &str| {
            let mut out = String::new();
            string(text, &mut out);
            assert_eq!(out, expected);
            assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
        };
        check("plain ä €", r#""plain ä €""#);
        check("a\"b\\c\nd\u{1}", r#""a\"b\\c\nd\u0001""#);
        check("", r#""""#);
    }

    #[test]
    fn reals_are_short_and_never_endless() {
        let check = |value: f64, expected: &str| {
            let mut out = String::new();
            real(value, &mut out);
            assert_eq!(out, expected);
        };
        check(591.0, "591");
        check(0.1 + 0.2, "0.30000000000000004");
        check(1e300, "1e300");
        check(-2.5e-9, "-2.5e-9");
        check(0.0, "0");
        check(-0.0, "-0");
        check(1e16, "1e16");
        check(9_999_999_999_999_998.0, "9999999999999998");
        check(1e-5, "0.00001");
        check(9e-6, "9e-6");
        check(f64::MAX, "1.7976931348623157e308");
        check(5e-324, "5e-324");
        check(f64::NAN, "\"NaN\"");
        check(f64::NEG_INFINITY, "\"-Infinity\"");
    }

    #[test]
    fn times_are_trimmed_or_have_milliseconds() {
        let at = datetime::parse("2024-05-06T07:08:09.5Z").unwrap();
        let mut out = String::new();
        time(at, &mut out);
        time_milliseconds(at, &mut out);
        time_milliseconds(datetime::parse("2024-05-06").unwrap(), &mut out);
        assert_eq!(
            out,
            r#""2024-05-06T07:08:09.5Z""2024-05-06T07:08:09.500Z""2024-05-06T00:00:00.000Z""#
        );
    }
}
