//! The text forms of literals (`docs/semantics.md §1.3`): the text between the parentheses of `datetime(…)`, `timespan(…)`,
//! `long(…)` and the other types, and the escapes of strings.

mod number;
mod string;
mod time;

use hindsight_kql_types::{ScalarType, guid};

use crate::ast::Literal;

pub(crate) use number::{parse_integer, parse_real, signed_long};
pub(crate) use string::{decode_json_string, decode_string};
pub(crate) use time::{is_timespan_unit, parse_timespan_suffix, write_datetime, write_timespan};
pub use time::{parse_datetime, parse_timespan};

/// The literal `kind(raw)`; `None` if the text is not a literal of that type.
///
/// `string` and `dynamic` have no such form (the parser handles `dynamic(…)`).
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
        ScalarType::Guid => Literal::Guid(uuid::Uuid::from_bytes(guid::parse(unquoted(text)?)?)),
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

/// The text without one pair of quotes around it; `None` if a quote has no partner.
fn unquoted(text: &str) -> Option<&str> {
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote) {
            return rest.strip_suffix(quote).map(str::trim);
        }
    }
    Some(text)
}
