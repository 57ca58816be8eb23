//! A pass-through node of physical plans that hides properties of its input from DataFusion.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::filter_pushdown::{
    ChildFilterDescription, FilterDescription, FilterPushdownPhase,
};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};

use super::filter_size;
use crate::transform::only_input;

/// The property of its input that a [`HiddenExec`] hides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hide {
    /// The inferred equivalences: orders, constants and equal columns.
    Equivalences,
    /// The input itself, a leaf: no rule sees it, so no rule repartitions it.
    Children,
    /// The statistics.
    Statistics,
    /// The keys of an aggregation that are computed: filters by them are not pushed into it.
    Keys,
    /// The computed columns of a projection, from filters that would become too large.
    Computations,
}

/// Passes its input through and hides a property of it.
#[derive(Debug)]
pub(crate) struct HiddenExec {
    hide: Hide,
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl HiddenExec {
    /// Wraps `input`.
    pub(crate) fn new(hide: Hide, input: Arc<dyn ExecutionPlan>) -> HiddenExec {
        let mut properties = Arc::clone(input.properties());
        if hide == Hide::Equivalences {
            let none = EquivalenceProperties::new(input.schema());
            properties = Arc::new(properties.as_ref().clone().with_eq_properties(none));
        }
        HiddenExec {
            hide,
            input,
            properties,
        }
    }

    /// The property that it hides.
    pub(crate) fn hides(&self) -> Hide {
        self.hide
    }

    /// The input, also if it is hidden.
    pub(crate) fn input(&self) -> &Arc<dyn ExecutionPlan> {
        &self.input
    }

    /// `plan` without the nodes that hide this property.
    pub(crate) fn remove(
        hide: Hide,
        plan: Arc<dyn ExecutionPlan>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let shown = plan.transform_up(|node| {
            Ok(match node.downcast_ref::<HiddenExec>() {
                Some(hidden) if hidden.hide == hide => Transformed::yes(Arc::clone(&hidden.input)),
                _ => Transformed::no(node),
            })
        });
        shown.map(|transformed| transformed.data)
    }
}

impl DisplayAs for HiddenExec {
    fn fmt_as(&self, kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HiddenExec: hide={:?}", self.hide)?;
        if self.hide == Hide::Children {
            f.write_str(", input=")?;
            self.input.fmt_as(kind, f)?;
        }
        Ok(())
    }
}

impl ExecutionPlan for HiddenExec {
    fn name(&self) -> &'static str {
        "HiddenExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        match self.hide {
            Hide::Children => Vec::new(),
            Hide::Equivalences | Hide::Statistics | Hide::Keys | Hide::Computations => {
                vec![&self.input]
            }
        }
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        let maintains = matches!(
            self.hide,
            Hide::Statistics | Hide::Keys | Hide::Computations
        );
        vec![maintains; self.children().len()]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false; self.children().len()]
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
        if self.hide == Hide::Children {
            return Ok(self);
        }
        let input = only_input(children, self.name())?;
        Ok(Arc::new(HiddenExec::new(self.hide, input)))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        match self.hide {
            Hide::Equivalences | Hide::Keys | Hide::Computations => {
                vec![ChildStats::At(partition)]
            }
            Hide::Children => Vec::new(),
            Hide::Statistics => vec![ChildStats::Skip],
        }
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        match self.hide {
            Hide::Equivalences | Hide::Keys | Hide::Computations => {
                only_input(inputs.iter().cloned(), self.name())
            }
            Hide::Children => StatisticsContext::new().compute(self.input.as_ref(), args),
            Hide::Statistics => Ok(Arc::new(Statistics::new_unknown(&self.schema()))),
        }
    }

    fn supports_limit_pushdown(&self) -> bool {
        self.hide == Hide::Equivalences
    }

    fn cardinality_effect(&self) -> CardinalityEffect {
        CardinalityEffect::Equal
    }

    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        mut filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        if self.hide == Hide::Computations {
            filters = filter_size::passing(filters, self.input.as_ref());
        }
        let mut description = FilterDescription::new();
        for child in self.children() {
            let mut readable: HashSet<usize> = (0..child.schema().fields().len()).collect();
            if self.hide == Hide::Keys {
                for key in computed_keys(child.as_ref()) {
                    readable.remove(&key);
                }
            }
            let filters =
                ChildFilterDescription::from_child_with_allowed_indices(&filters, readable, child);
            description = description.with_child(filters?);
        }
        Ok(description)
    }
}

/// The indexes of the keys of an aggregation that are no columns of the same name; none for another node.
pub(in crate::datafusion) fn computed_keys(
    node: &dyn ExecutionPlan,
) -> impl Iterator<Item = usize> {
    let aggregation = node.downcast_ref::<AggregateExec>();
    let keys = aggregation.map_or(&[][..], |aggregation| aggregation.group_expr().expr());
    let keys = keys.iter().enumerate();
    keys.filter(|(_, (expr, name))| {
        let column = expr.downcast_ref::<Column>();
        column.is_none_or(|column| column.name() != name)
    })
    .map(|(index, _)| index)
}
