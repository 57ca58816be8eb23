//! The text forms of literals (`semantics.md §1.3`): what stands between the parentheses of `datetime(…)`,
//! `timespan(…)`, `long(…)` and their kin, and the escapes of strings.

mod calendar;
mod datetime;
mod number;
mod string;
mod timespan;

use hindsight_kql_types::ScalarType;

use crate::ast::Literal;

pub(crate) use calendar::write_datetime;
pub use datetime::parse_datetime;
pub(crate) use number::{parse_integer, parse_real, signed_long};
pub(crate) use string::{decode_json_string, decode_string};
pub use timespan::{parse_timespan, parse_timespan_suffix};
pub(crate) use timespan::{timespan_unit, write_timespan};

/// Ticks of 100 ns in a second.
pub(crate) const TICKS_PER_SECOND: i64 = 10_000_000;
/// Ticks in a day.
pub(crate) const TICKS_PER_DAY: i64 = 86_400 * TICKS_PER_SECOND;

/// The literal `kind(raw)`, or nothing where the text is no literal of that type.
///
/// `string` and `dynamic` have no such form (the inside of `dynamic(…)` is read by the parser).
pub fn parse_typed(kind: ScalarType, raw: &str) -> Option<Literal> {
    let text = raw.trim();
    if text == "null" && kind != ScalarType::String {
        return Some(Literal::Null(kind));
    }
    Some(match kind {
        ScalarType::Bool => Literal::Bool(parse_bool(text)?),
        ScalarType::Int => Literal::Int(number::parse_int(text)?),
        ScalarType::Long => Literal::Long(signed_long(text)?),
        ScalarType::Real => Literal::Real(number::parse_real_literal(text)?),
        ScalarType::Decimal => Literal::Decimal(number::normalise_decimal(text)?),
        ScalarType::DateTime if text.is_empty() => Literal::DateTimeNow,
        ScalarType::DateTime => Literal::DateTime(parse_datetime(unquoted(text)?)?),
        ScalarType::TimeSpan => Literal::TimeSpan(parse_timespan(unquoted(text)?)?),
        ScalarType::Guid => Literal::Guid(parse_guid(unquoted(text)?)?),
        ScalarType::String | ScalarType::Dynamic => return None,
    })
}

/// `true`, `false` in their spellings, and numbers.
fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => signed_long(text).map(|number| number != 0),
    }
}

/// 32 hex digits, with or without hyphens.
fn parse_guid(text: &str) -> Option<uuid::Uuid> {
    let digits: String = text.chars().filter(|c| *c != '-').collect();
    if digits.len() != 32 || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    u128::from_str_radix(&digits, 16)
        .ok()
        .map(uuid::Uuid::from_u128)
}

/// The text without one pair of quotes around it; nothing when a quote is left alone.
fn unquoted(text: &str) -> Option<&str> {
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote) {
            return rest.strip_suffix(quote).map(str::trim);
        }
    }
    Some(text)
}
