//! Materialized rows in memory, with a memory reservation.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions};
use arrow::buffer::Buffer;
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::Result;
use datafusion::execution::context::SessionContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use datafusion::logical_expr::LogicalPlan;
use futures::StreamExt;

use crate::transform::HeldBuffers;

/// Batches with the reservation of their memory; both are dropped together.
#[derive(Debug)]
pub struct HeldRows {
    batches: Vec<RecordBatch>,
    reservation: MemoryReservation,
    held: HeldBuffers,
}

/// Views whose buffers exceed the referenced bytes by more than this are copied, so that the buffers are freed.
const MAX_UNUSED_BYTES: usize = 1 << 20;

impl HeldRows {
    /// Creates an empty container. `name` identifies the memory consumer in messages.
    pub fn new(name: &str, pool: &Arc<dyn MemoryPool>) -> HeldRows {
        HeldRows {
            batches: Vec::new(),
            reservation: MemoryConsumer::new(name).register(pool),
            held: HeldBuffers::default(),
        }
    }

    /// Adds a batch and reserves its memory.
    ///
    /// # Errors
    /// `ResourcesExhausted` if the memory pool has too little left.
    pub fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let batch = compacted(batch)?;
        let bytes = self.held.add(&batch);
        self.reservation.try_grow(bytes)?;
        self.batches.push(batch);
        Ok(())
    }

    /// The batches.
    pub fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }

    /// Returns the batches and frees the reservation; the caller accounts for their memory.
    pub fn take(self) -> Vec<RecordBatch> {
        self.batches
    }

    /// The batches under `schema`, which may differ from theirs in nullability and metadata.
    ///
    /// # Errors
    /// The schema does not match the batches.
    pub fn with_schema(mut self, schema: &SchemaRef) -> Result<HeldRows> {
        for batch in &mut self.batches {
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            *batch = RecordBatch::try_new_with_options(
                Arc::clone(schema),
                batch.columns().to_vec(),
                &options,
            )?;
        }
        Ok(self)
    }

    /// Executes a plan and collects all rows. `name` is the operator that materializes them.
    ///
    /// # Errors
    /// An error of the plan, or `ResourcesExhausted`.
    pub async fn collect(
        name: &str,
        plan: LogicalPlan,
        context: &SessionContext,
    ) -> Result<HeldRows> {
        let mut held = HeldRows::new(name, &context.runtime_env().memory_pool);
        let frame = context.execute_logical_plan(plan).await?;
        let mut stream = frame.execute_stream().await?;
        while let Some(batch) = stream.next().await {
            let batch = batch?;
            if batch.num_rows() > 0 {
                held.push(batch)?;
            }
        }
        Ok(held)
    }
}

/// The same rows; views that reference far larger buffers are copied into new buffers.
fn compacted(batch: RecordBatch) -> Result<RecordBatch> {
    copy_views(batch, has_unused_bytes)
}

/// The same rows; views that do not reference all bytes of their buffers are copied into new buffers.
pub(crate) fn without_unused_bytes(batch: RecordBatch) -> Result<RecordBatch> {
    copy_views(batch, |buffers, shown| length(buffers) > shown)
}

/// The same rows; views are copied into new buffers if `is_copied` is true of their buffers and the referenced bytes.
fn copy_views(batch: RecordBatch, is_copied: fn(&[Buffer], usize) -> bool) -> Result<RecordBatch> {
    let columns: Vec<ArrayRef> = batch
        .columns()
        .iter()
        .map(|column| match column.data_type() {
            DataType::Utf8View => {
                let views = column.as_string_view();
                let shown = views.total_buffer_bytes_used();
                if is_copied(views.data_buffers(), shown) {
                    Arc::new(views.gc())
                } else {
                    Arc::clone(column)
                }
            }
            DataType::BinaryView => {
                let views = column.as_binary_view();
                let shown = views.total_buffer_bytes_used();
                if is_copied(views.data_buffers(), shown) {
                    Arc::new(views.gc())
                } else {
                    Arc::clone(column)
                }
            }
            _ => Arc::clone(column),
        })
        .collect();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(
        batch.schema(),
        columns,
        &options,
    )?)
}

fn length(buffers: &[Buffer]) -> usize {
    buffers.iter().map(Buffer::len).sum()
}

fn has_unused_bytes(buffers: &[Buffer], shown: usize) -> bool {
    let held = length(buffers);
    held > MAX_UNUSED_BYTES && held / 2 > shown
}
