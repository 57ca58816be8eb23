//! The text forms of dynamic values (`docs/semantics.md §8.5, §9.6`).

use std::fmt::Write;

use super::{DynamicRef, Kind, MAX_DEPTH};
use crate::{datetime, real};

impl<'a> DynamicRef<'a> {
    /// Appends compact JSON: no white space, keys in insertion order, doubles with a fraction or an exponent.
    pub fn write_json(self, out: &mut String) {
        write_value(self, false, 0, out);
    }

    /// Compact JSON, see [`DynamicRef::write_json`].
    pub fn to_json(self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    /// JSON with the keys sorted at every level, the text of `dynamic_to_json`.
    pub fn to_canonical_json(self) -> String {
        let mut out = String::new();
        write_value(self, true, 0, &mut out);
        out
    }

    /// Appends the text of `tostring`: the characters of a string, nothing for null, JSON for any other value.
    pub fn to_text(self, out: &mut String) {
        match self.kind() {
            Kind::Null => {}
            Kind::String => out.push_str(self.as_str().unwrap_or_default()),
            Kind::DateTime => {
                let ticks = self.as_datetime().unwrap_or_default();
                // Writing to a String never fails.
                let _ = datetime::write_full(ticks, out);
            }
            _ => self.write_json(out),
        }
    }
}

fn write_value(value: DynamicRef<'_>, sorted: bool, depth: usize, out: &mut String) {
    // Writing to a String never fails.
    let _ = match value.kind() {
        Kind::Array | Kind::Bag if depth > MAX_DEPTH => write!(out, "null"),
        Kind::Array => {
            write_array(value, sorted, depth, out);
            Ok(())
        }
        Kind::Bag => {
            write_bag(value, sorted, depth, out);
            Ok(())
        }
        _ => {
            write_scalar(value, out);
            Ok(())
        }
    };
}

fn write_array(value: DynamicRef<'_>, sorted: bool, depth: usize, out: &mut String) {
    out.push('[');
    for (index, element) in value.iter_array().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_value(element, sorted, depth + 1, out);
    }
    out.push(']');
}

fn write_bag(value: DynamicRef<'_>, sorted: bool, depth: usize, out: &mut String) {
    out.push('{');
    let fields = if sorted {
        value.iter_bag_sorted()
    } else {
        value.iter_bag()
    };
    for (index, (key, element)) in fields.enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_json_string(key, out);
        out.push(':');
        write_value(element, sorted, depth + 1, out);
    }
    out.push('}');
}

fn write_scalar(value: DynamicRef<'_>, out: &mut String) {
    // Writing to a String never fails.
    let _ = if let Some(text) = value.as_str() {
        write_json_string(text, out);
        Ok(())
    } else if let Some(number) = value.as_i64() {
        write!(out, "{number}")
    } else if let Some(number) = value.as_f64() {
        write_double(number, out)
    } else if let Some(ticks) = value.as_datetime() {
        out.push('"');
        let written = datetime::write_full(ticks, out);
        out.push('"');
        written
    } else {
        out.write_str(match value.as_bool() {
            Some(true) => "true",
            Some(false) => "false",
            None => "null",
        })
    };
}

fn write_double(number: f64, out: &mut String) -> std::fmt::Result {
    if number.is_finite() {
        real::write(number, out)
    } else {
        real::write_json(number, out)
    }
}

/// Appends `text` as a JSON string with its quotes.
pub fn write_json_string(text: &str, out: &mut String) {
    out.push('"');
    let mut clean = 0;
    for (index, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(text.get(clean..index).unwrap_or_default());
        clean = index + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0C => out.push_str("\\f"),
            _ => {
                // Writing to a String never fails.
                let _ = write!(out, "\\u{byte:04x}");
            }
        }
    }
    out.push_str(text.get(clean..).unwrap_or_default());
    out.push('"');
}
