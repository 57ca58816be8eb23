//! Literals as text.

use std::fmt::{self, Display, Formatter};

use super::Commas;
use crate::ast::{DynamicLiteral, Literal};

/// Writes a string literal.
pub(super) fn write_string(f: &mut Formatter<'_>, quote: char, text: &str) -> fmt::Result {
    use fmt::Write;
    f.write_char(quote)?;
    for c in text.chars() {
        match c {
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if c == quote => write!(f, "\\{c}")?,
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                write!(f, "\\u{:04x}", c as u32)?
            }
            c => f.write_char(c)?,
        }
    }
    f.write_char(quote)
}

/// Writes a literal whose sign needs no parentheses: in `datatable` and in parameters.
pub(super) fn write_signed(f: &mut Formatter<'_>, literal: &Literal) -> fmt::Result {
    match literal {
        Literal::Long(value) => write!(f, "{value}"),
        Literal::Real(value) if value.is_finite() => write!(f, "{value:?}"),
        _ => literal.fmt(f),
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Bool(value) => write!(f, "{value}"),
            Literal::Int(value) => write!(f, "int({value})"),
            Literal::Long(value) if *value < 0 => write!(f, "long({value})"),
            Literal::Long(value) => write!(f, "{value}"),
            Literal::Real(value) => write_real(f, *value),
            Literal::Decimal(text) => write!(f, "decimal({text})"),
            Literal::String(text) => write_string(f, '"', text),
            Literal::DateTime(ticks) => crate::literal::write_datetime(f, *ticks),
            Literal::DateTimeNow => f.write_str("datetime()"),
            Literal::TimeSpan(ticks) => crate::literal::write_timespan(f, *ticks),
            Literal::Guid(value) => write!(f, "guid({value})"),
            Literal::Dynamic(value) => write!(f, "dynamic({value})"),
            Literal::Null(kind) => write!(f, "{}(null)", kind.name()),
        }
    }
}

fn write_real(f: &mut Formatter<'_>, value: f64) -> fmt::Result {
    if value.is_nan() {
        f.write_str("real(nan)")
    } else if value.is_infinite() {
        f.write_str(if value > 0.0 {
            "real(+inf)"
        } else {
            "real(-inf)"
        })
    } else if value.is_sign_negative() {
        write!(f, "real({value:?})")
    } else {
        write!(f, "{value:?}")
    }
}

impl Display for DynamicLiteral {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            DynamicLiteral::Null => f.write_str("null"),
            DynamicLiteral::Bool(value) => write!(f, "{value}"),
            DynamicLiteral::Long(value) => write!(f, "{value}"),
            DynamicLiteral::Real(value) if value.is_finite() => write!(f, "{value:?}"),
            DynamicLiteral::Real(value) => write_real(f, *value),
            DynamicLiteral::String(text) => write_string(f, '"', text),
            DynamicLiteral::DateTime(ticks) => crate::literal::write_datetime(f, *ticks),
            DynamicLiteral::Array(items) => write!(f, "[{}]", Commas(items)),
            DynamicLiteral::Bag(entries) => {
                f.write_str("{")?;
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        f.write_str(", ")?;
                    }
                    write_string(f, '"', key)?;
                    write!(f, ": {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}
