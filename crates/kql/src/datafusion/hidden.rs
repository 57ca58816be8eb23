//! Unions and outer joins, of whose rows the engine would assume too much.

use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::common::{JoinType, Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterDescription, FilterPushdownPhase, FilterPushdownPropagation,
};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};

use super::mark::{Mark, Marked};
use crate::transform::only_input;

/// `plan` with every union and every outer join in an [`Unassumed`].
pub(super) fn in_plan(plan: LogicalPlan) -> Result<LogicalPlan> {
    let unassumed = plan.transform_up_with_subqueries(|node| {
        Ok(match node {
            node if assumes_too_much(&node) => {
                Transformed::yes(Marked::plan(Mark::Unassumed, Arc::new(node)))
            }
            node => Transformed::no(node),
        })
    });
    unassumed.map(|transformed| transformed.data)
}

fn assumes_too_much(node: &LogicalPlan) -> bool {
    match node {
        LogicalPlan::Union(_) => true,
        LogicalPlan::Join(join) => {
            matches!(
                join.join_type,
                JoinType::Left | JoinType::Right | JoinType::Full
            )
        }
        _ => false,
    }
}

/// The rows of its input, of which nothing is assumed: no order, no constants, no equal columns.
///
/// A column that is constant in each table of a union, with another value in each, is constant to DataFusion 55.2 until the
/// tables meet; and it plans aggregations and sorts before it decides where they do. A column that is constant in one side
/// of an outer join is constant to it also where the join fills it with nulls. It drops sorts by such columns for good.
#[derive(Debug)]
pub(super) struct Unassumed {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl Unassumed {
    pub(super) fn new(input: Arc<dyn ExecutionPlan>) -> Unassumed {
        let known = input.properties().as_ref().clone();
        let nothing = EquivalenceProperties::new(input.schema());
        Unassumed {
            properties: Arc::new(known.with_eq_properties(nothing)),
            input,
        }
    }
}

impl DisplayAs for Unassumed {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unassumed")
    }
}

impl ExecutionPlan for Unassumed {
    fn name(&self) -> &'static str {
        "Unassumed"
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
        let input = only_input(children, self.name())?;
        Ok(Arc::new(Unassumed::new(input)))
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
        only_input(inputs.iter().cloned(), self.name())
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
