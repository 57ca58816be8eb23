//! `top-nested`: the greatest values of a column, within them those of the next, … (`semantics.md §21`).

use datafusion::logical_expr::{JoinType, SortExpr};
use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Direction, NamedExpr, TopNestedLevel, TopNestedOperator};

use super::extend::add_columns;
use super::join_keys::{JoinKey, equal_columns};
use super::join_plan::{RightColumns, join_plan};
use super::take::row_count;
use super::{group_limit, sort, summarize, support};
use crate::bind::{BindResult, Binder, plan_error};
use crate::relation::{Column, Relation};

pub(crate) fn bind(
    node: &TopNestedOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    support::refuse_groups(&input, binder, span)?;
    if let Some(others) = node.levels.iter().find_map(|l| l.others.as_ref()) {
        return Err(binder.unsupported("'with others'", others.span));
    }
    let (mut rows, keys) = keyed_rows(&node.levels, input, binder, span)?;
    let mut result: Option<Relation> = None;
    let mut order = Vec::new();
    for (depth, level) in node.levels.iter().enumerate() {
        let path = keys.get(..=depth).unwrap_or_default();
        let (ranked, value) = level_rows(level, path, &rows, binder, span)?;
        rows = join(rows, ranked.clone(), path, JoinType::LeftSemi, span)?;
        let parents = keys.get(..depth).unwrap_or_default();
        let joined = match result {
            None => ranked,
            Some(before) => nested(before, ranked, parents, &value, binder, span)?,
        };
        let name = joined.columns.last().map_or(value, |c| c.name.clone());
        order.push((name, level.direction == Some(Direction::Asc)));
        order.extend(path.last().map(|key| (key.clone(), true)));
        result = Some(joined);
    }
    let Some(result) = result else {
        return Ok(rows);
    };
    let mut sort_keys: Vec<SortExpr> = Vec::new();
    for (name, ascending) in order {
        if let Some(column) = result.column(&name) {
            let keys = sort::sort_keys(column.scalar(), ascending, ascending);
            sort_keys.extend(keys.map_err(|e| plan_error(e, span))?);
        }
    }
    let sorted = sort::sorted(result, sort_keys, None);
    Ok(Relation {
        serialized: false,
        ..sorted
    })
}

/// The rows of the input with the value of each level as a column of its own, and those columns' names.
fn keyed_rows(
    levels: &[TopNestedLevel],
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<(Relation, Vec<String>)> {
    let items: Vec<NamedExpr> = levels.iter().map(|l| l.of.clone()).collect();
    let bound = summarize::bind_keys(&items, &input, binder, span)?;
    let input = super::window::absorb(binder, input, span)?;
    let keys = bound.iter().map(|k| k.name.clone()).collect();
    let columns = bound
        .into_iter()
        .map(|k| (k.name, k.scalar.kind, k.scalar.expr))
        .collect();
    let rows = add_columns(input, columns, span)?;
    // Each level reads them.
    let rows = match levels.len() {
        1 => rows,
        _ => binder.materialize(rows, span)?,
    };
    Ok((rows, keys))
}

/// The kept values of one level with their aggregate, and the aggregate's name.
fn level_rows(
    level: &TopNestedLevel,
    path: &[String],
    rows: &Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<(Relation, String)> {
    let key = path.last().cloned().unwrap_or_default();
    let by: Vec<NamedExpr> = path.iter().map(|name| column_item(name, span)).collect();
    let mut aggregate = level.by.clone();
    let name = match aggregate.names.first() {
        Some(name) => name.text.clone(),
        None => format!("aggregated_{key}"),
    };
    aggregate.names = vec![hindsight_kql_syntax::ast::Name::new(&name, span)];
    let ranked = summarize::summarize(&[aggregate], &by, rows.clone(), binder, span)?;
    let Some(count) = &level.count else {
        return Ok((ranked, name));
    };
    let count = row_count(binder.constant_long(count)?);
    let Some(value) = ranked.columns.last().cloned() else {
        return Ok((ranked, name));
    };
    let ascending = level.direction == Some(Direction::Asc);
    let mut order =
        sort::sort_keys(value.scalar(), ascending, ascending).map_err(|e| plan_error(e, span))?;
    // Equal aggregates stand in the order of the values, so that the answer does not change from run to run.
    if let Some(key) = ranked.column(&key) {
        let tie = sort::sort_keys(key.scalar(), true, true).map_err(|e| plan_error(e, span))?;
        order.extend(tie);
    }
    let sorted = sort::sorted(ranked, order, None).finish(span)?;
    let parents = path.get(..path.len() - 1).unwrap_or_default().to_vec();
    let kept = match parents.is_empty() {
        true => support::limit(sorted, count),
        false => group_limit::limit_by(sorted, parents, count, span)?,
    };
    Ok((kept, name))
}

fn column_item(name: &str, span: Span) -> NamedExpr {
    use hindsight_kql_syntax::ast::{Expr, ExprKind, Name};
    NamedExpr {
        names: Vec::new(),
        tuple: false,
        expr: Expr::new(ExprKind::Name(Name::new(name, span)), span),
    }
}

fn join(
    left: Relation,
    right: Relation,
    keys: &[String],
    kind: JoinType,
    span: Span,
) -> BindResult<Relation> {
    let (left, right) = (left.finish(span)?, right.finish(span)?);
    let keys: Vec<JoinKey> = keys
        .iter()
        .filter_map(|k| equal_columns(left.column(k)?, right.column(k)?))
        .collect();
    join_plan(left, right, &keys, kind, RightColumns::WithoutKeys, span)
}

/// The rows of the levels so far with the next level's value and aggregate.
fn nested(
    before: Relation,
    level: Relation,
    parents: &[String],
    value: &str,
    binder: &Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    let taken = |c: &Column| !parents.contains(&c.name) && before.column(&c.name).is_some();
    if let Some(column) = level.columns.iter().find(|c| taken(c)) {
        let message = format!("'{}' is the name of two columns ('{value}')", column.name);
        return Err(binder.error("SEM0034", message, span));
    }
    join(before, level, parents, JoinType::Inner, span)
}
