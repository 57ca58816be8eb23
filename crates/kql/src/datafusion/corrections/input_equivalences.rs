//! Hides equivalences of the inputs of unions and outer joins.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{JoinType, Result};
use datafusion::logical_expr::LogicalPlan;

use crate::datafusion::marker::{Marker, MarkerNode};

/// `plan` with the equivalences of every union and every outer join hidden.
///
/// DataFusion 55.2 infers that a column is constant in a union if it is constant in each input, even if each input has
/// another value, and places aggregations and sorts accordingly. It infers that a column is constant in an outer join if it
/// is constant in one input, even if the join fills the column with nulls. It removes sorts by such columns.
pub(in crate::datafusion) fn hide_in_plan(plan: LogicalPlan) -> Result<LogicalPlan> {
    let hidden = plan.transform_up_with_subqueries(|node| {
        Ok(if inherits_equivalences(&node) {
            Transformed::yes(MarkerNode::plan(Marker::HideEquivalences, Arc::new(node)))
        } else {
            Transformed::no(node)
        })
    });
    hidden.map(|transformed| transformed.data)
}

fn inherits_equivalences(node: &LogicalPlan) -> bool {
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
