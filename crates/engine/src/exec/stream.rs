//! Reading a plan's rows within the limits of a result.

use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use datafusion::common::Result;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use hindsight_kql::HeldRows;

use super::Limits;
use crate::result::PartialError;

/// Reads a plan's rows until a limit is met; the rest is not computed.
pub(super) async fn read(
    plan: Arc<dyn ExecutionPlan>,
    context: &SessionContext,
    limits: Limits,
) -> Result<(Vec<RecordBatch>, Option<PartialError>)> {
    let mut stream = execute_stream(plan, context.task_ctx())?;
    let mut held = HeldRows::new("the result", &context.runtime_env().memory_pool);
    let (mut rows, mut bytes) = (0_u64, 0_u64);
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        let left = usize::try_from(limits.rows - rows).unwrap_or(usize::MAX);
        if batch.num_rows() > left {
            held.push(batch.slice(0, left))?;
            return Ok((held.take(), Some(too_large("record count", limits.rows))));
        }
        bytes += data_bytes(&batch);
        if bytes > limits.bytes {
            let room = limits.bytes - (bytes - data_bytes(&batch));
            held.push(batch.slice(0, rows_within(&batch, room)))?;
            return Ok((held.take(), Some(too_large("data size", limits.bytes))));
        }
        rows += batch.num_rows() as u64;
        if batch.num_rows() > 0 {
            held.push(batch)?;
        }
    }
    Ok((held.take(), None))
}

/// The bytes of the rows themselves: views share their buffers with other batches, so buffers are not counted whole.
fn data_bytes(batch: &RecordBatch) -> u64 {
    use arrow::array::AsArray;
    use arrow::datatypes::DataType;
    let column = |array: &arrow::array::ArrayRef| match array.data_type() {
        DataType::Utf8View => array.as_string_view().lengths().map(u64::from).sum(),
        DataType::BinaryView => array.as_binary_view().lengths().map(u64::from).sum(),
        other => (other.primitive_width().unwrap_or(1) * array.len()) as u64,
    };
    batch.columns().iter().map(column).sum()
}

/// How many rows from the first fit into `room` bytes.
fn rows_within(batch: &RecordBatch, room: u64) -> usize {
    let (mut fits, mut over) = (0, batch.num_rows());
    while over - fits > 1 {
        let middle = fits + (over - fits) / 2;
        match data_bytes(&batch.slice(0, middle)) <= room {
            true => fits = middle,
            false => over = middle,
        }
    }
    fits
}

fn too_large(what: &str, limit: u64) -> PartialError {
    PartialError {
        message: format!(
            "Query result set has exceeded the internal {what} limit {limit} (E_QUERY_RESULT_SET_TOO_LARGE; see https://aka.ms/kustoquerylimits)"
        ),
    }
}
