//! Helpers of transforms: columns by name and rows by number.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::take;
use arrow::datatypes::{Int64Type, SchemaRef};
use datafusion::common::{DataFusionError, Result};

/// How many rows a batch of the output has at most.
const BATCH_ROWS: usize = 8192;

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

/// Output that was made at once and is handed out in batches of moderate size.
#[derive(Debug, Default)]
pub(crate) struct Slicer {
    batch: Option<RecordBatch>,
    next: usize,
}

impl Slicer {
    /// Hands out the rows of `arrays` from now on; what was left of earlier output is gone.
    pub(crate) fn set(
        &mut self,
        schema: &SchemaRef,
        arrays: Vec<ArrayRef>,
        rows: usize,
    ) -> Result<()> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        self.batch = Some(RecordBatch::try_new_with_options(
            Arc::clone(schema),
            arrays,
            &options,
        )?);
        self.next = 0;
        Ok(())
    }

    /// The next rows.
    pub(crate) fn pop(&mut self) -> Option<RecordBatch> {
        let batch = self.batch.as_ref()?;
        let rows = (batch.num_rows() - self.next).min(BATCH_ROWS);
        if rows == 0 {
            self.batch = None;
            return None;
        }
        let slice = batch.slice(self.next, rows);
        self.next += rows;
        Some(slice)
    }

    /// Bytes of what is held.
    pub(crate) fn memory(&self) -> usize {
        self.batch
            .as_ref()
            .map_or(0, RecordBatch::get_array_memory_size)
    }
}
