//! One scalar value with its type, for literals, parameters and constant folding.

use crate::dynamic::{DynamicRef, Encoder, parse_json_into};
use crate::{ScalarType, convert, datetime, decimal, guid, number, real, timespan};

/// A scalar value. There is no null string: absent text is `""` (`docs/semantics.md §2`).
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Null of a type; never of `string`.
    Null(ScalarType),
    /// A bool.
    Bool(bool),
    /// An int.
    Int(i32),
    /// A long.
    Long(i64),
    /// A real.
    Real(f64),
    /// A decimal, scaled by [`decimal::ONE`].
    Decimal(i128),
    /// A string.
    String(String),
    /// A datetime in ticks.
    DateTime(i64),
    /// A timespan in ticks.
    TimeSpan(i64),
    /// A guid, in the order of its text.
    Guid([u8; 16]),
    /// A dynamic as encoded bytes, see [`crate::dynamic`].
    Dynamic(Vec<u8>),
}

impl Value {
    /// The type of the value.
    pub fn kind(&self) -> ScalarType {
        match self {
            Value::Null(kind) => *kind,
            Value::Bool(_) => ScalarType::Bool,
            Value::Int(_) => ScalarType::Int,
            Value::Long(_) => ScalarType::Long,
            Value::Real(_) => ScalarType::Real,
            Value::Decimal(_) => ScalarType::Decimal,
            Value::String(_) => ScalarType::String,
            Value::DateTime(_) => ScalarType::DateTime,
            Value::TimeSpan(_) => ScalarType::TimeSpan,
            Value::Guid(_) => ScalarType::Guid,
            Value::Dynamic(_) => ScalarType::Dynamic,
        }
    }

    /// The null of a type; for `string` that is `""`.
    pub fn null(kind: ScalarType) -> Value {
        match kind {
            ScalarType::String => Value::String(String::new()),
            kind => Value::Null(kind),
        }
    }

    /// Whether the value is null. A dynamic that holds null is null; a string never is.
    pub fn is_null(&self) -> bool {
        match self {
            Value::Null(kind) => *kind != ScalarType::String,
            Value::Dynamic(bytes) => DynamicRef::new(bytes).is_null(),
            _ => false,
        }
    }

    /// The text of `tostring`: null is `""`, bool is `True` or `False` (`docs/semantics.md §8.5`).
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        // Writing to a String never fails.
        let _ = self.write_text(&mut out);
        out
    }

    /// Appends the text of [`Value::to_text`].
    pub fn write_text(&self, out: &mut String) -> std::fmt::Result {
        use std::fmt::Write;
        match self {
            Value::Null(_) => Ok(()),
            Value::Bool(value) => out.write_str(if *value { "True" } else { "False" }),
            Value::Int(value) => write!(out, "{value}"),
            Value::Long(value) => write!(out, "{value}"),
            Value::Real(value) => real::write(*value, out),
            Value::Decimal(value) => decimal::write(*value, out),
            Value::String(value) => out.write_str(value),
            Value::DateTime(ticks) => datetime::write_full(*ticks, out),
            Value::TimeSpan(ticks) => timespan::write(*ticks, out),
            Value::Guid(value) => guid::write(value, out),
            Value::Dynamic(bytes) => {
                DynamicRef::new(bytes).to_text(out);
                Ok(())
            }
        }
    }

    /// Converts the value as the function of the type `to` does over rows (`tolong`, `tostring`, …): null if the conversion
    /// fails, never an error.
    pub fn convert(&self, to: ScalarType) -> Value {
        let converted = match to {
            _ if self.kind() == to => Some(self.clone()),
            ScalarType::Bool => self.to_bool().map(Value::Bool),
            ScalarType::Int => self.to_int().map(Value::Int),
            ScalarType::Long => self.to_long().map(Value::Long),
            ScalarType::Real => self.to_real().map(Value::Real),
            ScalarType::Decimal => self.to_decimal().map(Value::Decimal),
            ScalarType::String => Some(Value::String(self.to_text())),
            ScalarType::DateTime => self.to_datetime().map(Value::DateTime),
            ScalarType::TimeSpan => self.to_timespan().map(Value::TimeSpan),
            ScalarType::Guid => self.to_guid().map(Value::Guid),
            ScalarType::Dynamic => self.to_dynamic().map(Value::Dynamic),
        };
        converted.unwrap_or_else(|| Value::null(to))
    }

    /// Writes the value as packing functions (`bag_pack`, `make_list`, …) store it: datetime, timespan, decimal and
    /// guid as text, numbers as numbers (`docs/semantics.md §9.1`).
    pub fn pack(&self, encoder: &mut Encoder) {
        match self {
            Value::Null(_) => encoder.null(),
            Value::Bool(value) => encoder.bool(*value),
            Value::Int(value) => encoder.long(i64::from(*value)),
            Value::Long(value) => encoder.long(*value),
            Value::Real(value) => encoder.real(*value),
            Value::String(value) => encoder.string(value),
            Value::Dynamic(bytes) => encoder.dynamic(DynamicRef::new(bytes)),
            Value::Decimal(_) | Value::DateTime(_) | Value::TimeSpan(_) | Value::Guid(_) => {
                encoder.string(&self.to_text());
            }
        }
    }

    fn dynamic(&self) -> Option<DynamicRef<'_>> {
        match self {
            Value::Dynamic(bytes) => Some(DynamicRef::new(bytes)),
            _ => None,
        }
    }

    fn to_long(&self) -> Option<i64> {
        match self {
            Value::Bool(value) => Some(i64::from(*value)),
            Value::Int(value) => Some(i64::from(*value)),
            Value::Long(value) | Value::DateTime(value) | Value::TimeSpan(value) => Some(*value),
            Value::Real(value) => convert::long_from_real(*value),
            Value::Decimal(value) => convert::long_from_decimal(*value),
            Value::String(text) => number::parse_long(text),
            _ => self.dynamic()?.to_long(),
        }
    }

    fn to_int(&self) -> Option<i32> {
        match self {
            Value::Real(value) => convert::int_from_real(*value),
            Value::String(text) => number::parse_int(text),
            Value::Dynamic(bytes) => DynamicRef::new(bytes).to_int(),
            _ => self.to_long().map(convert::int_from_long),
        }
    }

    fn to_real(&self) -> Option<f64> {
        match self {
            Value::Real(value) => Some(*value),
            Value::Decimal(value) => Some(decimal::to_f64(*value)),
            Value::String(text) => real::parse_real(text),
            Value::Dynamic(bytes) => DynamicRef::new(bytes).to_real(),
            _ => self.to_long().map(convert::real_from_long),
        }
    }

    fn to_decimal(&self) -> Option<i128> {
        match self {
            Value::Bool(value) => Some(decimal::from_i64(i64::from(*value))),
            Value::Int(value) => Some(decimal::from_i64(i64::from(*value))),
            Value::Long(value) => Some(decimal::from_i64(*value)),
            Value::Real(value) => decimal::from_f64(*value),
            Value::String(text) => decimal::parse(text),
            _ => self.dynamic()?.to_decimal(),
        }
    }

    fn to_bool(&self) -> Option<bool> {
        match self {
            Value::Int(value) => Some(*value != 0),
            Value::Long(value) => Some(convert::bool_from_long(*value)),
            Value::Real(value) => Some(convert::bool_from_real(*value)),
            Value::Decimal(value) => Some(*value != 0),
            Value::String(text) => number::parse_bool(text),
            _ => self.dynamic()?.to_bool(),
        }
    }

    fn to_datetime(&self) -> Option<i64> {
        match self {
            Value::Int(value) => convert::datetime_from_long(i64::from(*value)),
            Value::Long(value) => convert::datetime_from_long(*value),
            Value::Real(value) => convert::datetime_from_real(*value),
            Value::Decimal(value) => convert::datetime_from_long(decimal::to_i64(*value)?),
            Value::String(text) => datetime::parse(text),
            _ => self.dynamic()?.to_datetime(),
        }
    }

    fn to_timespan(&self) -> Option<i64> {
        match self {
            Value::Real(value) => convert::timespan_from_real(*value),
            Value::String(text) => timespan::parse(text),
            Value::Dynamic(bytes) => DynamicRef::new(bytes).to_timespan(),
            _ => self.to_long(),
        }
    }

    fn to_guid(&self) -> Option<[u8; 16]> {
        match self {
            Value::String(text) => guid::parse(text),
            _ => self.dynamic()?.to_guid(),
        }
    }

    /// `todynamic`: text is parsed as JSON, any other value is packed, null stays null.
    fn to_dynamic(&self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        match self {
            Value::Null(_) => return None,
            Value::String(text) => parse_json_into(text, &mut out),
            _ => {
                let mut encoder = Encoder::new();
                self.pack(&mut encoder);
                encoder.finish_into(&mut out);
            }
        }
        (!DynamicRef::new(&out).is_null()).then_some(out)
    }
}
