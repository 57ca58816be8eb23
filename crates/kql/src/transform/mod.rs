//! The runtime of operators that DataFusion lacks: an extension node that runs a [`Transform`] over batches.
//!
//! An operator that needs its own loop over rows (`mv-expand`, window functions, `scan`, …) is a [`Transform`]: a value that
//! declares how the operator treats rows, and a state that accepts batches and returns batches. The query planner of this
//! crate plans the physical nodes; a session without it cannot execute them.

mod columns;
mod exec;
mod grouped;
mod in_order;
mod key_numbers;
mod memory;
pub(crate) mod message;
mod node;
mod only_input;
mod row_groups;

pub(crate) use columns::{long_column, row_bytes, select_rows};
pub(crate) use exec::TransformExec;
pub(crate) use grouped::by_keys;
pub(crate) use in_order::InOrder;
pub(crate) use key_numbers::KeyNumbers;
pub(crate) use memory::{HeldBuffers, MAX_BATCH_BYTES, MAX_BATCH_ROWS};
pub(crate) use message::{READS_ONE_STREAM, TransformMessage};
pub(crate) use node::{
    TransformNode, depends_on_order, random_rows, transformed, with_wider_input,
};
pub(crate) use only_input::only_input;

use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::physical_plan::ExecutionPlan;

use crate::random::RandomSource;

/// How a transform reads its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Each partition separately, in any order.
    Partitions,
    /// All rows as one stream, in the order that the input defines. The output keeps the order.
    OneStream,
}

/// An operator over batches. `Debug` must distinguish different transforms of one name, because plans are compared by it.
pub(crate) trait Transform: Debug + Send + Sync {
    /// Its name in plans.
    fn name(&self) -> &'static str;

    /// How it reads its input.
    fn reads(&self) -> Reads;

    /// Whether each output row depends on one input row alone. A transform that reads partitions may still depend on the rows of its partition.
    fn is_row_wise(&self) -> bool {
        false
    }

    /// Whether a predicate over fields that are passed through may be evaluated on the input: either the same rows remain, or
    /// the transform may return any of the rows.
    fn allows_predicate_pushdown(&self) -> bool {
        false
    }

    /// The fields of the input that it reads, if it finds them by name and passes the other fields through; of those, the
    /// input only needs the ones that the plan above reads. None if it needs all fields unchanged.
    fn required_columns(&self) -> Option<Vec<String>> {
        None
    }

    /// Whether each output row is an input row: the output has the fields of the input, whichever they are, then those that it
    /// adds.
    fn keeps_rows(&self) -> bool {
        false
    }

    /// The cardinality estimate of the output over `input`, which has an estimated `input_rows` rows. The estimate determines
    /// the number of hash partitions, never the result.
    fn estimated_rows(&self, input: &Arc<dyn ExecutionPlan>, input_rows: usize) -> usize {
        let _ = input;
        input_rows
    }

    /// The maximum number of rows and their origin, if the output is that many random rows of all input rows. A source that can
    /// read rows by number may then draw them ([`crate::RandomRowSource`]).
    fn random_rows(&self) -> Option<(usize, &RandomSource)> {
        None
    }

    /// Its message, from which another process makes the same transform, or why it runs only where the query was planned.
    fn message(&self) -> std::result::Result<TransformMessage, &'static str>;

    /// The state of one run.
    fn start(&self, input: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>>;
}

/// One run of a [`Transform`]. The driver calls `pop` until it returns none, then `push` with the next batch.
///
/// The driver checks for cancellation between any two calls, so a call returns a batch of bounded size
/// ([`MAX_BATCH_ROWS`], [`MAX_BATCH_BYTES`]), however many rows one row of the input makes.
pub(crate) trait TransformState: Send {
    /// Accepts the next batch of the input.
    fn push(&mut self, batch: RecordBatch) -> Result<()>;

    /// Signals the end of the input.
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    /// The next batch of the output, if one is ready.
    fn pop(&mut self) -> Result<Option<RecordBatch>>;

    /// The bytes that the state retains beyond one batch; the driver reserves them in the query's memory pool.
    fn memory(&self) -> usize {
        0
    }

    /// Whether the state needs no further input.
    fn done(&self) -> bool {
        false
    }
}
