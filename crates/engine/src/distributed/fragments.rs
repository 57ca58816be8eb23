//! The fragments of a plan: what can run over parts of the segments.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use hindsight_kql::{has_stable_expressions, is_row_wise};
use hindsight_store::{AppId, TimeRange, part_of_scan, scan_condition, scanned_bytes};

/// The columns with the time of items, in the tables of applications and in those of workspaces.
const TIMES: [&str; 2] = ["timestamp", "TimeGenerated"];

/// What a fragment does with the rows that it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reduction {
    /// It aggregates them partially.
    Aggregate,
    /// It returns the first of them by an order.
    First,
    /// It drops those that do not meet a condition.
    Filter,
}

/// The reduction at the root of a plan, if the plan is a fragment.
pub(super) fn reduction(plan: &Arc<dyn ExecutionPlan>) -> Option<Reduction> {
    if let Some(aggregate) = plan.downcast_ref::<AggregateExec>() {
        let is_partial = *aggregate.mode() == AggregateMode::Partial
            && aggregate.limit_options().is_none()
            && has_stable_expressions(plan.as_ref());
        return is_partial.then_some(Reduction::Aggregate);
    }
    if let Some(sort) = plan.downcast_ref::<SortExec>() {
        let is_first =
            sort.fetch().is_some() && !is_by_time(sort) && has_stable_expressions(plan.as_ref());
        return is_first.then_some(Reduction::First);
    }
    has_condition(plan).then_some(Reduction::Filter)
}

/// Whether the latest or the earliest items come first: segments have these in order, and few of them are read.
fn is_by_time(sort: &SortExec) -> bool {
    let column = sort.expr().first().expr.downcast_ref::<Column>();
    column.is_some_and(|column| TIMES.contains(&column.name()))
}

/// The bytes of segments that row-wise nodes read; `None` if there are no such segments below them.
pub(super) fn divisible_bytes(plan: &Arc<dyn ExecutionPlan>) -> Option<u64> {
    if let Some(bytes) = scanned_bytes(plan.as_ref()) {
        return Some(bytes);
    }
    if !is_row_wise(plan.as_ref()) {
        return None;
    }
    let children = plan.children().into_iter();
    children
        .filter_map(divisible_bytes)
        .reduce(u64::saturating_add)
}

/// Whether row-wise nodes drop rows by a condition on more than their time.
fn has_condition(plan: &Arc<dyn ExecutionPlan>) -> bool {
    if let Some(condition) = scan_condition(plan.as_ref()) {
        return is_selective(&condition);
    }
    let filter = plan.downcast_ref::<FilterExec>();
    is_row_wise(plan.as_ref())
        && (filter.is_some_and(|filter| is_selective(filter.predicate()))
            || plan.children().into_iter().any(has_condition))
}

fn is_selective(condition: &Arc<dyn PhysicalExpr>) -> bool {
    let columns = collect_columns(condition);
    columns.iter().any(|column| !TIMES.contains(&column.name()))
}

/// The part of a fragment that one node runs.
pub(super) struct Part<'a> {
    /// What the node reads of the segments of an application whose earliest row is at a time, in ticks.
    pub(super) slices: &'a dyn Fn(AppId, i64) -> Vec<TimeRange>,
    /// Whether it also reads what is not in segments.
    pub(super) with_others: bool,
    /// The most partitions of its scans.
    pub(super) partitions: usize,
}

impl Part<'_> {
    /// The part of a fragment, or of row-wise nodes.
    pub(super) fn of(&self, fragment: &Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        if fragment.is::<AggregateExec>() || fragment.is::<SortExec>() {
            return self.of_children(fragment);
        }
        if divisible_bytes(fragment).is_none() {
            return Ok(if self.with_others {
                Arc::clone(fragment)
            } else {
                Arc::new(EmptyExec::new(fragment.schema()))
            });
        }
        match part_of_scan(fragment.as_ref(), self.slices, self.partitions) {
            Some(part) => Ok(part),
            None => self.of_children(fragment),
        }
    }

    fn of_children(&self, plan: &Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        let children = plan.children().into_iter();
        let parts = children.map(|child| self.of(child));
        replace_children_if_necessary(Arc::clone(plan), parts.collect::<Result<Vec<_>>>()?)
    }
}
