//! Plans over few rows: what partitions cost is more than they gain.
//!
//! A repartitioning by keys starts a task for each partition, and each task wakes a thread. With few rows that takes longer than the
//! aggregation, the join or the sort that it divides.

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::source_as_provider;
use datafusion::execution::context::SessionState;
use datafusion::logical_expr::{LogicalPlan, TableScan};
use hindsight_store::StoreTable;

/// Rows up to which one partition reads all.
const ONE_PARTITION: u64 = 8_192;
/// Rows up to which the scans are divided between partitions, and nothing behind them.
const ONE_AFTER_SCANS: u64 = 262_144;

/// What a plan reads.
struct Reads {
    /// The most rows of its scans together, by the times of segments.
    rows: u64,
    /// Whether it joins them. A join of few rows may return many, which are then aggregated in many small tables.
    joins: bool,
}

/// Adapts the settings of a session to the rows that a plan reads.
pub(crate) fn adapt(state: &mut SessionState, plan: &LogicalPlan) {
    let Some(reads) = Reads::of(plan).filter(|reads| reads.rows <= ONE_AFTER_SCANS) else {
        return;
    };
    let options = state.config_mut().options_mut();
    if reads.joins {
        options.optimizer.repartition_joins = false;
        return;
    }
    undivide(options);
    if reads.rows <= ONE_PARTITION {
        options.execution.target_partitions = 1;
    }
}

/// Divides nothing behind the scans between partitions.
pub(crate) fn undivide(options: &mut ConfigOptions) {
    options.optimizer.repartition_joins = false;
    options.optimizer.repartition_aggregations = false;
    options.optimizer.repartition_sorts = false;
}

impl Reads {
    /// `None` if the number of rows is not known, or if a node that is no join may make more of them.
    fn of(plan: &LogicalPlan) -> Option<Reads> {
        let mut reads = Reads {
            rows: 0,
            joins: false,
        };
        let mut are_known = true;
        let visited = plan.apply(|node| {
            are_known &= reads.add(node);
            Ok(if are_known {
                TreeNodeRecursion::Continue
            } else {
                TreeNodeRecursion::Stop
            })
        });
        (visited.is_ok() && are_known).then_some(reads)
    }

    /// Adds a node; `false` if its rows are not known.
    fn add(&mut self, node: &LogicalPlan) -> bool {
        match node {
            LogicalPlan::TableScan(scan) => {
                let Some(rows) = rows_of(scan) else {
                    return false;
                };
                self.rows = self.rows.saturating_add(rows);
                true
            }
            LogicalPlan::Join(_) => {
                self.joins = true;
                true
            }
            LogicalPlan::Projection(_)
            | LogicalPlan::Filter(_)
            | LogicalPlan::Aggregate(_)
            | LogicalPlan::Sort(_)
            | LogicalPlan::Limit(_)
            | LogicalPlan::Union(_)
            | LogicalPlan::SubqueryAlias(_)
            | LogicalPlan::Distinct(_)
            | LogicalPlan::EmptyRelation(_) => true,
            _ => false,
        }
    }
}

fn rows_of(scan: &TableScan) -> Option<u64> {
    let provider = source_as_provider(&scan.source).ok()?;
    let table = provider.downcast_ref::<StoreTable>()?;
    table.rows_in(&scan.filters)
}
