//! Conditions that ask chance.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

/// The name of the rule that moves filters.
pub(in crate::datafusion) const FILTERS: &str = "push_down_filter";

/// The rule that moves filters, but for those with a condition like `rand() < 0.5` over what makes other rows of its rows.
///
/// DataFusion 55.2 decides by the columns that a condition reads, and chance reads none: it would choose among the rows
/// before they are grouped, joined or made, and not among those that are there.
#[derive(Debug)]
pub(in crate::datafusion) struct ChanceStays(
    pub(in crate::datafusion) Arc<dyn OptimizerRule + Send + Sync>,
);

impl OptimizerRule for ChanceStays {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        match stays(&plan) {
            true => Ok(Transformed::no(plan)),
            false => self.0.rewrite(plan, config),
        }
    }
}

/// The rule makes one filter of several in a row.
fn stays(plan: &LogicalPlan) -> bool {
    let (mut below, mut asks_chance) = (plan, false);
    while let LogicalPlan::Filter(filter) = below {
        asks_chance |= filter.predicate.is_volatile();
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
    asks_chance && !row_by_row
}
