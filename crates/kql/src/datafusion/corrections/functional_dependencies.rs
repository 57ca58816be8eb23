//! What the engine believes of columns that are keys.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchemaRef, FunctionalDependencies, Result};
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

/// The rules that believe it.
pub(in crate::datafusion) const BELIEVE: [&str; 3] = [
    "replace_distinct_aggregate",
    "eliminate_join",
    "optimize_projections",
];

/// The rule that it holds, over a plan without functional dependencies.
///
/// DataFusion 55.2 takes the keys of an aggregation for keys of every later one that has them too, also where a join in
/// between has repeated them: of `distinct k | join (…) on k | distinct k, x | summarize count() by k, x` it then drops `x`
/// from the keys, and gives other counts. Nothing here has keys that are worth believing in.
#[derive(Debug)]
pub(in crate::datafusion) struct WithoutDependencies(
    pub(in crate::datafusion) Arc<dyn OptimizerRule + Send + Sync>,
);

impl OptimizerRule for WithoutDependencies {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        // A rule that is shown every node looks at its inputs; another one goes through the plan itself.
        let plan = match self.0.apply_order() {
            Some(_) => plan.map_children(|input| forget_output(input).map(Transformed::yes))?,
            None => plan.transform_up_with_subqueries(|node| Ok(forget(node)))?,
        };
        self.0.rewrite(plan.data, config)
    }
}

/// The node without dependencies of what it gives. Nodes that give the columns of their input tell those of the input.
fn forget_output(node: LogicalPlan) -> Result<LogicalPlan> {
    let of_input = matches!(
        node,
        LogicalPlan::Filter(_)
            | LogicalPlan::Sort(_)
            | LogicalPlan::Limit(_)
            | LogicalPlan::Distinct(_)
            | LogicalPlan::Repartition(_)
    );
    match of_input {
        true => {
            let node = node.map_children(|input| forget_output(input).map(Transformed::yes))?;
            Ok(node.data)
        }
        false => Ok(forget(node).data),
    }
}

/// The node itself without dependencies.
fn forget(mut node: LogicalPlan) -> Transformed<LogicalPlan> {
    let changed = match &mut node {
        LogicalPlan::Aggregate(node) => without_dependencies(&mut node.schema),
        LogicalPlan::Join(node) => without_dependencies(&mut node.schema),
        LogicalPlan::Projection(node) => without_dependencies(&mut node.schema),
        LogicalPlan::SubqueryAlias(node) => without_dependencies(&mut node.schema),
        LogicalPlan::Union(node) => without_dependencies(&mut node.schema),
        LogicalPlan::Window(node) => without_dependencies(&mut node.schema),
        _ => false,
    };
    match changed {
        true => Transformed::yes(node),
        false => Transformed::no(node),
    }
}

/// Whether there were any.
fn without_dependencies(schema: &mut DFSchemaRef) -> bool {
    if schema.functional_dependencies().is_empty() {
        return false;
    }
    let none = FunctionalDependencies::empty();
    match schema.as_ref().clone().with_functional_dependencies(none) {
        Ok(without) => {
            *schema = Arc::new(without);
            true
        }
        Err(_) => false,
    }
}
