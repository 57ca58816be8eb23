//! Replaces expressions in logical plans.

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan};

/// `plan` with `replace` applied to each expression for which `applies` is true; no column changes its name.
pub(crate) fn replace_in_plan(
    plan: LogicalPlan,
    applies: impl Fn(&Expr) -> Result<bool>,
    replace: impl Fn(Expr) -> Result<Expr>,
) -> Result<LogicalPlan> {
    let rewritten = plan.transform_up_with_subqueries(|node| {
        let names = NamePreserver::new(&node);
        let expressions = node.map_expressions(|expr| {
            if !applies(&expr)? {
                return Ok(Transformed::no(expr));
            }
            let name = names.save(&expr);
            replace(expr).map(|expr| Transformed::yes(name.restore(expr)))
        })?;
        if expressions.transformed {
            expressions.map_data(LogicalPlan::recompute_schema)
        } else {
            Ok(expressions)
        }
    });
    rewritten.map(|transformed| transformed.data)
}
