//! The physical node that groups by codes.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PhysicalExpr,
    PlanProperties,
};
use futures::{StreamExt, TryStreamExt, stream};

use super::plan::{GroupPlan, Key};
use super::table::GroupTable;
use crate::transform::only_input;
use crate::work::CancellationToken;

/// The groups of a partition beyond which their states are returned, and grouping begins anew: the final phase merges them.
const MAX_GROUPS: usize = 1 << 17;

/// The partial phase of an aggregation by codes.
#[derive(Debug)]
pub(super) struct GroupByCodesExec {
    plan: Arc<GroupPlan>,
    input: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl GroupByCodesExec {
    /// The aggregation of an input that has the dictionaries of the plan; `schema` is that of the partial states.
    pub(super) fn new(
        plan: GroupPlan,
        input: Arc<dyn ExecutionPlan>,
        schema: SchemaRef,
    ) -> GroupByCodesExec {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&schema)),
            Partitioning::UnknownPartitioning(input.output_partitioning().partition_count()),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        GroupByCodesExec {
            plan: Arc::new(plan),
            input,
            schema,
            properties: Arc::new(properties),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }
}

impl DisplayAs for GroupByCodesExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let input = self.input.schema();
        let keys = self.plan.keys.iter().zip(self.schema.fields());
        let keys = keys.map(|(key, field)| match key {
            Key::Coded(coded) => format!("{} as {}", coded.expr, field.name()),
            Key::Bins { column, width } => {
                let column_name = input.field(*column).name();
                format!("bin({column_name}@{column}, {width}) as {}", field.name())
            }
        });
        let keys: Vec<String> = keys.collect();
        let aggregates = self.plan.aggregates.iter();
        let aggregates: Vec<&str> = aggregates.map(|a| a.function.name()).collect();
        write!(
            f,
            "GroupByCodesExec: mode=Partial, gby=[{}], aggr=[{}]",
            keys.join(", "),
            aggregates.join(", ")
        )
    }
}

impl ExecutionPlan for GroupByCodesExec {
    fn name(&self) -> &'static str {
        "GroupByCodesExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![false]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let input = only_input(children, self.name())?;
        let plan = self.plan.as_ref().clone();
        Ok(Arc::new(GroupByCodesExec::new(
            plan,
            input,
            Arc::clone(&self.schema),
        )))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let run = Run {
            input: Some(self.input.execute(partition, Arc::clone(&context))?),
            table: GroupTable::new(&self.plan, &self.schema)?,
            waiting: None,
            batch_size: context.session_config().batch_size().max(1),
            cancellation: CancellationToken::current(),
            reservation: MemoryConsumer::new(self.name()).register(context.memory_pool()),
            metrics: BaselineMetrics::new(&self.metrics, partition),
        };
        let batches = stream::try_unfold(run, |mut run| async move {
            Ok(run.next().await?.map(|batch| (batch, run)))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(
            Arc::clone(&self.schema),
            batches.into_stream().boxed(),
        )))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

/// The aggregation of one partition.
struct Run {
    /// `None` once it has ended.
    input: Option<SendableRecordBatchStream>,
    table: GroupTable,
    /// States that have not been returned.
    waiting: Option<RecordBatch>,
    batch_size: usize,
    cancellation: CancellationToken,
    reservation: MemoryReservation,
    metrics: BaselineMetrics,
}

impl Run {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            self.cancellation.check()?;
            if let Some(states) = self.waiting.take() {
                let rows = states.num_rows().min(self.batch_size);
                if rows < states.num_rows() {
                    self.waiting = Some(states.slice(rows, states.num_rows() - rows));
                } else {
                    self.reservation.try_resize(self.table.size())?;
                }
                self.metrics.record_output(rows);
                return Ok(Some(states.slice(0, rows)));
            }
            let Some(input) = &mut self.input else {
                return Ok(None);
            };
            let batch = input.next().await.transpose()?;
            let _timer = self.metrics.elapsed_compute().timer();
            let Some(batch) = batch else {
                self.input = None;
                self.waiting = self.table.take()?;
                continue;
            };
            if batch.num_rows() == 0 {
                continue;
            }
            self.table.add(&batch)?;
            let is_full = self.table.len() > MAX_GROUPS;
            if is_full || self.reservation.try_resize(self.table.size()).is_err() {
                self.waiting = self.table.take()?;
            }
        }
    }
}
