//! The profile of a query, for measurements: how long its planning took, and the time of each operator of its plan.
//!
//! The profile of each result is a line of the log at the level `debug`, which `log.filter=info,hindsight_engine::profile=debug` writes.
//! `bench/stages.py` makes a table of them.

use std::fmt::Write;
use std::time::Duration;

use datafusion::physical_plan::ExecutionPlan;
use tracing::Level;

/// The metric in which a scan of files counts its time; other operators use `elapsed_compute`.
const SCAN_TIME: &str = "time_elapsed_processing";

/// The stages before a result runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Planning {
    /// From the request to the bound query.
    pub(crate) binding: Duration,
    /// The logical optimiser.
    pub(crate) optimising: Duration,
    /// From the optimised logical plan to the physical plan.
    pub(crate) physical: Duration,
}

/// Logs the profile of a plan that has run.
pub(crate) fn log(planning: Planning, plan: &dyn ExecutionPlan) {
    if !tracing::enabled!(Level::DEBUG) {
        return;
    }
    let mut operators = String::new();
    add_operators(plan, &mut operators);
    tracing::debug!(
        binding_us = planning.binding.as_micros(),
        optimising_us = planning.optimising.as_micros(),
        physical_us = planning.physical.as_micros(),
        operators = operators.trim_end(),
        "profile"
    );
}

/// Adds `name:microseconds:rows` of each operator, of all its partitions together, from the root to the leaves.
fn add_operators(plan: &dyn ExecutionPlan, out: &mut String) {
    if let Some(metrics) = plan.metrics() {
        let scanning = metrics.sum_by_name(SCAN_TIME).map(|time| time.as_usize());
        let nanos = scanning.or(metrics.elapsed_compute()).unwrap_or(0);
        let rows = metrics.output_rows().unwrap_or(0);
        // Writing into a text cannot fail.
        let _ = write!(out, "{}:{}:{rows} ", plan.name(), nanos / 1000);
    }
    for child in plan.children() {
        add_operators(child.as_ref(), out);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array};
    use arrow::record_batch::RecordBatch;
    use datafusion::catalog::memory::MemorySourceConfig;
    use datafusion::execution::TaskContext;
    use datafusion::physical_expr::expressions::col;
    use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
    use datafusion::physical_plan::collect;
    use datafusion::physical_plan::sorts::sort::SortExec;

    use super::*;

    #[tokio::test]
    async fn operators_are_listed_from_the_root_with_their_rows() {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![3, 1, 2]));
        let batch = RecordBatch::try_from_iter([("x", numbers)]).expect("a batch");
        let schema = batch.schema();
        let table = MemorySourceConfig::try_new_exec(&[vec![batch]], Arc::clone(&schema), None);
        let by_x = PhysicalSortExpr::new_default(col("x", &schema).expect("a column"));
        let order = LexOrdering::new([by_x]).expect("an order");
        let inner = Arc::new(SortExec::new(order.clone(), table.expect("a table")));
        let outer = Arc::new(SortExec::new(order, inner).with_fetch(Some(2)));
        let rows = collect(outer.clone(), Arc::new(TaskContext::default())).await;
        assert_eq!(rows.expect("sorted").len(), 1);
        let mut operators = String::new();
        add_operators(outer.as_ref(), &mut operators);
        let listed = operators.split_whitespace().map(|operator| {
            let mut parts = operator.split(':');
            let (name, time, rows) = (parts.next(), parts.next(), parts.next());
            assert!(time.is_some_and(|time| time.parse::<u64>().is_ok()));
            (name.unwrap_or_default(), rows.unwrap_or_default())
        });
        let sorts: Vec<_> = listed.filter(|(name, _)| name.contains("Sort")).collect();
        assert_eq!(sorts, [("SortExec(TopK)", "2"), ("SortExec", "3")]);
    }
}
