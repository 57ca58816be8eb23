//! Functional dependencies.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchemaRef, FunctionalDependencies, Result};
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Rewrites a plan without functional dependencies.
///
/// DataFusion 55.2 takes the keys of an aggregation for keys of every later aggregation that has them too, also if a join in
/// between repeats them: of `distinct k | join (…) on k | distinct k, x | summarize count() by k, x` it removes `x` from the
/// keys, and gives other counts. No table here declares keys, so nothing is lost.
pub(in crate::datafusion) fn rewrite(
    rule: &dyn OptimizerRule,
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> Result<Transformed<LogicalPlan>> {
    // A rule that is applied to each node looks at the inputs of the node; another one traverses the plan itself.
    let plan = match rule.apply_order() {
        Some(_) => plan.map_children(|input| forget_output(input).map(Transformed::yes))?,
        None => plan.transform_up_with_subqueries(|node| Ok(forget(node)))?,
    };
    rule.rewrite(plan.data, config)
}

/// The node without dependencies of its output. Nodes that pass the columns of their input on have those of the input.
fn forget_output(node: LogicalPlan) -> Result<LogicalPlan> {
    let of_input = matches!(
        node,
        LogicalPlan::Filter(_)
            | LogicalPlan::Sort(_)
            | LogicalPlan::Limit(_)
            | LogicalPlan::Distinct(_)
            | LogicalPlan::Repartition(_)
    );
    if of_input {
        let node = node.map_children(|input| forget_output(input).map(Transformed::yes))?;
        Ok(node.data)
    } else {
        Ok(forget(node).data)
    }
}

/// The node without the dependencies that it stores.
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
    if changed {
        Transformed::yes(node)
    } else {
        Transformed::no(node)
    }
}

/// Removes the dependencies of a schema; returns whether there were any.
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
