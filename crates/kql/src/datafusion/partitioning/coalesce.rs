//! Coalesces hash partitions.

use std::fmt;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::Partitioning;
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PhysicalExpr,
    PlanProperties,
};
use futures::stream::select_all;

use crate::transform::only_input;

/// Coalesces its input into fewer partitions: partition 0 has the rows of the input partitions 0, `partitions`, twice
/// `partitions` and so on, in any order. Rows that the input partitions by hash stay partitioned by it.
#[derive(Debug)]
pub(crate) struct CoalesceHashPartitionsExec {
    input: Arc<dyn ExecutionPlan>,
    partitions: usize,
    properties: Arc<PlanProperties>,
}

impl CoalesceHashPartitionsExec {
    /// Coalesces `input` into `partitions`; the number of partitions of the input must be a multiple of it.
    pub(crate) fn new(
        input: Arc<dyn ExecutionPlan>,
        partitions: usize,
    ) -> CoalesceHashPartitionsExec {
        let partitioning = match input.output_partitioning() {
            Partitioning::Hash(keys, _) => Partitioning::Hash(keys.clone(), partitions),
            _ => Partitioning::UnknownPartitioning(partitions),
        };
        let mut equal = input.equivalence_properties().clone();
        equal.clear_orderings();
        let properties = input.properties().as_ref().clone();
        CoalesceHashPartitionsExec {
            properties: Arc::new(
                properties
                    .with_partitioning(partitioning)
                    .with_eq_properties(equal),
            ),
            input,
            partitions,
        }
    }

    /// The number of partitions of the output.
    pub(crate) fn partitions(&self) -> usize {
        self.partitions
    }
}

/// Whether a node returns all rows of its input in fewer partitions, in which the rows of each key of a hash stay together.
pub fn coalesces_hash_partitions(node: &dyn ExecutionPlan) -> bool {
    node.is::<CoalesceHashPartitionsExec>()
}

impl DisplayAs for CoalesceHashPartitionsExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "CoalesceHashPartitionsExec: partitions={}",
            self.partitions
        )
    }
}

impl ExecutionPlan for CoalesceHashPartitionsExec {
    fn name(&self) -> &'static str {
        "CoalesceHashPartitionsExec"
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
        Ok(Arc::new(CoalesceHashPartitionsExec::new(
            input,
            self.partitions,
        )))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let all = self.input.output_partitioning().partition_count();
        let coalesced = (partition..all).step_by(self.partitions);
        let streams = coalesced.map(|i| self.input.execute(i, Arc::clone(&context)));
        let streams = streams.collect::<Result<Vec<_>>>()?;
        Ok(Box::pin(RecordBatchStreamAdapter::new(
            self.input.schema(),
            select_all(streams),
        )))
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }
}
