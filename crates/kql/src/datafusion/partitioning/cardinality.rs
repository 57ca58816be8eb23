//! About how many rows and groups there are. It decides into how many parts rows are dealt out, never what a result is.

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

/// About how many rows a plan gives at most. Filters are taken to keep all, and joins to give as many as their sides have.
pub(crate) fn most_rows(plan: &Plan) -> usize {
    if let Some(node) = plan.downcast_ref::<TransformExec>() {
        return node.most_rows();
    }
    match plan.children().is_empty() {
        true => rows_of_leaf(plan.as_ref()),
        false => rows_below(plan),
    }
}

/// About how many rows the inputs of a node give at most.
pub(in crate::datafusion) fn rows_below(node: &Plan) -> usize {
    let inputs = node.children().into_iter().map(most_rows);
    inputs.fold(0, usize::saturating_add)
}

/// The rows of a leaf. All tell theirs; one that did not might have any number.
fn rows_of_leaf(leaf: &dyn ExecutionPlan) -> usize {
    let known = StatisticsContext::new().compute(leaf, &StatisticsArgs::new());
    let rows = known.ok().and_then(|s| s.num_rows.get_value().copied());
    rows.unwrap_or(usize::MAX)
}

/// About how many groups an aggregation has at most.
///
/// A join may give every row of a side with every one of the other, so groups by columns of both may be many more than
/// there are rows in either. By columns of one side there are no more than it has rows.
pub(in crate::datafusion) fn most_groups(aggregate: &AggregateExec) -> usize {
    let keys = aggregate.group_expr().expr().iter().map(|(key, _)| key);
    values_of(keys, aggregate.input())
}

/// About how many different combinations of values expressions over a plan have at most.
fn values_of<'e>(exprs: impl Iterator<Item = &'e Arc<dyn PhysicalExpr>>, plan: &Plan) -> usize {
    match read_by(exprs) {
        Some(columns) => combinations(plan, &columns),
        None => most_rows(plan),
    }
}

/// The columns that expressions are made of; none where chance is a part of it.
fn read_by<'e>(exprs: impl Iterator<Item = &'e Arc<dyn PhysicalExpr>>) -> Option<BTreeSet<usize>> {
    let mut columns = BTreeSet::new();
    for expr in exprs {
        if is_volatile(expr) {
            return None;
        }
        columns.extend(collect_columns(expr).iter().map(|column| column.index()));
    }
    Some(columns)
}

/// About how many different combinations of values these columns of a plan have at most.
fn combinations(plan: &Plan, columns: &BTreeSet<usize>) -> usize {
    if columns.is_empty() {
        return 1;
    }
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        let wanted = columns.iter().filter_map(|i| projection.expr().get(*i));
        return values_of(wanted.map(|column| &column.expr), projection.input());
    }
    if let Some(aggregate) = plan.downcast_ref::<AggregateExec>() {
        return of_groups(aggregate, columns);
    }
    if let Some(join) = plan.downcast_ref::<HashJoinExec>() {
        return pairs(join, columns);
    }
    if plan.is::<UnionExec>() || plan.is::<InterleaveExec>() {
        let tables = plan.children().into_iter();
        return tables.fold(0, |sum, table| {
            sum.saturating_add(combinations(table, columns))
        });
    }
    match only_passes_rows(plan) {
        Some(input) => combinations(input, columns),
        None => most_rows(plan),
    }
}

/// The combinations of keys, or where there are values of groups among the columns, the groups.
fn of_groups(aggregate: &AggregateExec, columns: &BTreeSet<usize>) -> usize {
    let keys = aggregate.group_expr().expr();
    let wanted = columns.iter().map(|index| keys.get(*index));
    match wanted.collect::<Option<Vec<_>>>() {
        Some(keys) => values_of(keys.into_iter().map(|(key, _)| key), aggregate.input()),
        None => most_groups(aggregate),
    }
}

/// The combinations of the columns of the one side, with each those of the other.
fn pairs(join: &HashJoinExec, columns: &BTreeSet<usize>) -> usize {
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
    let left = combinations(left, &of_side(JoinSide::Left));
    left.saturating_mul(combinations(right, &of_side(JoinSide::Right)))
}

/// The input of a node whose columns are those of its input; none of a node that may have others.
fn only_passes_rows(plan: &Plan) -> Option<&Plan> {
    let filters_columns = plan
        .downcast_ref::<FilterExec>()
        .is_some_and(|filter| filter.projection().is_some());
    let other_columns = filters_columns || plan.is::<TransformExec>();
    match plan.children().as_slice() {
        [input] if !other_columns && input.schema() == plan.schema() => Some(*input),
        _ => None,
    }
}
