//! Pushdown of volatile predicates.

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Pushes filters down, except a filter with a volatile predicate (`rand() < 0.5`) over a node that changes the set of rows.
///
/// DataFusion 55.2 decides by the columns that a predicate reads, and `rand()` reads none: the filter would be applied to the
/// rows before they are grouped, joined or generated.
pub(in crate::datafusion) fn rewrite(
    rule: &dyn OptimizerRule,
    plan: LogicalPlan,
    config: &dyn OptimizerConfig,
) -> Result<Transformed<LogicalPlan>> {
    if must_stay(&plan) {
        Ok(Transformed::no(plan))
    } else {
        rule.rewrite(plan, config)
    }
}

/// Whether a filter must stay in place. The rule merges adjacent filters before it moves them, so this inspects all of them.
fn must_stay(plan: &LogicalPlan) -> bool {
    let (mut below, mut volatile) = (plan, false);
    while let LogicalPlan::Filter(filter) = below {
        volatile |= filter.predicate.is_volatile();
        below = filter.input.as_ref();
    }
    let row_by_row = matches!(
        below,
        LogicalPlan::Projection(_)
            | LogicalPlan::Sort(_)
            | LogicalPlan::SubqueryAlias(_)
            | LogicalPlan::TableScan(_)
            | LogicalPlan::Union(_)
    );
    volatile && !row_by_row
}
