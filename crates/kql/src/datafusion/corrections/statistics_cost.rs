//! Limits the cost of statistics of deep plans.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::ProjectionExec;

use crate::datafusion::hidden::{HiddenExec, Hide};

/// Statistics are propagated through this many adjacent projections.
const MAX_PROJECTIONS: usize = 16;

/// Optimises a plan in which statistics are not propagated through long chains of projections.
///
/// DataFusion 55.2 recomputes the statistics of the whole subplan for each node while it places repartitions. For a chain of
/// `extend`s the cost grows with the cube of its length, and some hundreds take many seconds. Statistics below a long chain
/// are of no use, so they are hidden while the rule runs.
pub(in crate::datafusion) fn optimize(
    rule: &dyn PhysicalOptimizerRule,
    plan: Arc<dyn ExecutionPlan>,
    config: &ConfigOptions,
) -> Result<Arc<dyn ExecutionPlan>> {
    HiddenExec::remove(Hide::Statistics, rule.optimize(hide(plan)?, config)?)
}

/// Hides the statistics of every [`MAX_PROJECTIONS`]th projection of a chain.
fn hide(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let address = |node: &Arc<dyn ExecutionPlan>| Arc::as_ptr(node).cast::<()>();
    let mut depths = HashMap::new();
    let hidden = plan.transform_up(|node| {
        let Some(projection) = node.downcast_ref::<ProjectionExec>() else {
            return Ok(Transformed::no(node));
        };
        let below = depths.remove(&address(projection.input())).unwrap_or(0);
        if below + 1 < MAX_PROJECTIONS {
            depths.insert(address(&node), below + 1);
            return Ok(Transformed::no(node));
        }
        Ok(Transformed::yes(
            Arc::new(HiddenExec::new(Hide::Statistics, node)) as _,
        ))
    });
    hidden.map(|transformed| transformed.data)
}

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use arrow::datatypes::{DataType, Field, Schema};
    use datafusion::common::Statistics;
    use datafusion::common::tree_node::TreeNodeRecursion;
    use datafusion::execution::{SendableRecordBatchStream, TaskContext};
    use datafusion::physical_expr::expressions::col;
    use datafusion::physical_optimizer::ensure_requirements::EnsureRequirements;
    use datafusion::physical_plan::empty::EmptyExec;
    use datafusion::physical_plan::projection::ProjectionExpr;
    use datafusion::physical_plan::statistics::StatisticsArgs;
    use datafusion::physical_plan::{
        DisplayAs, DisplayFormatType, PhysicalExpr, PlanProperties, displayable,
    };

    use super::*;

    /// A leaf that counts how often its statistics are computed.
    #[derive(Debug)]
    struct Leaf {
        empty: EmptyExec,
        computed: Arc<AtomicUsize>,
    }

    impl DisplayAs for Leaf {
        fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Leaf")
        }
    }

    impl ExecutionPlan for Leaf {
        fn name(&self) -> &'static str {
            "Leaf"
        }

        fn properties(&self) -> &Arc<PlanProperties> {
            self.empty.properties()
        }

        fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
            Vec::new()
        }

        fn apply_expressions(
            &self,
            _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
        ) -> Result<TreeNodeRecursion> {
            Ok(TreeNodeRecursion::Continue)
        }

        fn with_new_children(
            self: Arc<Self>,
            _: Vec<Arc<dyn ExecutionPlan>>,
        ) -> Result<Arc<dyn ExecutionPlan>> {
            Ok(self)
        }

        fn execute(
            &self,
            partition: usize,
            context: Arc<TaskContext>,
        ) -> Result<SendableRecordBatchStream> {
            self.empty.execute(partition, context)
        }

        fn statistics_from_inputs(
            &self,
            _: &[Arc<Statistics>],
            _: &StatisticsArgs,
        ) -> Result<Arc<Statistics>> {
            self.computed.fetch_add(1, Ordering::Relaxed);
            Ok(Arc::new(Statistics::new_unknown(&self.schema())))
        }
    }

    const LENGTH: usize = 100;

    /// Returns a chain of projections and the number of times that the statistics of its leaf were computed.
    fn chain() -> (Arc<dyn ExecutionPlan>, Arc<AtomicUsize>) {
        let schema = Arc::new(Schema::new(vec![Field::new("x", DataType::Int64, true)]));
        let computed = Arc::new(AtomicUsize::new(0));
        let mut plan: Arc<dyn ExecutionPlan> = Arc::new(Leaf {
            empty: EmptyExec::new(Arc::clone(&schema)),
            computed: Arc::clone(&computed),
        });
        for _ in 0..LENGTH {
            let x = ProjectionExpr {
                expr: col("x", &schema).expect("a column"),
                alias: "x".to_owned(),
            };
            plan = Arc::new(ProjectionExec::try_new([x], plan).expect("a projection"));
        }
        (plan, computed)
    }

    fn shown(plan: &Arc<dyn ExecutionPlan>) -> String {
        displayable(plan.as_ref()).indent(false).to_string()
    }

    #[test]
    fn statistics_below_a_long_chain_are_not_recomputed_for_each_node() {
        let config = ConfigOptions::default();
        let (plan, computed) = chain();
        assert!(EnsureRequirements::new().optimize(plan, &config).is_ok());
        let uncorrected = computed.load(Ordering::Relaxed);
        assert!(uncorrected >= LENGTH, "{uncorrected}");
        let (plan, computed) = chain();
        assert!(optimize(&EnsureRequirements::new(), plan, &config).is_ok());
        let corrected = computed.load(Ordering::Relaxed);
        assert!(corrected < uncorrected / 2, "{corrected}");
    }

    #[test]
    fn hidden_statistics_leave_the_plan_as_it_was() {
        let (plan, _) = chain();
        let hidden = hide(Arc::clone(&plan)).expect("the statistics are hidden");
        let nodes = shown(&hidden).matches("HiddenExec").count();
        assert_eq!(nodes, LENGTH / MAX_PROJECTIONS);
        let again = HiddenExec::remove(Hide::Statistics, hidden).expect("they are shown");
        assert_eq!(shown(&again), shown(&plan));
    }
}
