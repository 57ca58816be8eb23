//! The owned tree of a dynamic value.

use super::{DynamicRef, Encoder, Kind, MAX_DEPTH};

/// A dynamic value as a tree, for literals, constant folding and tests. Queries over rows use [`DynamicRef`].
#[derive(Debug, Clone, PartialEq)]
pub enum Dynamic {
    /// Null.
    Null,
    /// A bool.
    Bool(bool),
    /// A long.
    Long(i64),
    /// A double. NaN and the infinities become text when they are encoded.
    Real(f64),
    /// A string.
    String(String),
    /// A datetime in ticks.
    DateTime(i64),
    /// An array.
    Array(Vec<Dynamic>),
    /// A bag in insertion order. A repeated key keeps its first position and its last value.
    Bag(Vec<(String, Dynamic)>),
}

impl Dynamic {
    /// The encoded value, metadata and value bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut encoder = Encoder::new();
        self.encode_to(&mut encoder);
        encoder.finish()
    }

    /// Writes the value to `encoder` as its next value.
    pub fn encode_to(&self, encoder: &mut Encoder) {
        match self {
            Dynamic::Null => encoder.null(),
            Dynamic::Bool(value) => encoder.bool(*value),
            Dynamic::Long(value) => encoder.long(*value),
            Dynamic::Real(value) => encoder.real(*value),
            Dynamic::String(value) => encoder.string(value),
            Dynamic::DateTime(ticks) => encoder.datetime(*ticks),
            Dynamic::Array(elements) => {
                encoder.begin_array();
                for element in elements {
                    element.encode_to(encoder);
                }
                encoder.end();
            }
            Dynamic::Bag(fields) => {
                encoder.begin_bag();
                for (key, value) in fields {
                    encoder.key(key);
                    value.encode_to(encoder);
                }
                encoder.end();
            }
        }
    }

    /// The tree of encoded bytes; null if they are invalid.
    pub fn decode(bytes: &[u8]) -> Dynamic {
        DynamicRef::new(bytes).to_owned()
    }

    /// Compact JSON in insertion order (`docs/semantics.md §9.6`).
    pub fn to_json(&self) -> String {
        DynamicRef::new(&self.encode()).to_json()
    }

    /// Appends compact JSON.
    pub fn write_json(&self, out: &mut String) {
        DynamicRef::new(&self.encode()).write_json(out);
    }

    /// JSON with the keys sorted at every level.
    pub fn to_canonical_json(&self) -> String {
        DynamicRef::new(&self.encode()).to_canonical_json()
    }
}

impl DynamicRef<'_> {
    /// The tree of this value.
    pub fn to_owned(self) -> Dynamic {
        own(self, 0)
    }
}

fn own(value: DynamicRef<'_>, depth: usize) -> Dynamic {
    let owned = match value.kind() {
        _ if depth > MAX_DEPTH => None,
        Kind::Null => None,
        Kind::Bool => value.as_bool().map(Dynamic::Bool),
        Kind::Long => value.as_i64().map(Dynamic::Long),
        Kind::Real => value.as_f64().map(Dynamic::Real),
        Kind::String => value.as_str().map(|text| Dynamic::String(text.to_owned())),
        Kind::DateTime => value.as_datetime().map(Dynamic::DateTime),
        Kind::Array => Some(Dynamic::Array(
            value.iter_array().map(|e| own(e, depth + 1)).collect(),
        )),
        Kind::Bag => Some(Dynamic::Bag(
            value
                .iter_bag()
                .map(|(key, e)| (key.to_owned(), own(e, depth + 1)))
                .collect(),
        )),
    };
    owned.unwrap_or(Dynamic::Null)
}
