//! `AnyValue`: the values of attributes and the bodies of log records.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::Malformed;
use crate::wire::{Field, fields};

/// The most levels of arrays and maps within each other.
const MAX_DEPTH: usize = 64;

/// A value; arrays and maps are messages that are read when they are asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Value<'a> {
    /// No value: an empty message.
    Null,
    /// A text.
    Text(&'a str),
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A real number.
    Double(f64),
    /// Bytes.
    Bytes(&'a [u8]),
    /// An `ArrayValue`.
    Array(&'a [u8]),
    /// A `KeyValueList`.
    Map(&'a [u8]),
}

impl<'a> Value<'a> {
    /// The value of an `AnyValue`.
    pub(crate) fn read(message: &'a [u8]) -> Result<Value<'a>, Malformed> {
        let mut value = Value::Null;
        for field in fields(message) {
            value = match field? {
                (1, field) => Value::Text(field.text()?),
                (2, field) => Value::Bool(field.varint()? != 0),
                (3, field) => Value::Int(field.varint()?.cast_signed()),
                (4, field) => Value::Double(field.double()?),
                (5, field) => Value::Array(field.bytes()?),
                (6, field) => Value::Map(field.bytes()?),
                (7, field) => Value::Bytes(field.bytes()?),
                _ => value,
            };
        }
        Ok(value)
    }

    /// The value as the text of a custom dimension: a text as it is, all else as compact JSON; `None` for null.
    pub(crate) fn text(self) -> Result<Option<Cow<'a, str>>, Malformed> {
        Ok(Some(match self {
            Value::Null => return Ok(None),
            Value::Text(text) => Cow::Borrowed(text),
            Value::Bool(true) => Cow::Borrowed("true"),
            Value::Bool(false) => Cow::Borrowed("false"),
            Value::Int(value) => Cow::Owned(value.to_string()),
            Value::Double(value) => Cow::Owned(number(value)),
            Value::Bytes(bytes) => Cow::Owned(STANDARD.encode(bytes)),
            Value::Array(_) | Value::Map(_) => {
                let mut out = String::new();
                self.write_json(&mut out, 0)?;
                Cow::Owned(out)
            }
        }))
    }

    /// The value if it is a text.
    pub(crate) fn as_text(self) -> Option<&'a str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value as a number, which may be written as a text.
    pub(crate) fn as_number(self) -> Option<f64> {
        let number = match self {
            Value::Int(value) => value as f64,
            Value::Double(value) => value,
            Value::Text(text) => text.trim().parse().ok()?,
            _ => return None,
        };
        number.is_finite().then_some(number)
    }

    /// Whether the value is null, or a text without characters.
    pub(crate) fn is_empty(self) -> bool {
        matches!(self, Value::Null | Value::Text(""))
    }

    /// The pairs of a map; none of another value.
    pub(crate) fn pairs(self) -> Result<Vec<(&'a str, Value<'a>)>, Malformed> {
        let Value::Map(list) = self else {
            return Ok(Vec::new());
        };
        let mut pairs = Vec::new();
        for field in fields(list) {
            if let (1, field) = field? {
                pairs.push(pair(field)?);
            }
        }
        Ok(pairs)
    }

    /// The elements of an array; none of another value.
    pub(crate) fn elements(self) -> Result<Vec<Value<'a>>, Malformed> {
        let Value::Array(list) = self else {
            return Ok(Vec::new());
        };
        let mut elements = Vec::new();
        for field in fields(list) {
            if let (1, field) = field? {
                elements.push(Value::read(field.bytes()?)?);
            }
        }
        Ok(elements)
    }

    fn write_json(self, out: &mut String, depth: usize) -> Result<(), Malformed> {
        if depth > MAX_DEPTH {
            return Err(Malformed::TooDeep { limit: MAX_DEPTH });
        }
        match self {
            Value::Array(_) => {
                out.push('[');
                for (index, element) in self.elements()?.into_iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    element.write_json(out, depth + 1)?;
                }
                out.push(']');
            }
            Value::Map(_) => {
                out.push('{');
                for (index, (key, value)) in self.pairs()?.into_iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    quoted(key, out);
                    out.push(':');
                    value.write_json(out, depth + 1)?;
                }
                out.push('}');
            }
            Value::Null => out.push_str("null"),
            // JSON has no numbers that are not finite.
            Value::Double(value) if !value.is_finite() => quoted(&number(value), out),
            Value::Bool(_) | Value::Int(_) | Value::Double(_) => {
                out.push_str(&self.text()?.unwrap_or_default());
            }
            Value::Text(_) | Value::Bytes(_) => quoted(&self.text()?.unwrap_or_default(), out),
        }
        Ok(())
    }
}

/// The key and the value of a `KeyValue`.
pub(crate) fn pair(field: Field<'_>) -> Result<(&str, Value<'_>), Malformed> {
    let (mut key, mut value) = ("", Value::Null);
    for field in fields(field.bytes()?) {
        match field? {
            (1, field) => key = field.text()?,
            (2, field) => value = Value::read(field.bytes()?)?,
            _ => {}
        }
    }
    Ok((key, value))
}

/// A number as JavaScript writes it: `3` for 3.0, exponents from 10²¹ and below 10⁻⁶.
fn number(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    if (1e-6..1e21).contains(&value.abs()) {
        return value.to_string();
    }
    let text = format!("{value:e}");
    match text.split_once('e') {
        Some((digits, exponent)) if !exponent.starts_with('-') => format!("{digits}e+{exponent}"),
        _ => text,
    }
}

/// A text of JSON.
pub(crate) fn quoted(text: &str, out: &mut String) {
    use std::fmt::Write as _;
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => {
                // Writing to a text does not fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_javascript_writes_them() {
        let check = |value: f64, expected: &str| assert_eq!(number(value), expected);
        check(3.0, "3");
        check(-0.0, "0");
        check(2.5, "2.5");
        check(1e20, "100000000000000000000");
        check(1e21, "1e+21");
        check(-1.5e300, "-1.5e+300");
        check(1e-6, "0.000001");
        check(1.5e-7, "1.5e-7");
        check(f64::NAN, "NaN");
        check(f64::NEG_INFINITY, "-Infinity");
    }

    #[test]
    fn values_within_values_have_an_end() {
        let mut value = vec![];
        for _ in 0..1000 {
            let mut array = vec![0x0a];
            prost::encoding::encode_varint(value.len() as u64, &mut array);
            array.append(&mut value);
            value = vec![0x2a];
            prost::encoding::encode_varint(array.len() as u64, &mut value);
            value.append(&mut array);
        }
        let refused = Value::read(&value).unwrap().text();
        assert_eq!(refused, Err(Malformed::TooDeep { limit: MAX_DEPTH }));
    }

    #[test]
    fn texts_of_json_are_escaped() {
        let mut out = String::new();
        quoted("a\"\\\n\u{1}ž", &mut out);
        assert_eq!(out, "\"a\\\"\\\\\\n\\u0001ž\"");
    }
}
