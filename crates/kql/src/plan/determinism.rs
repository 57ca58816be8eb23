//! Materialization of non-deterministic rows (`docs/semantics.md §14.5`).
//!
//! A relation is a plan, and each reader executes the plan. If two executions may return different rows, or different row
//! numbers, the rows are evaluated once and materialized.

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::{Expr as PlanExpr, LogicalPlan};
use hindsight_kql_syntax::Span;

use crate::context::BindContext;
use crate::error::{BindResult, plan_error};
use crate::relation::Relation;
use crate::transform::depends_on_order;

/// `input`, materialized if its plan is non-deterministic.
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

/// Whether each execution of a plan returns the same rows: no expression is volatile, and no node takes the first rows or
/// depends on their order, which may differ between executions.
fn is_deterministic(plan: &LogicalPlan) -> datafusion::common::Result<bool> {
    let mut deterministic = true;
    plan.apply_with_subqueries(|node| {
        let by_order = match node {
            LogicalPlan::Limit(_) | LogicalPlan::Window(_) => true,
            LogicalPlan::Extension(extension) => depends_on_order(extension),
            _ => false,
        };
        deterministic &= !by_order && !node.expressions().iter().any(PlanExpr::is_volatile);
        Ok(if deterministic {
            TreeNodeRecursion::Continue
        } else {
            TreeNodeRecursion::Stop
        })
    })?;
    Ok(deterministic)
}

#[cfg(test)]
mod tests {
    use crate::BindOptions;
    use crate::testing::TestCatalog;

    /// The number of times that rows are materialized.
    fn materializations(query: &str) -> usize {
        let parsed = hindsight_kql_syntax::parse(query);
        let bound = crate::bind(&parsed.query, &TestCatalog, &BindOptions::default());
        bound.expect("it binds").steps.len()
    }

    #[test]
    fn non_deterministic_rows_are_materialized() {
        for (query, times) in [
            // The row numbers of the input identify the subtables.
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
            // A key identifies its subtable itself.
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
            assert_eq!(
                materializations(&format!("requests | {query}")),
                times,
                "{query}"
            );
        }
    }
}
