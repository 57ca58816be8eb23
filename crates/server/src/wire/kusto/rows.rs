//! Rows as the protocol prints them: reals with a fraction, dynamic values as JSON.

use arrow::array::Array;
use arrow::record_batch::RecordBatch;
use hindsight_engine::ResultColumn;

use super::super::cell::{Cells, DynamicForm};
use super::super::json;

/// The columns of a batch, whose types are known once.
pub(super) fn cells<'b>(columns: &[ResultColumn], batch: &'b RecordBatch) -> Vec<Cells<'b>> {
    columns
        .iter()
        .zip(batch.columns())
        .map(|(column, array)| Cells::new(column.kind, array))
        .collect()
}

/// Appends a row as a JSON array.
pub(super) fn write(cells: &[Cells<'_>], row: usize, out: &mut String) {
    out.push('[');
    json::list(cells, out, |cell, out| match cell {
        Cells::Real(array) if array.is_valid(row) && array.value(row).is_finite() => {
            out.push_str(ryu::Buffer::new().format_finite(array.value(row)));
        }
        cell => cell.write(row, DynamicForm::Nested, out),
    });
    out.push(']');
}
