//! Unions, of which the engine would believe too much.

use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::common::{DFSchemaRef, DataFusionError, Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterDescription, FilterPushdownPhase, FilterPushdownPropagation,
};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};

/// `plan` with every union as a [`United`].
pub(super) fn as_united(plan: LogicalPlan) -> Result<LogicalPlan> {
    let united = plan.transform_up_with_subqueries(|node| {
        Ok(match node {
            LogicalPlan::Union(_) => Transformed::yes(LogicalPlan::Extension(Extension {
                node: Arc::new(UnitedNode { union: node }),
            })),
            node => Transformed::no(node),
        })
    });
    united.map(|transformed| transformed.data)
}

/// A union in a plan that is optimised.
#[derive(Debug, PartialEq, Eq, PartialOrd, Hash)]
pub(super) struct UnitedNode {
    union: LogicalPlan,
}

impl UserDefinedLogicalNodeCore for UnitedNode {
    fn name(&self) -> &str {
        "United"
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.union]
    }

    fn schema(&self) -> &DFSchemaRef {
        self.union.schema()
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }

    fn with_exprs_and_inputs(&self, _: Vec<Expr>, inputs: Vec<LogicalPlan>) -> Result<UnitedNode> {
        let union = inputs.into_iter().next();
        let union = union.ok_or_else(|| without_input("United"))?;
        Ok(UnitedNode { union })
    }
}

fn without_input(name: &str) -> DataFusionError {
    DataFusionError::Internal(format!("{name} needs an input"))
}

/// The rows of a union, of which nothing is known that is known of its parts only.
///
/// A column that is constant in each part, with another value in each, is constant to DataFusion 55.2 until the parts
/// meet. It plans aggregations and sorts before it decides where they meet, and drops sorts by such a column for good.
#[derive(Debug)]
pub(super) struct United {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl United {
    pub(super) fn new(input: Arc<dyn ExecutionPlan>) -> United {
        let known = input.properties().as_ref().clone();
        let nothing = EquivalenceProperties::new(input.schema());
        United {
            properties: Arc::new(known.with_eq_properties(nothing)),
            input,
        }
    }
}

impl DisplayAs for United {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("United")
    }
}

impl ExecutionPlan for United {
    fn name(&self) -> &'static str {
        "United"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
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
        let input = children.into_iter().next();
        let input = input.ok_or_else(|| without_input("United"))?;
        Ok(Arc::new(United::new(input)))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        _: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        let of_input = inputs.first().cloned();
        of_input.ok_or_else(|| without_input("United"))
    }

    fn supports_limit_pushdown(&self) -> bool {
        true
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }

    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        FilterDescription::from_children(filters, &self.children())
    }

    fn handle_child_pushdown_result(
        &self,
        _: FilterPushdownPhase,
        result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        Ok(FilterPushdownPropagation::if_all(result))
    }
}
