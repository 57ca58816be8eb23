//! Columns by name, rows by number, and the bytes that a row shows.

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{DataFusionError, Result};

/// The bytes of one row as they are read: a text counts in every row that shows it, also where rows share it in memory.
pub(crate) fn shown_bytes(columns: &[ArrayRef], row: usize) -> usize {
    let cell = |array: &ArrayRef| match array.data_type() {
        DataType::Utf8View => array.as_string_view().views().get(row).map(view_length),
        DataType::BinaryView => array.as_binary_view().views().get(row).map(view_length),
        other => other.primitive_width(),
    };
    columns.iter().map(|c| cell(c).unwrap_or(16)).sum()
}

/// The low half of a view is the value's length.
fn view_length(view: &u128) -> usize {
    *view as u32 as usize
}

/// The rows `rows` of every array; a `None` row is null.
pub(crate) fn select_rows(arrays: &[ArrayRef], rows: &UInt32Array) -> Result<Vec<ArrayRef>> {
    arrays
        .iter()
        .map(|array| Ok(take(array.as_ref(), rows, None)?))
        .collect()
}

/// The 64-bit column called `name`.
pub(crate) fn long_column(batch: &RecordBatch, name: &str) -> Result<Int64Array> {
    batch
        .column_by_name(name)
        .and_then(|array| array.as_primitive_opt::<Int64Type>())
        .cloned()
        .ok_or_else(|| DataFusionError::Internal(format!("no 64-bit field '{name}'")))
}
