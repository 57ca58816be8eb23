//! Converts an element of a dynamic to a type by its JSON kind, without parsing (`docs/semantics.md §18.1`).

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryViewBuilder, BooleanBuilder, FixedSizeBinaryBuilder, Float64Builder,
    Int32Builder, Int64Builder, StringViewBuilder, new_null_array,
};
use datafusion::common::Result;
use hindsight_kql_types::dynamic::Kind;
use hindsight_kql_types::{DynamicRef, ScalarType, datetime, guid};

use crate::kernel::{KernelError, MAX_TEXT};

/// The maximum size of an element beside its own text.
const VIEW: usize = 16;

/// Builds an array of one type from elements.
pub(crate) enum ElementBuilder {
    Bool(BooleanBuilder),
    Int(Int32Builder),
    Long(Int64Builder),
    Real(Float64Builder),
    String(StringViewBuilder, String),
    DateTime(Int64Builder),
    Guid(FixedSizeBinaryBuilder),
    Dynamic(BinaryViewBuilder, Vec<u8>),
    /// `timespan` and `decimal`: every element is null.
    Null(ScalarType, usize),
}

impl ElementBuilder {
    /// Creates a builder for elements of type `kind`.
    pub(crate) fn new(kind: ScalarType) -> ElementBuilder {
        match kind {
            ScalarType::Bool => ElementBuilder::Bool(BooleanBuilder::new()),
            ScalarType::Int => ElementBuilder::Int(Int32Builder::new()),
            ScalarType::Long => ElementBuilder::Long(Int64Builder::new()),
            ScalarType::Real => ElementBuilder::Real(Float64Builder::new()),
            ScalarType::String => ElementBuilder::String(StringViewBuilder::new(), String::new()),
            ScalarType::DateTime => ElementBuilder::DateTime(Int64Builder::new()),
            ScalarType::Guid => ElementBuilder::Guid(FixedSizeBinaryBuilder::new(16)),
            ScalarType::Dynamic => ElementBuilder::Dynamic(BinaryViewBuilder::new(), Vec::new()),
            ScalarType::TimeSpan | ScalarType::Decimal => ElementBuilder::Null(kind, 0),
        }
    }

    /// Appends an element, or null for a list that is too short; returns the approximate number of bytes added.
    pub(crate) fn push(&mut self, element: Option<DynamicRef<'_>>) -> Result<usize> {
        let element = element.filter(|e| !e.is_null());
        match self {
            ElementBuilder::Bool(out) => out.append_option(element.and_then(to_bool)),
            ElementBuilder::Int(out) => {
                out.append_option(element.filter(is_number).and_then(DynamicRef::to_int));
            }
            ElementBuilder::Long(out) => {
                out.append_option(element.filter(is_number).and_then(DynamicRef::to_long));
            }
            ElementBuilder::Real(out) => {
                out.append_option(element.filter(is_number).and_then(DynamicRef::to_real));
            }
            ElementBuilder::String(out, text) => {
                text.clear();
                if let Some(element) = element {
                    element.to_text_within(MAX_TEXT, text);
                }
                if text.len() > MAX_TEXT {
                    return Err(KernelError::TooLarge(MAX_TEXT).of("mv-expand"));
                }
                out.append_value(&*text);
                return Ok(VIEW + text.len());
            }
            ElementBuilder::DateTime(out) => out.append_option(element.and_then(to_datetime)),
            ElementBuilder::Guid(out) => {
                match element.and_then(DynamicRef::as_str).and_then(guid::parse) {
                    Some(value) => out.append_value(value)?,
                    None => out.append_null(),
                }
            }
            ElementBuilder::Dynamic(out, buffer) => match element {
                Some(element) => {
                    buffer.clear();
                    element.to_encoded(buffer);
                    out.append_value(&*buffer);
                    return Ok(VIEW + buffer.len());
                }
                None => out.append_null(),
            },
            ElementBuilder::Null(_, rows) => *rows += 1,
        }
        Ok(VIEW)
    }

    /// Returns the array and resets the builder.
    pub(crate) fn finish(&mut self) -> ArrayRef {
        match self {
            ElementBuilder::Bool(out) => Arc::new(out.finish()),
            ElementBuilder::Int(out) => Arc::new(out.finish()),
            ElementBuilder::Long(out) | ElementBuilder::DateTime(out) => Arc::new(out.finish()),
            ElementBuilder::Real(out) => Arc::new(out.finish()),
            ElementBuilder::String(out, _) => Arc::new(out.finish()),
            ElementBuilder::Guid(out) => Arc::new(out.finish()),
            ElementBuilder::Dynamic(out, _) => Arc::new(out.finish()),
            ElementBuilder::Null(kind, rows) => new_null_array(&kind.arrow(), std::mem::take(rows)),
        }
    }
}

fn is_number(value: &DynamicRef<'_>) -> bool {
    matches!(value.kind(), Kind::Long | Kind::Real)
}

/// A bool, or an integer.
fn to_bool(value: DynamicRef<'_>) -> Option<bool> {
    match value.kind() {
        Kind::Bool => value.as_bool(),
        Kind::Long => value.as_i64().map(|v| v != 0),
        Kind::Real => value
            .as_f64()
            .filter(|v| v.fract() == 0.0)
            .map(|v| v != 0.0),
        _ => None,
    }
}

/// Only text, or a datetime that a literal wrote.
fn to_datetime(value: DynamicRef<'_>) -> Option<i64> {
    value
        .as_datetime()
        .or_else(|| value.as_str().and_then(datetime::parse))
}
