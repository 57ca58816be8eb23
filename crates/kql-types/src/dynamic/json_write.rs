//! The text forms of dynamic values (`docs/semantics.md §8.5, §9.6`).

use std::fmt::Write;

use super::{DynamicRef, Kind, MAX_DEPTH};
use crate::{datetime, real};

impl<'a> DynamicRef<'a> {
    /// Appends compact JSON: no white space, keys in insertion order, doubles with a fraction or an exponent.
    pub fn write_json(self, out: &mut String) {
        Form::UNLIMITED.write(self, 0, out);
    }

    /// Compact JSON, see [`DynamicRef::write_json`].
    pub fn to_json(self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    /// JSON with the keys sorted at every level, the text of `dynamic_to_json`.
    pub fn to_canonical_json(self) -> String {
        self.to_canonical_json_within(usize::MAX)
    }

    /// As [`DynamicRef::to_canonical_json`]; of a text of more than `limit` bytes only a part that is longer than `limit`.
    pub fn to_canonical_json_within(self, limit: usize) -> String {
        let mut out = String::new();
        let form = Form {
            sorted: true,
            limit,
        };
        form.write(self, 0, &mut out);
        out
    }

    /// Appends the text of `tostring`: the characters of a string, nothing for null, JSON for any other value.
    pub fn to_text(self, out: &mut String) {
        self.to_text_within(usize::MAX, out);
    }

    /// As [`DynamicRef::to_text`]; when `out` has more than `limit` bytes, the rest of an array or bag is left out.
    pub fn to_text_within(self, limit: usize, out: &mut String) {
        match self.kind() {
            Kind::Null => {}
            Kind::String => out.push_str(self.as_str().unwrap_or_default()),
            Kind::DateTime => {
                let ticks = self.as_datetime().unwrap_or_default();
                // Writing to a String never fails.
                let _ = datetime::write_full(ticks, out);
            }
            _ => Form {
                sorted: false,
                limit,
            }
            .write(self, 0, out),
        }
    }
}

/// How a value is written as JSON.
#[derive(Debug, Clone, Copy)]
struct Form {
    /// Whether the keys of bags are sorted.
    sorted: bool,
    /// The length of the text after which nothing more needs to be written.
    limit: usize,
}

impl Form {
    const UNLIMITED: Form = Form {
        sorted: false,
        limit: usize::MAX,
    };

    fn write(self, value: DynamicRef<'_>, depth: usize, out: &mut String) {
        match value.kind() {
            Kind::Array | Kind::Bag if depth > MAX_DEPTH => out.push_str("null"),
            Kind::Array => self.write_array(value, depth, out),
            Kind::Bag => self.write_bag(value, depth, out),
            _ => self.write_scalar(value, out),
        }
    }

    fn write_array(self, value: DynamicRef<'_>, depth: usize, out: &mut String) {
        out.push('[');
        for (index, element) in value.iter_array().enumerate() {
            if out.len() > self.limit {
                return;
            }
            if index > 0 {
                out.push(',');
            }
            self.write(element, depth + 1, out);
        }
        out.push(']');
    }

    fn write_bag(self, value: DynamicRef<'_>, depth: usize, out: &mut String) {
        out.push('{');
        let fields = if self.sorted {
            value.iter_bag_sorted()
        } else {
            value.iter_bag()
        };
        for (index, (key, element)) in fields.enumerate() {
            if out.len() > self.limit {
                return;
            }
            if index > 0 {
                out.push(',');
            }
            write_string(key, self.limit, out);
            out.push(':');
            self.write(element, depth + 1, out);
        }
        out.push('}');
    }

    fn write_scalar(self, value: DynamicRef<'_>, out: &mut String) {
        // Writing to a String never fails.
        let _ = if let Some(text) = value.as_str() {
            write_string(text, self.limit, out);
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
    write_string(text, usize::MAX, out);
}

/// As [`write_json_string`]; when `out` has more than `limit` bytes, the rest is left out.
fn write_string(text: &str, limit: usize, out: &mut String) {
    out.push('"');
    let mut clean = 0;
    for (index, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        if out.len() > limit {
            return;
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
