//! Cardinality estimates. They determine the number of hash partitions, never a result.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::common::JoinSide;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr_common::physical_expr::is_volatile;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::joins::utils::build_join_schema;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::union::{InterleaveExec, UnionExec};
use datafusion::physical_plan::{ExecutionPlan, PhysicalExpr};

use crate::transform::TransformExec;

type Plan = Arc<dyn ExecutionPlan>;

/// The cardinality estimate of a plan. The estimate assumes that a filter keeps all rows, and that a join has as many rows as
/// both of its sides together.
pub(crate) fn estimated_rows(plan: &Plan) -> usize {
    if let Some(node) = plan.downcast_ref::<TransformExec>() {
        return node.estimated_rows(estimated_input_rows(plan));
    }
    if plan.children().is_empty() {
        rows_of_leaf(plan.as_ref())
    } else {
        estimated_input_rows(plan)
    }
}

/// The total cardinality estimate of the inputs of a node.
pub(in crate::datafusion) fn estimated_input_rows(node: &Plan) -> usize {
    let inputs = node.children().into_iter().map(estimated_rows);
    inputs.fold(0, usize::saturating_add)
}

/// The number of rows of a leaf by its statistics; the maximum if it has none.
fn rows_of_leaf(leaf: &dyn ExecutionPlan) -> usize {
    let known = StatisticsContext::new().compute(leaf, &StatisticsArgs::new());
    let rows = known.ok().and_then(|s| s.num_rows.get_value().copied());
    rows.unwrap_or(usize::MAX)
}

/// The estimated number of groups of an aggregation.
///
/// A join may pair every row of a side with every row of the other, so there may be more groups by columns of both sides
/// than either side has rows. Groups by columns of one side are at most as many as the rows of that side.
pub(in crate::datafusion) fn estimated_groups(aggregate: &AggregateExec) -> usize {
    let keys = aggregate.group_expr().expr().iter().map(|(key, _)| key);
    distinct_values(keys, aggregate.input())
}

/// The estimated number of distinct combinations of the values of expressions over a plan.
fn distinct_values<'e>(
    exprs: impl Iterator<Item = &'e Arc<dyn PhysicalExpr>>,
    plan: &Plan,
) -> usize {
    match columns_of(exprs) {
        Some(columns) => distinct_combinations(plan, &columns),
        None => estimated_rows(plan),
    }
}

/// The columns that expressions read; none if one of them is volatile.
fn columns_of<'e>(
    exprs: impl Iterator<Item = &'e Arc<dyn PhysicalExpr>>,
) -> Option<BTreeSet<usize>> {
    let mut columns = BTreeSet::new();
    for expr in exprs {
        if is_volatile(expr) {
            return None;
        }
        columns.extend(collect_columns(expr).iter().map(|column| column.index()));
    }
    Some(columns)
}

/// The estimated number of distinct combinations of the values of these columns of a plan.
fn distinct_combinations(plan: &Plan, columns: &BTreeSet<usize>) -> usize {
    if columns.is_empty() {
        return 1;
    }
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        let selected = columns.iter().filter_map(|i| projection.expr().get(*i));
        return distinct_values(selected.map(|column| &column.expr), projection.input());
    }
    if let Some(aggregate) = plan.downcast_ref::<AggregateExec>() {
        return distinct_groups(aggregate, columns);
    }
    if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        return distinct_pairs(join, columns);
    }
    if plan.is::<UnionExec>() || plan.is::<InterleaveExec>() {
        let tables = plan.children().into_iter();
        return tables.fold(0, |sum, table| {
            sum.saturating_add(distinct_combinations(table, columns))
        });
    }
    match row_preserving_input(plan) {
        Some(input) => distinct_combinations(input, columns),
        None => estimated_rows(plan),
    }
}

/// The number of distinct combinations of those columns that are keys; all groups if some column is not a key.
fn distinct_groups(aggregate: &AggregateExec, columns: &BTreeSet<usize>) -> usize {
    let keys = aggregate.group_expr().expr();
    let selected = columns.iter().map(|index| keys.get(*index));
    match selected.collect::<Option<Vec<_>>>() {
        Some(keys) => distinct_values(keys.into_iter().map(|(key, _)| key), aggregate.input()),
        None => estimated_groups(aggregate),
    }
}

/// The distinct combinations of the columns of one side times those of the other.
fn distinct_pairs(join: &HashJoinExec, columns: &BTreeSet<usize>) -> usize {
    let (left, right) = (join.left(), join.right());
    let (_, places) = build_join_schema(&left.schema(), &right.schema(), join.join_type());
    let place = |index: &usize| match &join.projection {
        Some(kept) => places.get(*kept.get(*index)?),
        None => places.get(*index),
    };
    let of_side = |side: JoinSide| {
        let places = columns.iter().filter_map(place);
        let of_side = places.filter(|place| place.side == side);
        of_side.map(|place| place.index).collect()
    };
    let left = distinct_combinations(left, &of_side(JoinSide::Left));
    left.saturating_mul(distinct_combinations(right, &of_side(JoinSide::Right)))
}

/// The input of a node that passes all columns of its input through; none for any other node.
fn row_preserving_input(plan: &Plan) -> Option<&Plan> {
    let filters_columns = plan
        .downcast_ref::<FilterExec>()
        .is_some_and(|filter| filter.projection().is_some());
    let other_columns = filters_columns || plan.is::<TransformExec>();
    match plan.children().as_slice() {
        [input] if !other_columns && input.schema() == plan.schema() => Some(*input),
        _ => None,
    }
}
