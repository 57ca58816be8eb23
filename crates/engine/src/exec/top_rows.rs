//! Sorts that return their first rows only, directly above scans of segments: the scan finds these rows by the sort column alone, before it
//! reads other columns.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use hindsight_kql::sorted_column;
use hindsight_store::{TopRows, with_top_rows};

use crate::scanned::DISTRIBUTED;

/// Bounds the scans below sorts that return their first rows only.
#[derive(Debug)]
pub(super) struct TopRowsRule;

impl PhysicalOptimizerRule for TopRowsRule {
    fn name(&self) -> &str {
        "top_rows"
    }

    fn schema_check(&self) -> bool {
        true
    }

    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            Ok(match bounded(&plan)? {
                Some(bounded) => Transformed::yes(bounded),
                None => Transformed::no(plan),
            })
        })
        .data()
    }
}

/// `plan` over scans with a bound, if it is a sort of all rows below it that returns its first rows only.
fn bounded(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(merge) = plan.downcast_ref::<SortPreservingMergeExec>() {
        return match merge.fetch() {
            Some(rows) => below_merge(plan, rows),
            None => Ok(None),
        };
    }
    let Some(sort) = plan.downcast_ref::<SortExec>() else {
        return Ok(None);
    };
    if sort.preserve_partitioning() && sort.input().output_partitioning().partition_count() > 1 {
        return Ok(None);
    }
    with_bound(plan, sort)
}

/// A merge that returns `rows` rows, or the distributed fragment below it, over scans with a bound. The partitions of a sort are parts of one
/// result if the node above merges them, at this node alone or with those of other nodes.
fn below_merge(
    plan: &Arc<dyn ExecutionPlan>,
    rows: usize,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let &[input] = plan.children().as_slice() else {
        return Ok(None);
    };
    let sorted = match input.downcast_ref::<SortExec>() {
        Some(sort) if sort.fetch().is_some_and(|fetch| fetch >= rows) => with_bound(input, sort)?,
        None if input.name() == DISTRIBUTED => below_merge(input, rows)?,
        _ => None,
    };
    sorted
        .map(|sorted| replace_children_if_necessary(Arc::clone(plan), vec![sorted]))
        .transpose()
}

/// `plan`, which is `sort`, over scans with its bound.
fn with_bound(
    plan: &Arc<dyn ExecutionPlan>,
    sort: &SortExec,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let column = sorted_column(sort.expr(), sort.input().schema().as_ref());
    let (Some(column), Some(rows)) = (column, sort.fetch()) else {
        return Ok(None);
    };
    let top = TopRows {
        column: column.index,
        descending: column.descending,
        nulls_first: column.nulls_first,
        rows,
    };
    let input = below(sort.input(), &top)?;
    input
        .map(|input| replace_children_if_necessary(Arc::clone(plan), vec![input]))
        .transpose()
}

/// `plan` with the bound in the scans below nodes that keep all rows; `None` if there is no such scan.
fn below(plan: &Arc<dyn ExecutionPlan>, top: &TopRows) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(scan) = with_top_rows(plan.as_ref(), top) {
        return Ok(Some(scan));
    }
    let column = if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        let expr = projection.expr().get(top.column);
        let column = expr.and_then(|output| output.expr.downcast_ref::<Column>());
        column.map(Column::index)
    } else {
        let keeps_rows = plan.is::<UnionExec>() || plan.is::<CoalescePartitionsExec>();
        keeps_rows.then_some(top.column)
    };
    let Some(column) = column else {
        return Ok(None);
    };
    let top = TopRows { column, ..*top };
    let mut found = false;
    let mut children = Vec::new();
    for child in plan.children() {
        let bounded = below(child, &top)?;
        found |= bounded.is_some();
        children.push(bounded.unwrap_or_else(|| Arc::clone(child)));
    }
    if !found {
        return Ok(None);
    }
    replace_children_if_necessary(Arc::clone(plan), children).map(Some)
}
