//! Comparisons of literals with columns in filters.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Pushes filters down, with the column of each comparison before its literal.
///
/// DataFusion 55.2 combines the comparisons of a column that stand in one filter. It takes `k = 2` and `2 = k` for two values, so no row would pass, and
/// keeps `k >= 2` of `k >= 2` and `2 < k`. Comparisons are brought into one form before, but what other rules then make of expressions is not.
pub(in crate::datafusion) fn rewrite(
    rule: &dyn OptimizerRule,
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> Result<Transformed<LogicalPlan>> {
    let turned = turned_around(plan)?;
    let mut pushed = rule.rewrite(turned.data, config)?;
    pushed.transformed |= turned.transformed;
    Ok(pushed)
}

/// A filter, and the filters directly below it, with which the rule merges it. Other nodes stay as they are.
fn turned_around(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Filter(mut filter) = plan else {
        return Ok(Transformed::no(plan));
    };
    let predicate = filter.predicate.transform_up(|expr| {
        Ok(match expr {
            Expr::BinaryExpr(comparison) => in_order(comparison),
            other => Transformed::no(other),
        })
    })?;
    let input = turned_around(Arc::unwrap_or_clone(filter.input))?;
    let transformed = predicate.transformed || input.transformed;
    // `Filter::try_new` would derive the type of the predicate, which stays the same: with names of all its parts, for each projection that a filter passes.
    filter.predicate = predicate.data;
    filter.input = Arc::new(input.data);
    Ok(Transformed::new_transformed(
        LogicalPlan::Filter(filter),
        transformed,
    ))
}

/// A comparison with its column first, if it is one of a literal with a column.
fn in_order(comparison: BinaryExpr) -> Transformed<Expr> {
    let BinaryExpr { left, op, right } = comparison;
    let is_reversed = matches!(*left, Expr::Literal(..)) && matches!(*right, Expr::Column(_));
    match op.swap().filter(|_| is_reversed && is_comparison(op)) {
        Some(swapped) => Transformed::yes(Expr::BinaryExpr(BinaryExpr::new(right, swapped, left))),
        None => Transformed::no(Expr::BinaryExpr(BinaryExpr::new(left, op, right))),
    }
}

fn is_comparison(op: Operator) -> bool {
    matches!(
        op,
        Operator::Eq | Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq
    )
}
