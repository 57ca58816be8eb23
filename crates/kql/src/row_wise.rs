//! Nodes of physical plans that treat each row apart, so that parts of their input can be processed in several places.

use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{ExecutionPlanProperties, Partitioning};

use crate::datafusion::{HiddenExec, Hide};
use crate::transform::TransformExec;

/// Functions whose values depend on the server that evaluates them: each has its own database of addresses.
pub(crate) const OF_ONE_SERVER: &[&str] = &["geo_info_from_ip_address"];

/// Whether each output row of a node depends on one input row alone, and on nothing else: the outputs of parts of the input are the parts of
/// the output. `false` for leaves.
pub fn is_row_wise(node: &dyn ExecutionPlan) -> bool {
    let is_known = if let Some(filter) = node.downcast_ref::<FilterExec>() {
        filter.fetch().is_none()
    } else if let Some(exec) = node.downcast_ref::<TransformExec>() {
        exec.transform().is_row_wise()
    } else {
        passes_rows(node) || node.is::<ProjectionExec>()
    };
    is_known && has_stable_expressions(node)
}

/// Whether a node returns all rows of its inputs and no others, with the columns as they are. `false` for leaves.
pub fn passes_rows(node: &dyn ExecutionPlan) -> bool {
    if let Some(hidden) = node.downcast_ref::<HiddenExec>() {
        hidden.hides() != Hide::Children
    } else if let Some(merged) = node.downcast_ref::<CoalescePartitionsExec>() {
        merged.fetch().is_none()
    } else if node.is::<RepartitionExec>() {
        matches!(node.output_partitioning(), Partitioning::RoundRobinBatch(_))
    } else {
        node.is::<UnionExec>() || node.is::<CooperativeExec>()
    }
}

/// Whether all expressions of a node have the same value wherever and whenever they are evaluated.
pub fn has_stable_expressions(node: &dyn ExecutionPlan) -> bool {
    let mut are_stable = true;
    let visited = node.apply_expressions(&mut |expr| {
        are_stable &= is_stable(expr);
        Ok(TreeNodeRecursion::Continue)
    });
    visited.is_ok() && are_stable
}

fn is_stable(expr: &Arc<dyn PhysicalExpr>) -> bool {
    let is_of_one_server = expr
        .downcast_ref::<ScalarFunctionExpr>()
        .is_some_and(|function| OF_ONE_SERVER.contains(&function.name()));
    !expr.is_volatile_node() && !is_of_one_server && expr.children().into_iter().all(is_stable)
}
