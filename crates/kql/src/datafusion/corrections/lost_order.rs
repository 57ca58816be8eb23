//! Keeps orders whose keys are dropped, and the order of tables in memory.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::{LogicalPlan, TableType};
use datafusion::physical_plan::ExecutionPlan;

use crate::datafusion::hidden::{HiddenExec, Hide};
use crate::datafusion::marker::{Marker, MarkerNode};
use crate::transform::{InOrder, TransformExec, depends_on_order};

/// `plan` with a marker over every sort and every table in memory whose order the result or a transform depends on.
///
/// DataFusion 55.2 keeps a sort for a node that requires its order in terms of the columns that the node sees. A projection
/// may have dropped those columns, and no transform declares the order of its output, so DataFusion would remove the sort. It
/// also repartitions tables in memory by batches. The marker makes the rows one stream, and no node that keeps their order
/// repartitions them.
pub(in crate::datafusion) fn keep_in_plan(plan: LogicalPlan) -> Result<LogicalPlan> {
    let plan = plan.transform_up_with_subqueries(|node| match &node {
        LogicalPlan::Extension(extension) if depends_on_order(extension) => node.map_children(mark),
        _ => Ok(Transformed::no(node)),
    })?;
    mark(plan.data).map(|transformed| transformed.data)
}

/// `plan` with a marker over the node that defines the order of its rows, if there is one.
fn mark(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let mut marked = plan.transform_down(|node| {
        let keeps_order = match &node {
            node if gives_order(node) => {
                let ordered = MarkerNode::plan(Marker::KeepOrder, Arc::new(node.clone()));
                return Ok(Transformed::new(ordered, true, TreeNodeRecursion::Stop));
            }
            LogicalPlan::Filter(_)
            | LogicalPlan::Limit(_)
            | LogicalPlan::Projection(_)
            | LogicalPlan::SubqueryAlias(_) => true,
            LogicalPlan::Extension(extension) => !depends_on_order(extension),
            _ => false,
        };
        let further = if keeps_order {
            TreeNodeRecursion::Continue
        } else {
            TreeNodeRecursion::Stop
        };
        Ok(Transformed::new(node, false, further))
    })?;
    // The recursion ended within this input only.
    marked.tnr = TreeNodeRecursion::Continue;
    Ok(marked)
}

fn gives_order(node: &LogicalPlan) -> bool {
    match node {
        LogicalPlan::Sort(_) => true,
        LogicalPlan::TableScan(scan) => scan.source.table_type() == TableType::Temporary,
        _ => false,
    }
}

/// The rows of `input` as one stream in its order. A leaf is hidden, so that it keeps its partitions.
pub(in crate::datafusion) fn ordered(input: Arc<dyn ExecutionPlan>) -> TransformExec {
    let schema = input.schema();
    let input = if input.children().is_empty() {
        Arc::new(HiddenExec::new(Hide::Children, input))
    } else {
        input
    };
    TransformExec::new(Arc::new(InOrder), input, schema)
}
