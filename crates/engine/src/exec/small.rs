//! Plans over few rows: what partitions cost is more than they gain.
//!
//! A repartitioning by keys starts a task for each partition, and each task wakes a thread. With few rows that takes longer than the
//! aggregation, the join or the sort that it divides. The first rows by time are few as well, of any number of rows.

use datafusion::common::Column;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::source_as_provider;
use datafusion::execution::context::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan, TableScan};
use hindsight_store::{StoreTable, TIMESTAMP};

/// Rows up to which one partition reads all.
const ONE_PARTITION: u64 = 8_192;
/// Rows up to which the scans are divided between partitions, and nothing behind them.
const ONE_AFTER_SCANS: u64 = 262_144;
/// First rows by time up to which one partition reads them.
const ONE_FOR_FIRST: usize = 2_048;

/// What a plan reads.
struct Reads {
    /// The most rows of its scans together, by the times of segments.
    rows: u64,
    /// Whether it joins them. A join of few rows may return many, which are then aggregated in many small tables.
    joins: bool,
}

/// Adapts the settings of a session to the rows that a plan reads. `distributes` says whether other nodes may run parts of it. These parts are
/// found by their phases, of which a plan that is not divided has none; the first rows by time are read by one node in any case.
pub(crate) fn adapt(state: &mut SessionState, plan: &LogicalPlan, distributes: bool) {
    if returns_first_by_time(plan) {
        let options = state.config_mut().options_mut();
        undivide(options);
        options.execution.target_partitions = 1;
        return;
    }
    if distributes {
        return;
    }
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

/// Whether a plan returns the first rows of a table by time, of all rows or of those of a time range. Its scan reads the segments with these
/// times alone: a second partition would read rows that the first one leaves out.
pub(crate) fn returns_first_by_time(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => returns_first_by_time(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => returns_first_by_time(&alias.input),
        LogicalPlan::Limit(limit) => returns_first_by_time(&limit.input),
        LogicalPlan::Sort(sort) => {
            let is_short = sort.fetch.is_some_and(|rows| rows <= ONE_FOR_FIRST);
            let by = sort.expr.first().and_then(|by| by.expr.try_as_col());
            is_short && by.is_some_and(|by| is_time(by, &sort.input))
        }
        _ => false,
    }
}

/// Whether a column of a plan is the time of the rows of a table, all of which the plan returns but for those beyond a time range.
fn is_time(column: &Column, plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => {
            let place = projection.schema.maybe_index_of_column(column);
            let expr = place.and_then(|place| projection.expr.get(place));
            let below = expr.and_then(|expr| unaliased(expr).try_as_col());
            below.is_some_and(|below| is_time(below, &projection.input))
        }
        LogicalPlan::SubqueryAlias(alias) => {
            let place = alias.schema.maybe_index_of_column(column);
            let below =
                place.map(|place| Column::from(alias.input.schema().qualified_field(place)));
            below.is_some_and(|below| is_time(&below, &alias.input))
        }
        LogicalPlan::Filter(filter) => {
            reads_times(&filter.predicate) && is_time(column, &filter.input)
        }
        LogicalPlan::TableScan(scan) => {
            column.name == TIMESTAMP
                && scan.filters.iter().all(reads_times)
                && rows_of(scan).is_some()
        }
        _ => false,
    }
}

/// An expression without its names.
fn unaliased(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias(alias) => unaliased(&alias.expr),
        expr => expr,
    }
}

/// Whether a condition reads the times of rows, and no other column. One that reads no column, such as `rand() < 0.1`, bounds no time.
fn reads_times(condition: &Expr) -> bool {
    let columns = condition.column_refs();
    !columns.is_empty() && columns.iter().all(|column| column.name == TIMESTAMP)
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
