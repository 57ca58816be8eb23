//! Many parts as few.

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

/// The rows of its input's parts in fewer parts: those of part 0, `parts`, twice `parts` and so on are in part 0, in any
/// order. Rows that the input deals out by a hash are still dealt out by it.
#[derive(Debug)]
pub(in crate::datafusion) struct Gather {
    input: Arc<dyn ExecutionPlan>,
    parts: usize,
    properties: Arc<PlanProperties>,
}

impl Gather {
    /// `input` in so many parts, of which it has a multiple.
    pub(in crate::datafusion) fn new(input: Arc<dyn ExecutionPlan>, parts: usize) -> Gather {
        let partitioning = match input.output_partitioning() {
            Partitioning::Hash(keys, _) => Partitioning::Hash(keys.clone(), parts),
            _ => Partitioning::UnknownPartitioning(parts),
        };
        let mut equal = input.equivalence_properties().clone();
        equal.clear_orderings();
        let properties = input.properties().as_ref().clone();
        Gather {
            properties: Arc::new(
                properties
                    .with_partitioning(partitioning)
                    .with_eq_properties(equal),
            ),
            input,
            parts,
        }
    }
}

impl DisplayAs for Gather {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gather: parts={}", self.parts)
    }
}

impl ExecutionPlan for Gather {
    fn name(&self) -> &'static str {
        "Gather"
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
        Ok(Arc::new(Gather::new(input, self.parts)))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let all = self.input.output_partitioning().partition_count();
        let parts = (partition..all).step_by(self.parts);
        let streams = parts.map(|part| self.input.execute(part, Arc::clone(&context)));
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
