//! What an executed plan has read.

use std::time::Duration;

use arrow::record_batch::RecordBatch;
use datafusion::catalog::memory::{DataSourceExec, MemorySourceConfig};
use datafusion::physical_plan::ExecutionPlan;

use crate::result::Statistics;

/// The name of the node whose metrics say what other nodes have read.
pub(crate) const DISTRIBUTED: &str = "DistributedExec";
/// Its metric of rows.
pub(crate) const ROWS_SCANNED: &str = "rows_scanned";
/// Its metric of bytes, and that of scans of files.
pub(crate) const BYTES_SCANNED: &str = "bytes_scanned";

/// Adds the rows and bytes that the leaves of an executed plan read, here and at other nodes, and the compute time of its nodes.
pub(crate) fn scanned(plan: &dyn ExecutionPlan, statistics: &mut Statistics) {
    let computed = plan.metrics().and_then(|metrics| metrics.elapsed_compute());
    statistics.cpu_time += Duration::from_nanos(computed.unwrap_or(0) as u64);
    if plan.name() == DISTRIBUTED
        && let Some(metrics) = plan.metrics()
    {
        let sum = |name| metrics.sum_by_name(name).map_or(0, |v| v.as_usize()) as u64;
        statistics.rows_scanned += sum(ROWS_SCANNED);
        statistics.bytes_scanned += sum(BYTES_SCANNED);
    } else if let Some(rows) = rows_in_memory(plan) {
        statistics.rows_scanned += rows as u64;
    } else if plan.children().is_empty()
        && let Some(metrics) = plan.metrics()
    {
        statistics.rows_scanned += metrics.output_rows().unwrap_or(0) as u64;
        statistics.bytes_scanned += metrics
            .sum_by_name(BYTES_SCANNED)
            .map_or(0, |v| v.as_usize()) as u64;
    }
    for child in plan.children() {
        scanned(child.as_ref(), statistics);
    }
}

/// The rows of an in-memory scan, which has no metrics.
fn rows_in_memory(plan: &dyn ExecutionPlan) -> Option<usize> {
    let source = plan.downcast_ref::<DataSourceExec>()?.data_source();
    let memory = source.downcast_ref::<MemorySourceConfig>()?;
    let rows = memory.partitions().iter().flatten();
    Some(rows.map(RecordBatch::num_rows).sum())
}
