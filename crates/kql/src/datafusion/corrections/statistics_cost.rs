//! Bounds what the engine's planning costs for deep plans.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};

use crate::transform::only_input;

/// So many projections on top of one another are measured.
const MEASURED: usize = 16;

/// The rule that it holds, over a plan whose chains of projections are measured in short pieces.
///
/// DataFusion 55.2 estimates every column of everything below a node for each node anew while it places repartitions: for a
/// chain of `extend`s the cost grows with the third power of its length, and some hundreds take many seconds.
/// Estimates of what lies below a long chain are worth nothing, so it is hidden while the rule runs.
#[derive(Debug)]
pub(in crate::datafusion) struct InShortPieces(
    pub(in crate::datafusion) Arc<dyn PhysicalOptimizerRule + Send + Sync>,
);

impl PhysicalOptimizerRule for InShortPieces {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let hidden = hide(plan)?;
        show(self.0.optimize(hidden, config)?)
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}

/// Puts an [`Unmeasured`] above every so many projections.
fn hide(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let address = |node: &Arc<dyn ExecutionPlan>| Arc::as_ptr(node).cast::<()>();
    let mut depths = HashMap::new();
    let hidden = plan.transform_up(|node| {
        let Some(projection) = node.downcast_ref::<ProjectionExec>() else {
            return Ok(Transformed::no(node));
        };
        let below = depths.remove(&address(projection.input())).unwrap_or(0);
        if below + 1 < MEASURED {
            depths.insert(address(&node), below + 1);
            return Ok(Transformed::no(node));
        }
        Ok(Transformed::yes(Arc::new(Unmeasured { input: node }) as _))
    });
    hidden.map(|transformed| transformed.data)
}

/// Takes every [`Unmeasured`] away.
fn show(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let shown = plan.transform_up(|node| {
        Ok(match node.downcast_ref::<Unmeasured>() {
            Some(unmeasured) => Transformed::yes(Arc::clone(&unmeasured.input)),
            None => Transformed::no(node),
        })
    });
    shown.map(|transformed| transformed.data)
}

/// Its input, of which it tells no estimates: the default of a plan.
#[derive(Debug)]
struct Unmeasured {
    input: Arc<dyn ExecutionPlan>,
}

impl DisplayAs for Unmeasured {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Unmeasured")
    }
}

impl ExecutionPlan for Unmeasured {
    fn name(&self) -> &'static str {
        "Unmeasured"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
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
        Ok(Arc::new(Unmeasured { input }))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }
}

#[cfg(test)]
mod tests {
    use datafusion::physical_plan::displayable;
    use futures::executor::block_on;

    use super::*;
    use crate::testing::TestCatalog;

    /// The physical plan of a query.
    fn plan(query: &str) -> Arc<dyn ExecutionPlan> {
        let parsed = hindsight_kql_syntax::parse(query);
        let bound = crate::bind(&parsed.query, &TestCatalog, &crate::BindOptions::default());
        let result = bound.expect("it binds").results.pop().expect("a result");
        let context = crate::run::session_context();
        let planned = block_on(context.state().create_physical_plan(&result.plan));
        planned.expect("it is planned")
    }

    fn hidden(plan: &Arc<dyn ExecutionPlan>) -> usize {
        let text = displayable(plan.as_ref()).indent(false).to_string();
        text.matches("Unmeasured").count()
    }

    #[test]
    fn long_chains_are_measured_in_pieces_and_stay_as_they_are() {
        let chain: String = (1..100)
            .map(|i| format!(" | extend a{i} = a{} + duration", i - 1))
            .collect();
        let plan = plan(&format!("requests | extend a0 = duration{chain}"));
        let before = displayable(plan.as_ref()).indent(false).to_string();
        assert_eq!(hidden(&plan), 0, "{before}");
        let pieces = hide(plan).expect("it can be hidden");
        assert!(hidden(&pieces) >= 90 / MEASURED, "{}", hidden(&pieces));
        let shown = show(pieces).expect("it can be shown");
        let after = displayable(shown.as_ref()).indent(false).to_string();
        assert_eq!(before, after);
    }
}
