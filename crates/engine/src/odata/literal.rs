//! The literals of OData expressions.

use hindsight_kql_types::datetime;
use hindsight_kql_types::ticks::{TICKS_PER_HOUR, TICKS_PER_MINUTE, TICKS_PER_SECOND};

use super::ast::NodeKind;
use crate::time::parse_duration;

/// Reads a literal that starts with a digit, or a guid.
pub(crate) fn bare(text: &str) -> Option<NodeKind> {
    if is_guid(text) {
        // Ids are text in every table, so a guid is compared as it is written.
        return Some(NodeKind::Text(text.to_owned()));
    }
    if text.bytes().all(|b| b.is_ascii_digit()) {
        return text
            .parse()
            .map(NodeKind::Whole)
            .or_else(|_| text.parse().map(NodeKind::Real))
            .ok();
    }
    if is_date(text) {
        return datetime::parse(text).map(NodeKind::Moment);
    }
    if text.contains(':') {
        return time_of_day(text).map(NodeKind::Span);
    }
    let numeric = text
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    let value: f64 = numeric.then(|| text.parse().ok())??;
    value.is_finite().then_some(NodeKind::Real(value))
}

/// Reads `kind'text'`, such as `duration'PT1H'`, or says why it cannot.
pub(crate) fn prefixed(kind: &str, text: &str) -> Result<NodeKind, String> {
    match kind.to_ascii_lowercase().as_str() {
        "duration" => signed_duration(text).map(NodeKind::Span).ok_or_else(|| {
            format!("duration'{text}' is not an ISO 8601 duration such as duration'PT1H'.")
        }),
        "datetime" | "datetimeoffset" | "guid" | "time" => Err(format!(
            "{kind}'…' is of an older OData; write the value without prefix and quotes, such as 2025-01-31T12:00:00Z."
        )),
        _ => Err(format!("{kind}'…' literals are not supported.")),
    }
}

/// `8-4-4-4-12` hexadecimal digits.
pub(crate) fn is_guid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

/// Starts with `dddd-dd-dd`.
fn is_date(text: &str) -> bool {
    text.len() >= 10
        && text.bytes().take(10).enumerate().all(|(i, b)| match i {
            4 | 7 => b == b'-',
            _ => b.is_ascii_digit(),
        })
}

fn signed_duration(text: &str) -> Option<i64> {
    match text.strip_prefix('-') {
        Some(rest) => parse_duration(rest).map(|ticks| -ticks),
        None => parse_duration(text),
    }
}

/// `hh:mm[:ss[.f]]` as ticks since midnight.
fn time_of_day(text: &str) -> Option<i64> {
    let mut parts = text.split(':');
    let hours: i64 = two_digits(parts.next()?)?;
    let minutes: i64 = two_digits(parts.next()?)?;
    let seconds = match parts.next() {
        Some(part) if part.bytes().all(|b| b.is_ascii_digit() || b == b'.') => {
            part.parse::<f64>().ok()?
        }
        Some(_) => return None,
        None => 0.0,
    };
    let valid = parts.next().is_none() && hours < 24 && minutes < 60 && seconds < 60.0;
    let ticks = (seconds * TICKS_PER_SECOND as f64).round() as i64;
    valid.then(|| hours * TICKS_PER_HOUR + minutes * TICKS_PER_MINUTE + ticks)
}

fn two_digits(text: &str) -> Option<i64> {
    (text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day_have_their_bounds() {
        for (text, ticks) in [
            ("00:00", Some(0)),
            ("12:30:01.5", Some(450_015_000_000)),
            ("23:59:59.9999999", Some(863_999_999_999)),
            ("24:00", None),
            ("00:60", None),
            ("00:00:60", None),
            ("00:00:88888888888888888", None),
            ("00:00:1:2", None),
            ("0:00", None),
        ] {
            assert_eq!(time_of_day(text), ticks, "{text}");
        }
    }
}
