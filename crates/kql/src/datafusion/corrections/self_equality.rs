//! Equalities of a column with an expression over it.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator};

use crate::datafusion::rewrite::replace_in_plan;

/// `plan` with `tolower(name) == name` as a negated inequality.
///
/// DataFusion 55.2 infers an equivalence from an equality in a filter. If one side contains the other, DataFusion substitutes
/// the expression into itself, no longer recognises an order of the column, and fails to plan. It infers nothing from a
/// negated inequality, which is the same predicate.
pub(in crate::datafusion) fn negate_inequalities(plan: LogicalPlan) -> Result<LogicalPlan> {
    replace_in_plan(
        plan,
        |expr| expr.exists(|e| Ok(is_circular(e))),
        |expr| {
            expr.transform_up(|expr| {
                Ok(match expr {
                    Expr::BinaryExpr(BinaryExpr {
                        left,
                        op: Operator::Eq,
                        right,
                    }) if contains(&left, &right) => {
                        let differs = BinaryExpr::new(left, Operator::NotEq, right);
                        Transformed::yes(Expr::Not(Box::new(Expr::BinaryExpr(differs))))
                    }
                    expr => Transformed::no(expr),
                })
            })
            .map(|transformed| transformed.data)
        },
    )
}

fn is_circular(expr: &Expr) -> bool {
    match expr {
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: Operator::Eq,
            right,
        }) => contains(left, right),
        _ => false,
    }
}

/// Whether one of two different expressions is a subexpression of the other.
fn contains(one: &Expr, other: &Expr) -> bool {
    let within = |whole: &Expr, part: &Expr| whole.exists(|e| Ok(e == part)).unwrap_or(false);
    one != other && (within(one, other) || within(other, one))
}
