//! Rows that are kept in memory, with the memory that they take reserved.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::Result;
use datafusion::execution::context::SessionContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use datafusion::logical_expr::LogicalPlan;
use futures::StreamExt;

use crate::transform::HeldBuffers;

/// Batches, and the reservation of their memory; both go together.
#[derive(Debug)]
pub struct HeldRows {
    batches: Vec<RecordBatch>,
    reservation: MemoryReservation,
    held: HeldBuffers,
}

/// Views whose buffers hold more than this beyond what they show are copied, so that the buffers can go.
const WASTE: usize = 1 << 20;

impl HeldRows {
    /// No rows yet. `name` says in messages who keeps them.
    pub fn new(name: &str, pool: &Arc<dyn MemoryPool>) -> HeldRows {
        HeldRows {
            batches: Vec::new(),
            reservation: MemoryConsumer::new(name).register(pool),
            held: HeldBuffers::default(),
        }
    }

    /// Keeps a batch.
    ///
    /// # Errors
    /// `ResourcesExhausted` where the pool has not as much left.
    pub fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let batch = without_waste(batch)?;
        let bytes = self.held.add(&batch);
        self.reservation.try_grow(bytes)?;
        self.batches.push(batch);
        Ok(())
    }

    /// The batches.
    pub fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }

    /// The batches alone: whoever has them answers for their memory.
    pub fn take(self) -> Vec<RecordBatch> {
        self.batches
    }

    /// The batches under `schema`, which may differ from theirs in what it says about nulls and metadata.
    ///
    /// # Errors
    /// A schema that does not fit.
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

    /// Every row of a plan. `name` is the operator that keeps them.
    ///
    /// # Errors
    /// What the plan fails with, or `ResourcesExhausted`.
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

/// The same rows; views that point into far larger buffers get buffers of their own.
fn without_waste(batch: RecordBatch) -> Result<RecordBatch> {
    let columns: Vec<ArrayRef> = batch
        .columns()
        .iter()
        .map(|column| match column.data_type() {
            DataType::Utf8View => {
                let views = column.as_string_view();
                let shown = views.total_buffer_bytes_used();
                if is_wasteful(views.data_buffers(), shown) {
                    Arc::new(views.gc())
                } else {
                    Arc::clone(column)
                }
            }
            DataType::BinaryView => {
                let views = column.as_binary_view();
                let shown = views.total_buffer_bytes_used();
                if is_wasteful(views.data_buffers(), shown) {
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

fn is_wasteful(buffers: &[arrow::buffer::Buffer], shown: usize) -> bool {
    let held: usize = buffers.iter().map(arrow::buffer::Buffer::len).sum();
    held > WASTE && held / 2 > shown
}
