//! Orders that outlive their keys.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{LogicalPlan, TableType};

use crate::datafusion::mark::{Mark, Marked};
use crate::transform::depends_on_order;

/// `plan` with a mark over every sort, and over rows that are kept in memory, whose order its rows or something in it
/// depend on.
///
/// DataFusion 55.2 keeps a sort for a node that requires its order, in terms of the columns that the node sees. A
/// projection may have dropped those, and none of our nodes tells of an order, so it would take the sort away. Rows in
/// memory it deals out to all processors. At the mark the rows become one stream, and nothing that keeps their order deals
/// them out again.
pub(in crate::datafusion) fn in_plan(plan: LogicalPlan) -> Result<LogicalPlan> {
    let plan = plan.transform_up_with_subqueries(|node| match &node {
        LogicalPlan::Extension(extension) if depends_on_order(extension) => node.map_children(kept),
        _ => Ok(Transformed::no(node)),
    })?;
    kept(plan.data).map(|transformed| transformed.data)
}

/// `plan` with a mark over what gives its rows their order, where there is such a thing.
fn kept(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let mut kept = plan.transform_down(|node| {
        let keeps_order = match &node {
            node if gives_order(node) => {
                let marked = Marked::plan(Mark::Ordered, Arc::new(node.clone()));
                return Ok(Transformed::new(marked, true, TreeNodeRecursion::Stop));
            }
            LogicalPlan::Filter(_)
            | LogicalPlan::Limit(_)
            | LogicalPlan::Projection(_)
            | LogicalPlan::SubqueryAlias(_) => true,
            LogicalPlan::Extension(extension) => !depends_on_order(extension),
            _ => false,
        };
        let further = match keeps_order {
            true => TreeNodeRecursion::Continue,
            false => TreeNodeRecursion::Stop,
        };
        Ok(Transformed::new(node, false, further))
    })?;
    // Only the way down has ended.
    kept.tnr = TreeNodeRecursion::Continue;
    Ok(kept)
}

fn gives_order(node: &LogicalPlan) -> bool {
    match node {
        LogicalPlan::Sort(_) => true,
        LogicalPlan::TableScan(scan) => scan.source.table_type() == TableType::Temporary,
        _ => false,
    }
}
