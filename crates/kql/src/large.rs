//! Large values in plans: the library writes them as calls that cannot be evaluated, and here they become calls that can
//! be where a plan becomes physical.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan};
use hindsight_kql_library::large::{evaluable, is_large};

pub(crate) use hindsight_kql_library::large::{in_place, literal, waits};

/// `plan` with large values that can be evaluated; no column changes its name.
pub(crate) fn in_plan(plan: LogicalPlan) -> Result<LogicalPlan> {
    let holds = |expr: &Expr| expr.exists(|e| Ok(is_large(e)));
    replace_in_plan(plan, holds, evaluable)
}

/// `plan` with `replace` done to each expression that `concerns`; no column changes its name.
pub(crate) fn replace_in_plan(
    plan: LogicalPlan,
    concerns: impl Fn(&Expr) -> Result<bool>,
    replace: impl Fn(Expr) -> Result<Expr>,
) -> Result<LogicalPlan> {
    let rewritten = plan.transform_up_with_subqueries(|node| {
        let names = NamePreserver::new(&node);
        let expressions = node.map_expressions(|expr| {
            if !concerns(&expr)? {
                return Ok(Transformed::no(expr));
            }
            let name = names.save(&expr);
            replace(expr).map(|expr| Transformed::yes(name.restore(expr)))
        })?;
        match expressions.transformed {
            true => expressions.map_data(LogicalPlan::recompute_schema),
            false => Ok(expressions),
        }
    });
    rewritten.map(|transformed| transformed.data)
}
