//! The text of a value of any type (`tostring`, `docs/semantics.md §8.5`).

use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringViewArray, StringViewBuilder};
use arrow::datatypes::{BinaryViewType, DataType, Float64Type};
use hindsight_kql_types::{DynamicRef, ScalarType, datetime, decimal, guid, real, timespan};

use super::cast::{decimals, longs};
use super::error::KernelError;
use super::limits::{CallLimits, MAX_TEXT};

/// The text of every row; null of any type is `""`.
pub fn to_text(array: &ArrayRef, kind: ScalarType) -> Result<StringViewArray, KernelError> {
    match kind {
        ScalarType::String => strings(array),
        ScalarType::Bool => {
            let array = array
                .as_boolean_opt()
                .ok_or_else(|| unexpected(array, kind))?;
            collect(array, |row, out| {
                out.write_str(if array.value(row) { "True" } else { "False" })
            })
        }
        ScalarType::Int | ScalarType::Long => integers(array, |value, out| write!(out, "{value}")),
        ScalarType::DateTime => integers(array, datetime::write_full),
        ScalarType::TimeSpan => integers(array, timespan::write),
        ScalarType::Real => {
            let values = array
                .as_primitive_opt::<Float64Type>()
                .ok_or_else(|| unexpected(array, kind))?;
            collect(values, |row, out| real::write(values.value(row), out))
        }
        ScalarType::Decimal => {
            let values = decimals(array)?;
            collect(&values, |row, out| decimal::write(values.value(row), out))
        }
        ScalarType::Guid => {
            let values = array
                .as_fixed_size_binary_opt()
                .ok_or_else(|| unexpected(array, kind))?;
            collect(values, |row, out| {
                match <&[u8; 16]>::try_from(values.value(row)) {
                    Ok(bytes) => guid::write(bytes, out),
                    Err(_) => Ok(()),
                }
            })
        }
        ScalarType::Dynamic => {
            let values = array.as_byte_view_opt::<BinaryViewType>();
            let values = values.ok_or_else(|| unexpected(array, kind))?;
            collect(values, |row, out| {
                DynamicRef::new(values.value(row)).to_text_within(MAX_TEXT, out);
                Ok(())
            })
        }
    }
}

/// A string column, unchanged unless it contains nulls or is not in the plan's layout.
fn strings(array: &ArrayRef) -> Result<StringViewArray, KernelError> {
    let array = match array.data_type() {
        DataType::Utf8View => Arc::clone(array),
        _ => arrow::compute::cast(array, &DataType::Utf8View)?,
    };
    let view = array.as_string_view();
    if view.null_count() == 0 {
        return Ok(view.clone());
    }
    // The view of an empty string is zero, so only views are copied.
    let empty_where_null =
        |(row, bytes): (usize, &u128)| if view.is_valid(row) { *bytes } else { 0 };
    let views: Vec<u128> = view
        .views()
        .iter()
        .enumerate()
        .map(empty_where_null)
        .collect();
    Ok(StringViewArray::try_new(
        views.into(),
        view.data_buffers().to_vec(),
        None,
    )?)
}

fn integers(
    array: &ArrayRef,
    write: impl Fn(i64, &mut String) -> std::fmt::Result,
) -> Result<StringViewArray, KernelError> {
    let values = longs(array)?;
    collect(&values, |row, out| write(values.value(row), out))
}

fn collect(
    array: &dyn Array,
    write: impl Fn(usize, &mut String) -> std::fmt::Result,
) -> Result<StringViewArray, KernelError> {
    let limits = CallLimits::new(array.len());
    let mut builder = StringViewBuilder::with_capacity(array.len());
    let mut text = String::new();
    for row in 0..array.len() {
        text.clear();
        // Writing to a string cannot fail.
        if array.is_valid(row) && write(row, &mut text).is_err() {
            text.clear();
        }
        if !(limits.begin_row() && limits.allows_length(text.len()) && limits.grow(text.len())) {
            break;
        }
        builder.append_value(&text);
    }
    let text = limits.finish(Arc::new(builder.finish()))?;
    Ok(text.as_string_view().clone())
}

fn unexpected(array: &ArrayRef, kind: ScalarType) -> KernelError {
    KernelError::Arrow(format!(
        "a column of {} is said to be {kind}",
        array.data_type()
    ))
}

#[cfg(test)]
mod tests {
    use arrow::array::{BooleanArray, Float64Array, Int64Array};

    use super::*;

    fn check(array: ArrayRef, kind: ScalarType, expected: &[&str]) {
        let text = to_text(&array, kind).expect("text");
        assert_eq!(
            text.iter().flatten().collect::<Vec<_>>(),
            expected,
            "{kind}"
        );
    }

    #[test]
    fn null_text_is_empty() {
        let long = "a text that does not fit into its view";
        check(
            Arc::new(StringViewArray::from(vec![Some(long), None, Some("b")])),
            ScalarType::String,
            &[long, "", "b"],
        );
    }

    #[test]
    fn every_type_has_its_text() {
        check(
            Arc::new(BooleanArray::from(vec![Some(true), Some(false), None])),
            ScalarType::Bool,
            &["True", "False", ""],
        );
        check(
            Arc::new(Int64Array::from(vec![Some(-12), None])),
            ScalarType::Long,
            &["-12", ""],
        );
        check(
            Arc::new(Int64Array::from(vec![0])),
            ScalarType::DateTime,
            &["0001-01-01T00:00:00.0000000Z"],
        );
        check(
            Arc::new(Int64Array::from(vec![864_000_000_000 + 5])),
            ScalarType::TimeSpan,
            &["1.00:00:00.0000005"],
        );
        check(
            Arc::new(Float64Array::from(vec![1.0, -0.0, f64::NEG_INFINITY])),
            ScalarType::Real,
            &["1.0", "-0.0", "-inf"],
        );
    }
}
