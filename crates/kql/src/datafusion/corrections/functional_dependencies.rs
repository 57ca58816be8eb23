//! Removes functional dependencies.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchemaRef, FunctionalDependencies, Result};
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Rewrites a plan without functional dependencies.
///
/// DataFusion 55.2 infers that the keys of an aggregation are keys of every later aggregation that contains them, even if a
/// join in between duplicates them. Of `distinct k | join (…) on k | distinct k, x | summarize count() by k, x` it removes
/// `x` from the keys, so the counts are wrong. No table here declares keys, so removing the dependencies costs nothing.
pub(in crate::datafusion) fn rewrite(
    rule: &dyn OptimizerRule,
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> Result<Transformed<LogicalPlan>> {
    // A rule that is applied to each node inspects the inputs of the node; another one traverses the plan itself.
    let plan = match rule.apply_order() {
        Some(_) => {
            plan.map_children(|input| remove_output_dependencies(input).map(Transformed::yes))?
        }
        None => plan.transform_up_with_subqueries(|node| Ok(forget(node)))?,
    };
    rule.rewrite(plan.data, config)
}

/// The node without functional dependencies of its output. A node that passes the columns of its input through has those of
/// its input.
fn remove_output_dependencies(node: LogicalPlan) -> Result<LogicalPlan> {
    let of_input = matches!(
        node,
        LogicalPlan::Filter(_)
            | LogicalPlan::Sort(_)
            | LogicalPlan::Limit(_)
            | LogicalPlan::Distinct(_)
            | LogicalPlan::Repartition(_)
    );
    if of_input {
        let node =
            node.map_children(|input| remove_output_dependencies(input).map(Transformed::yes))?;
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
