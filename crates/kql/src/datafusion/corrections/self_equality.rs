//! Equalities of a value with a formula of it.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator};

use super::large_literal::replace_in_plan;

/// `plan` with `tolower(name) == name` as what it is, a condition.
///
/// DataFusion 55.2 takes an equality of a filter for a second name of a column. Where one side holds the other it puts the
/// formula into itself, recognises no order of the column any more, and fails to plan. A negated inequality is the
/// same condition, and no name.
pub(in crate::datafusion) fn as_conditions(plan: LogicalPlan) -> Result<LogicalPlan> {
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
                    }) if holds(&left, &right) => {
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
        }) => holds(left, right),
        _ => false,
    }
}

/// Whether one of two different expressions is a part of the other.
fn holds(one: &Expr, other: &Expr) -> bool {
    let within = |whole: &Expr, part: &Expr| whole.exists(|e| Ok(e == part)).unwrap_or(false);
    one != other && (within(one, other) || within(other, one))
}
