//! Rows that are read more than once (`semantics.md §14.5`).
//!
//! A relation is a plan, and each place that reads it runs the plan anew. Where that need not give the same rows again, or
//! the same numbers of rows, they are computed once and kept.

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::{Expr as PlanExpr, LogicalPlan};
use hindsight_kql_syntax::Span;

use crate::context::BindContext;
use crate::error::{BindResult, plan_error};
use crate::relation::Relation;
use crate::transform::depends_on_order;

/// `input`, materialized if another run of its plan may give other rows.
pub(crate) fn materialize_if_non_deterministic(
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    if is_deterministic(&input.plan).map_err(|e| plan_error(e, span))? {
        Ok(input)
    } else {
        binder.materialize(input, span)
    }
}

/// Whether a plan gives the same rows each time: nothing in it is volatile, takes the rows that come first, or
/// goes by their order, which two runs need not share.
fn is_deterministic(plan: &LogicalPlan) -> datafusion::common::Result<bool> {
    let mut repeatable = true;
    plan.apply_with_subqueries(|node| {
        let by_order = match node {
            LogicalPlan::Limit(_) | LogicalPlan::Window(_) => true,
            LogicalPlan::Extension(extension) => depends_on_order(extension),
            _ => false,
        };
        repeatable &= !by_order && !node.expressions().iter().any(PlanExpr::is_volatile);
        Ok(if repeatable {
            TreeNodeRecursion::Continue
        } else {
            TreeNodeRecursion::Stop
        })
    })?;
    Ok(repeatable)
}

#[cfg(test)]
mod tests {
    use crate::BindOptions;
    use crate::testing::TestCatalog;

    /// How often rows are kept to be read again.
    fn kept(query: &str) -> usize {
        let parsed = hindsight_kql_syntax::parse(query);
        let bound = crate::bind(&parsed.query, &TestCatalog, &BindOptions::default());
        bound.expect("it binds").steps.len()
    }

    #[test]
    fn rows_are_kept_where_another_run_may_give_others() {
        for (query, times) in [
            // The lists' rows are told apart by the numbers of the rows that they come from.
            ("mv-apply e = split(name, ' ') on (as all | union (all))", 1),
            (
                "mv-apply e = split(name, ' ') on (as all | extend n = toscalar(all | count))",
                1,
            ),
            ("mv-apply e = split(name, ' ') on (union (print 1))", 1),
            (
                "mv-apply e = split(name, ' ') on (where e == 'a' | count)",
                0,
            ),
            // A key is its own number.
            ("partition by name (as all | union (all))", 0),
            ("take 9 | partition by name (as all | union (all))", 1),
            ("fork (count) (where name == 'a')", 0),
            ("take 9 | fork (count) (where name == 'a')", 1),
            ("extend r = rand() | facet by name with (where r > 0.5)", 1),
            (
                "where duration > 1 | as hint.materialized=true all | union all",
                0,
            ),
            ("sample 3 | as hint.materialized=true all | union all", 1),
            ("sample 3 | as all | union all", 0),
        ] {
            assert_eq!(kept(&format!("requests | {query}")), times, "{query}");
        }
    }
}
