//! `top-nested`: the greatest values of a column, for each of them those of the next column, … (`docs/semantics.md §21`).

use datafusion::logical_expr::{Expr as PlanExpr, JoinType, SortExpr, lit};
use hindsight_kql_syntax::ast::{
    Direction, Expr, ExprKind, Name, NamedExpr, TopNestedLevel, TopNestedOperator,
};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use super::extend::add_columns;
use super::sort;
use super::summarize;
use super::take::row_count;
use crate::context::{BindContext, Bound};
use crate::error::{BindResult, plan_error};
use crate::plan::join::{RightColumns, join_plan};
use crate::plan::join_keys::{JoinKey, equal_columns};
use crate::plan::union::{Leg, union_plan};
use crate::plan::{self, Output, group_limit};
use crate::relation::{Column, Relation, Scalar};

impl TabularOperator for TopNestedOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::KeepsAlone,
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: false,
            names_rows: false,
            adds_rows: false,
            keeps_columns: false,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        input.map(|rows| bind(self, rows, binder, span))
    }
}

fn bind(
    node: &TopNestedOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let subtables: Vec<String> = plan::groups(&input).into_iter().map(|c| c.name).collect();
    let with_others = node.levels.iter().rposition(|l| l.others.is_some());
    if with_others.is_some() {
        plan::refuse_groups(&input, binder, span)?;
    }
    let (mut rows, keys) = keyed_rows(&node.levels, input, binder, span)?;
    // The error of a level whose key does not bind is reported already.
    if keys.len() < node.levels.len() {
        return Ok(rows);
    }
    let mut result: Option<Relation> = None;
    let mut order = Vec::new();
    let mut rests = Vec::new();
    for (depth, level) in node.levels.iter().enumerate() {
        let path = keys.get(..=depth).unwrap_or_default();
        let (ranked, value) = level_rows(level, path, &rows, binder, span)?;
        let joined_by: Vec<String> = subtables.iter().chain(path).cloned().collect();
        let parents = outer_keys(&joined_by);
        if with_others.is_some_and(|last| depth <= last) {
            let others = join(
                rows.clone(),
                ranked.clone(),
                &joined_by,
                JoinType::LeftAnti,
                span,
            )?;
            rests.push(Rest {
                rows: others,
                before: result.clone(),
                parents: parents.to_vec(),
                depth,
            });
        }
        rows = join(rows, ranked.clone(), &joined_by, JoinType::LeftSemi, span)?;
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
    if !rests.is_empty() {
        return with_rests(&node.levels, &keys, result, rests, binder, span);
    }
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

/// The rows that a level does not keep.
struct Rest {
    rows: Relation,
    /// The values and aggregates of the outer levels.
    before: Option<Relation>,
    /// The keys of the outer levels.
    parents: Vec<String>,
    /// The index of the level.
    depth: usize,
}

/// The kept values, and one row for the rest of each level within its parent. A level with `with others` has its label and
/// the aggregate over the rest; a level without has empty and null values.
fn with_rests(
    levels: &[TopNestedLevel],
    keys: &[String],
    result: Relation,
    rests: Vec<Rest>,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let names: Vec<(String, String)> = keys
        .iter()
        .zip(levels)
        .map(|(key, level)| (key.clone(), aggregate_name(level, key)))
        .collect();
    let mut legs = vec![result.clone()];
    for rest in rests {
        let named: Vec<(&TopNestedLevel, &(String, String))> =
            levels.iter().zip(&names).skip(rest.depth).collect();
        let aggregates: Vec<NamedExpr> = named
            .iter()
            .filter(|(level, _)| level.others.is_some())
            .map(|(level, (_, name))| NamedExpr {
                names: vec![Name::new(name, span)],
                ..level.by.clone()
            })
            .collect();
        let parents = rest.parents.iter().filter(|p| keys.contains(p));
        let by: Vec<NamedExpr> = parents.map(|name| column_item(name, span)).collect();
        // An aggregation without keys returns a row even for an empty input.
        let rows = summarize::summarize(&aggregates, &by, rest.rows.clone(), binder, span)?;
        let rows = if rest.parents.is_empty() {
            nonempty(rows, rest.rows, span)?
        } else {
            rows
        };
        let rows = match rest.before {
            None => rows,
            Some(before) => join(before, rows, &rest.parents, JoinType::Inner, span)?,
        };
        let mut outputs: Vec<Output> = Vec::new();
        for column in &result.columns {
            let level = named
                .iter()
                .find(|(_, (key, name))| *key == column.name || *name == column.name);
            let expr = match level {
                Some((level, (key, _))) if *key == column.name => {
                    others_value(level, column.kind, binder)?
                }
                Some((level, _)) if level.others.is_none() => plan::missing(column.kind),
                _ => match rows.column(&column.name) {
                    Some(own) => own.expr(),
                    None => plan::missing(column.kind),
                },
            };
            outputs.push(Output::visible(&column.name, column.kind, expr));
        }
        legs.push(rows.project(outputs, span)?);
    }
    let legs = legs.into_iter().map(|relation| Leg {
        label: String::new(),
        relation,
    });
    union_plan(legs.collect(), None, false, span)
}

/// The row of `aggregated`, if `rows` is not empty.
fn nonempty(aggregated: Relation, rows: Relation, span: Span) -> BindResult<Relation> {
    let some = crate::plan::limit(
        Relation {
            columns: Vec::new(),
            ..rows
        },
        1,
    );
    let some = some.project(vec![some_row()], span)?;
    let mut columns: Vec<Output> = aggregated.columns.iter().map(plan::pass).collect();
    columns.push(some_row());
    let aggregated = aggregated.project(columns, span)?;
    join(
        aggregated,
        some,
        &[some_row().name],
        JoinType::LeftSemi,
        span,
    )
}

/// A constant column, the join key of `nonempty`.
fn some_row() -> Output {
    Output::scratch(plan::hidden_name("some"), ScalarType::Long, lit(1_i64))
}

/// The key of a level's rest row.
fn others_value(
    level: &TopNestedLevel,
    kind: ScalarType,
    binder: &mut dyn BindContext,
) -> BindResult<PlanExpr> {
    let Some(others) = &level.others else {
        return Ok(plan::missing(kind));
    };
    let value = binder.bind_constant(others)?;
    let converted = value.convert(kind);
    if converted.is_null() && !value.is_null() {
        let message = format!(
            "the value of 'with others' is {} and must be {kind}",
            value.kind()
        );
        return Err(binder.error(Code::Semantics, message, others.span));
    }
    Ok(Scalar::constant(converted).expr)
}

fn aggregate_name(level: &TopNestedLevel, key: &str) -> String {
    match level.by.names.first() {
        Some(name) => name.text.clone(),
        None => format!("aggregated_{key}"),
    }
}

/// The rows of the input with a column for the value of each level, and the names of those columns.
fn keyed_rows(
    levels: &[TopNestedLevel],
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<(Relation, Vec<String>)> {
    let items: Vec<NamedExpr> = levels.iter().map(|l| l.of.clone()).collect();
    let bound = summarize::bind_keys(&items, &input, binder, span)?;
    let input = crate::window::absorb(binder, input, span)?;
    let keys = bound.iter().map(|k| k.name.clone()).collect();
    let columns = bound
        .into_iter()
        .map(|k| Output::visible(k.name, k.scalar.kind, k.scalar.expr))
        .collect();
    let rows = add_columns(input, columns, span)?;
    // Every level reads these rows.
    let once = levels.len() == 1 && levels.iter().all(|l| l.others.is_none());
    let rows = if once {
        rows
    } else {
        binder.materialize(rows, span)?
    };
    Ok((rows, keys))
}

/// The kept values of one level with their aggregate, and the name of the aggregate.
fn level_rows(
    level: &TopNestedLevel,
    path: &[String],
    rows: &Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<(Relation, String)> {
    let key = path.last().cloned().unwrap_or_default();
    let by: Vec<NamedExpr> = path.iter().map(|name| column_item(name, span)).collect();
    let mut aggregate = level.by.clone();
    let name = aggregate_name(level, &key);
    aggregate.names = vec![Name::new(&name, span)];
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
    // Equal aggregates are ordered by value, so that the answer is deterministic.
    if let Some(key) = ranked.column(&key) {
        let tie = sort::sort_keys(key.scalar(), true, true).map_err(|e| plan_error(e, span))?;
        order.extend(tie);
    }
    let sorted = sort::sorted(ranked, order, None).finish(span)?;
    let mut parents: Vec<String> = plan::groups(&sorted).into_iter().map(|c| c.name).collect();
    parents.extend_from_slice(outer_keys(path));
    let kept = if parents.is_empty() {
        plan::limit(sorted, count)
    } else {
        group_limit::limit_by(sorted, parents, count, span)?
    };
    Ok((kept, name))
}

/// The keys without the last, which is that of the level itself.
fn outer_keys(path: &[String]) -> &[String] {
    path.split_last().map_or(&[], |(_, outer)| outer)
}

fn column_item(name: &str, span: Span) -> NamedExpr {
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

/// The rows of the outer levels with the value and the aggregate of the next level.
fn nested(
    before: Relation,
    level: Relation,
    parents: &[String],
    value: &str,
    binder: &dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let taken = |c: &Column| !parents.contains(&c.name) && before.column(&c.name).is_some();
    if let Some(column) = level.columns.iter().find(|c| taken(c)) {
        let message = format!("'{}' is the name of two columns ('{value}')", column.name);
        return Err(binder.error(Code::DuplicateColumn, message, span));
    }
    join(before, level, parents, JoinType::Inner, span)
}
