//! The rows that reservoirs keep.

use arrow::array::{RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::compute::{interleave, take};
use arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};

use crate::held::without_unused_bytes;
use crate::transform::{MAX_BATCH_BYTES, MAX_BATCH_ROWS};

/// A kept row: the number of a batch of [`KeptRows`], and a row of it.
pub(super) type Place = (usize, usize);

/// Rows that were taken from batches, without the memory of the other rows.
#[derive(Default)]
pub(super) struct KeptRows {
    batches: Vec<RecordBatch>,
    len: usize,
    bytes: usize,
}

impl KeptRows {
    /// Adds some rows of a batch, as one batch.
    pub(super) fn add(&mut self, batch: &RecordBatch, rows: Vec<u32>) -> Result<()> {
        let rows = UInt32Array::from(rows);
        let columns = batch.columns().iter().map(|c| take(c, &rows, None));
        let columns = columns.collect::<std::result::Result<_, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let batch = RecordBatch::try_new_with_options(batch.schema(), columns, &options)?;
        self.push(batch)
    }

    /// Adds a batch.
    pub(super) fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let batch = without_unused_bytes(batch)?;
        self.len += batch.num_rows();
        self.bytes += batch.get_array_memory_size();
        self.batches.push(batch);
        Ok(())
    }

    /// The number of batches.
    pub(super) fn batches(&self) -> usize {
        self.batches.len()
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The memory of all batches.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The number of rows of average size that are a batch.
    pub(super) fn batch_rows(&self) -> usize {
        let row = self.bytes.div_ceil(self.len.max(1));
        (MAX_BATCH_BYTES / row.max(1)).clamp(1, MAX_BATCH_ROWS)
    }

    /// The rows at these places, as one batch.
    pub(super) fn of(&self, places: &[Place]) -> Result<RecordBatch> {
        // Only the batches of these rows, because each batch costs time.
        let mut used: Vec<usize> = places.iter().map(|(batch, _)| *batch).collect();
        used.sort_unstable();
        used.dedup();
        let batches = used.iter().filter_map(|number| self.batches.get(*number));
        let batches: Vec<&RecordBatch> = batches.collect();
        let schema = schema(&batches)?;
        let places: Vec<Place> = places
            .iter()
            .map(|(batch, row)| (used.binary_search(batch).unwrap_or_default(), *row))
            .collect();
        let columns = (0..schema.fields().len()).map(|column| {
            let arrays: Vec<_> = batches.iter().map(|b| b.column(column).as_ref()).collect();
            interleave(&arrays, &places)
        });
        let columns = columns.collect::<std::result::Result<_, _>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(places.len()));
        Ok(RecordBatch::try_new_with_options(
            schema, columns, &options,
        )?)
    }
}

fn schema(batches: &[&RecordBatch]) -> Result<SchemaRef> {
    let first = batches.first().map(|batch| batch.schema());
    first.ok_or_else(|| DataFusionError::Internal("a kept row has no batch".to_owned()))
}
