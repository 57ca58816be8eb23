//! The times of rows that are in no segment, for those who plan queries.

use std::fmt;
use std::sync::Arc;

use arrow::array::{Array, AsArray};
use arrow::compute::{max, min};
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};

use crate::schema::TIMESTAMP;

/// A leaf of plans whose rows have times between two, ends included, in ticks.
#[derive(Debug)]
pub(crate) struct TimedRowsExec {
    rows: Arc<dyn ExecutionPlan>,
    times: (i64, i64),
}

impl TimedRowsExec {
    /// `rows` is a leaf.
    pub(crate) fn new(rows: Arc<dyn ExecutionPlan>, times: (i64, i64)) -> TimedRowsExec {
        TimedRowsExec { rows, times }
    }

    fn over(&self, rows: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
        Arc::new(TimedRowsExec::new(rows, self.times))
    }
}

impl DisplayAs for TimedRowsExec {
    fn fmt_as(&self, t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows.fmt_as(t, f)
    }
}

impl ExecutionPlan for TimedRowsExec {
    fn name(&self) -> &'static str {
        "TimedRowsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.rows.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.rows.apply_expressions(f)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() {
            return Ok(self);
        }
        let what = format!("{} has no children", self.name());
        Err(DataFusionError::Internal(what))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        self.rows.execute(partition, context)
    }

    fn try_swapping_with_projection(
        &self,
        projection: &ProjectionExec,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let swapped = self.rows.try_swapping_with_projection(projection)?;
        Ok(swapped.map(|rows| self.over(rows)))
    }

    fn fetch(&self) -> Option<usize> {
        self.rows.fetch()
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn ExecutionPlan>> {
        Some(self.over(self.rows.with_fetch(limit)?))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        self.rows.metrics()
    }
}

/// What is known of the times of rows in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryTimes {
    /// There are no rows.
    None,
    /// The smallest and the largest that they may have, in ticks.
    Between(i64, i64),
}

/// The times of the rows that a leaf reads from the memory of this node or of others; `column` of its output has them. `None` if `plan` is another plan, or if
/// they are not known.
pub fn times_in_memory(plan: &dyn ExecutionPlan, column: usize) -> Option<MemoryTimes> {
    let schema = plan.schema();
    if schema.fields().get(column)?.name() != TIMESTAMP {
        return None;
    }
    if let Some(timed) = plan.downcast_ref::<TimedRowsExec>() {
        let (from, to) = timed.times;
        return Some(MemoryTimes::Between(from, to));
    }
    let source = plan.downcast_ref::<DataSourceExec>()?.data_source();
    let memory = source.downcast_ref::<MemorySourceConfig>()?;
    let column = match memory.projection() {
        Some(columns) => *columns.get(column)?,
        None => column,
    };
    let mut times = MemoryTimes::None;
    for batch in memory.partitions().iter().flatten() {
        times = times.with(times_of(batch, column)?);
    }
    Some(times)
}

fn times_of(batch: &RecordBatch, column: usize) -> Option<MemoryTimes> {
    let column = batch.columns().get(column)?;
    let column = column.as_primitive_opt::<Int64Type>()?;
    if column.null_count() > 0 {
        return None;
    }
    Some(match min(column).zip(max(column)) {
        Some((from, to)) => MemoryTimes::Between(from, to),
        None => MemoryTimes::None,
    })
}

impl MemoryTimes {
    fn with(self, other: MemoryTimes) -> MemoryTimes {
        match (self, other) {
            (MemoryTimes::None, times) | (times, MemoryTimes::None) => times,
            (MemoryTimes::Between(from, to), MemoryTimes::Between(other_from, other_to)) => {
                MemoryTimes::Between(from.min(other_from), to.max(other_to))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, Int64Array};
    use datafusion::physical_expr::expressions::Column;

    use super::*;

    /// A leaf with the columns `n` and `timestamp`, in two batches.
    fn leaf(
        times: [Vec<Option<i64>>; 2],
        projection: Option<Vec<usize>>,
    ) -> Arc<dyn ExecutionPlan> {
        let batch = |times: Vec<Option<i64>>| {
            let numbers: ArrayRef = Arc::new(Int64Array::from(vec![7; times.len()]));
            let times: ArrayRef = Arc::new(Int64Array::from(times));
            let columns = [("n", numbers, true), (TIMESTAMP, times, true)];
            RecordBatch::try_from_iter_with_nullable(columns).unwrap()
        };
        let batches = times.map(batch);
        let schema = batches[0].schema();
        let source = MemorySourceConfig::try_new(&[batches.to_vec()], schema, projection);
        DataSourceExec::from_data_source(source.unwrap())
    }

    #[test]
    fn times_in_memory_are_those_of_all_batches() {
        let rows = [vec![Some(5), Some(3)], vec![Some(9)]];
        let all = leaf(rows.clone(), None);
        assert_eq!(
            times_in_memory(all.as_ref(), 1),
            Some(MemoryTimes::Between(3, 9))
        );
        assert_eq!(times_in_memory(all.as_ref(), 0), None, "n has no times");
        let projected = leaf(rows, Some(vec![1]));
        assert_eq!(
            times_in_memory(projected.as_ref(), 0),
            Some(MemoryTimes::Between(3, 9))
        );
        let none = leaf([vec![], vec![]], None);
        assert_eq!(times_in_memory(none.as_ref(), 1), Some(MemoryTimes::None));
        let unknown = leaf([vec![Some(5)], vec![None]], None);
        assert_eq!(times_in_memory(unknown.as_ref(), 1), None);
    }

    #[test]
    fn timed_rows_keep_their_times_under_a_projection() {
        let rows = leaf([vec![Some(5)], vec![]], None);
        let timed: Arc<dyn ExecutionPlan> = Arc::new(TimedRowsExec::new(rows, (2, 8)));
        let known = Some(MemoryTimes::Between(2, 8));
        assert_eq!(times_in_memory(timed.as_ref(), 1), known);
        let column = Arc::new(Column::new(TIMESTAMP, 1)) as Arc<dyn PhysicalExpr>;
        let projection =
            ProjectionExec::try_new([(column, TIMESTAMP.to_owned())], Arc::clone(&timed)).unwrap();
        let swapped = timed.try_swapping_with_projection(&projection).unwrap();
        let swapped = swapped.expect("a leaf takes the projection of a column");
        assert_eq!(times_in_memory(swapped.as_ref(), 0), known);
    }
}
