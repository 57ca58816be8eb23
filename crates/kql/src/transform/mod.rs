//! Physical work that DataFusion lacks: one extension node that runs a [`Transform`] over batches.
//!
//! An operator that needs its own loop over rows (`mv-expand`, window functions, `scan`, …) is a [`Transform`]: a datum
//! that says how it treats rows, and a state that is fed batches and gives batches back. [`KqlQueryPlanner`] turns such
//! nodes into physical plans; a session without it cannot run them.

mod exec;
mod grouped;
mod memory;
mod node;
mod only_input;
mod row_groups;

pub(crate) use exec::TransformExec;
pub(crate) use grouped::{by_group, by_keys};
pub(crate) use memory::{
    HeldBuffers, MAX_BATCH_BYTES, MAX_BATCH_ROWS, long_column, select_rows, shown_bytes,
};
pub(crate) use node::{TransformNode, depends_on_order, transform};
pub(crate) use only_input::only_input;

use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::physical_plan::ExecutionPlan;

pub(crate) use crate::datafusion::{InOrder, most_rows};

/// How a transform reads its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Each partition for itself, in any order.
    Partitions,
    /// All rows as one stream, in the order that the input defines, which the output keeps.
    OneStream,
}

/// Work over batches. `Debug` must tell two different transforms of one name apart: plans are compared by it.
pub(crate) trait Transform: Debug + Send + Sync {
    /// Its name in plans.
    fn name(&self) -> &'static str;

    /// How it reads its input.
    fn reads(&self) -> Reads;

    /// A filter by fields that only pass may run over the input: it leaves the same rows, or any of the rows will do.
    fn allows_predicate_pushdown(&self) -> bool {
        false
    }

    /// The fields of the input that it reads, where it finds them by name and passes the other fields on: those that
    /// nobody above reads then need not be there. None where it needs all fields as they are.
    fn required_columns(&self) -> Option<Vec<String>> {
        None
    }

    /// About how many rows it makes of `input` at most. That decides into how many parts rows are dealt out, never what
    /// the result is.
    fn most_rows(&self, input: &Arc<dyn ExecutionPlan>) -> usize {
        most_rows(input)
    }

    /// The state of one run.
    fn start(&self, input: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>>;
}

/// One run of a [`Transform`]. The driver calls `pop` until it gives nothing, then `push` with the next batch.
///
/// Between any two calls the driver sees whether the query was cancelled, so a call makes a moderate batch
/// ([`MAX_BATCH_ROWS`], [`MAX_BATCH_BYTES`]), whatever one row of the input asks for.
pub(crate) trait TransformState: Send {
    /// Takes the next batch of the input.
    fn push(&mut self, batch: RecordBatch) -> Result<()>;

    /// The input has ended.
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    /// The next batch of the output, where one is ready.
    fn pop(&mut self) -> Result<Option<RecordBatch>>;

    /// Bytes that the state holds beyond one batch; they are reserved from the query's memory.
    fn memory(&self) -> usize {
        0
    }

    /// Nothing of the rest of the input is wanted.
    fn done(&self) -> bool {
        false
    }
}
