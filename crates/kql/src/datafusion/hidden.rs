//! A pass-through node of physical plans that hides properties of its input from DataFusion.

use std::fmt;
use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::CardinalityEffect;
use datafusion::physical_plan::filter_pushdown::{FilterDescription, FilterPushdownPhase};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};

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
            Hide::Equivalences | Hide::Statistics => vec![&self.input],
        }
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![self.hide == Hide::Statistics; self.children().len()]
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
            Hide::Equivalences => vec![ChildStats::At(partition)],
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
            Hide::Equivalences => only_input(inputs.iter().cloned(), self.name()),
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
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        FilterDescription::from_children(filters, &self.children())
    }
}
