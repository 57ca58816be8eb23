//! The sizes of filters, and which may pass a projection.

use std::sync::Arc;

use datafusion::common::Column;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{self, Literal};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::ProjectionExec;

/// A filter that computed columns make larger than this stays above them. Its size is the number of nodes of its expression, without literals and aliases.
pub(super) const MOST_NODES: usize = 256;

/// Whether a filter of one size must not become one of another.
pub(super) fn is_too_large(before: usize, after: usize) -> bool {
    after > MOST_NODES && after > before
}

/// The size of an expression in which a column counts as `of_column` says.
pub(super) fn nodes(expr: &Expr, of_column: &dyn Fn(&Column) -> usize) -> usize {
    let mut count = 0usize;
    // It cannot fail: the function does not.
    let _ = expr.apply(|node| {
        count = count.saturating_add(match node {
            Expr::Literal(..) | Expr::Alias(_) => 0,
            Expr::Column(column) => of_column(column),
            _ => 1,
        });
        Ok(TreeNodeRecursion::Continue)
    });
    count
}

/// The filters that may pass a node, with a column that no node has in place of those that would become too large.
pub(super) fn passing(
    filters: Vec<Arc<dyn PhysicalExpr>>,
    node: &dyn ExecutionPlan,
) -> Vec<Arc<dyn PhysicalExpr>> {
    let Some(projection) = node.downcast_ref::<ProjectionExec>() else {
        return filters;
    };
    let of_column = |column: &expressions::Column| {
        let computed = projection.expr().get(column.index());
        computed.map_or(1, |computed| physical_nodes(&computed.expr, &|_| 1))
    };
    let none: Arc<dyn PhysicalExpr> = Arc::new(expressions::Column::new("", usize::MAX));
    let filters = filters.into_iter().map(|filter| {
        let before = physical_nodes(&filter, &|_| 1);
        if is_too_large(before, physical_nodes(&filter, &of_column)) {
            Arc::clone(&none)
        } else {
            filter
        }
    });
    filters.collect()
}

/// As [`nodes`].
fn physical_nodes(
    expr: &Arc<dyn PhysicalExpr>,
    of_column: &dyn Fn(&expressions::Column) -> usize,
) -> usize {
    let mut count = 0usize;
    // It cannot fail: the function does not.
    let _ = expr.apply(|node| {
        count = count.saturating_add(match node.downcast_ref::<expressions::Column>() {
            Some(column) => of_column(column),
            None => usize::from(!node.is::<Literal>()),
        });
        Ok(TreeNodeRecursion::Continue)
    });
    count
}
