//! Selects columns by name and rows by number, and measures the bytes of a row.

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{DataFusionError, Result};

/// The size of one row as it is read: a text counts in every row that contains it, even if rows share its buffer.
pub(crate) fn row_bytes(columns: &[ArrayRef], row: usize) -> usize {
    let cell = |array: &ArrayRef| match array.data_type() {
        DataType::Utf8View => array.as_string_view().views().get(row).map(view_length),
        DataType::BinaryView => array.as_binary_view().views().get(row).map(view_length),
        other => other.primitive_width(),
    };
    columns.iter().map(|c| cell(c).unwrap_or(16)).sum()
}

/// The low half of a view is the length of its value.
fn view_length(view: &u128) -> usize {
    *view as u32 as usize
}

/// Selects the rows `rows` of every array; a `None` row is null.
pub(crate) fn select_rows(arrays: &[ArrayRef], rows: &UInt32Array) -> Result<Vec<ArrayRef>> {
    arrays
        .iter()
        .map(|array| Ok(take(array.as_ref(), rows, None)?))
        .collect()
}

/// The 64-bit integer column named `name`.
pub(crate) fn long_column(batch: &RecordBatch, name: &str) -> Result<Int64Array> {
    batch
        .column_by_name(name)
        .and_then(|array| array.as_primitive_opt::<Int64Type>())
        .cloned()
        .ok_or_else(|| DataFusionError::Internal(format!("no 64-bit field '{name}'")))
}
