//! The runtime of operators that DataFusion lacks: one extension node that runs a [`Transform`] over batches.
//!
//! An operator that needs its own loop over rows (`mv-expand`, window functions, `scan`, …) is a [`Transform`]: a value
//! that declares how the operator treats rows, and a state that takes batches and returns batches. The query planner of
//! this crate turns such nodes into physical plans; a session without it cannot run them.

mod columns;
mod exec;
mod grouped;
mod in_order;
mod memory;
mod node;
mod only_input;
mod row_groups;

pub(crate) use columns::{long_column, select_rows, shown_bytes};
pub(crate) use exec::TransformExec;
pub(crate) use grouped::by_keys;
pub(crate) use in_order::InOrder;
pub(crate) use memory::{HeldBuffers, MAX_BATCH_BYTES, MAX_BATCH_ROWS};
pub(crate) use node::{TransformNode, depends_on_order, transformed};
pub(crate) use only_input::only_input;

use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::physical_plan::ExecutionPlan;

/// How a transform reads its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Each partition for itself, in any order.
    Partitions,
    /// All rows as one stream, in the order that the input defines, which the output keeps.
    OneStream,
}

/// An operator over batches. `Debug` must tell two different transforms of one name apart: plans are compared by it.
pub(crate) trait Transform: Debug + Send + Sync {
    /// Its name in plans.
    fn name(&self) -> &'static str;

    /// How it reads its input.
    fn reads(&self) -> Reads;

    /// Whether a predicate over fields that only pass may be evaluated on the input: the same rows remain, or any of the
    /// rows will do.
    fn allows_predicate_pushdown(&self) -> bool {
        false
    }

    /// The fields of the input that it reads, if it finds them by name and passes the other fields on: of those the input
    /// then needs only the ones that are read above. None if it needs all fields as they are.
    fn required_columns(&self) -> Option<Vec<String>> {
        None
    }

    /// The cardinality estimate of the output over `input`, which has an estimated `input_rows` rows. The estimate decides
    /// how many partitions rows are hashed into, never what the result is.
    fn estimated_rows(&self, input: &Arc<dyn ExecutionPlan>, input_rows: usize) -> usize {
        let _ = input;
        input_rows
    }

    /// The state of one run.
    fn start(&self, input: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>>;
}

/// One run of a [`Transform`]. The driver calls `pop` until it returns nothing, then `push` with the next batch.
///
/// The driver checks for cancellation between any two calls, so a call returns a batch of bounded size
/// ([`MAX_BATCH_ROWS`], [`MAX_BATCH_BYTES`]), however many rows one row of the input makes.
pub(crate) trait TransformState: Send {
    /// Takes the next batch of the input.
    fn push(&mut self, batch: RecordBatch) -> Result<()>;

    /// The input has ended.
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    /// The next batch of the output, if one is ready.
    fn pop(&mut self) -> Result<Option<RecordBatch>>;

    /// Bytes that the state holds beyond one batch; the driver reserves them in the query's memory.
    fn memory(&self) -> usize {
        0
    }

    /// Whether the state needs no more of the input.
    fn done(&self) -> bool {
        false
    }
}
