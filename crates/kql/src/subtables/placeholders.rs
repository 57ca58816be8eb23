//! Placeholder rows of subtables that a step leaves without rows (`semantics.md §18.2, §23.1`).
//!
//! The pipeline of `mv-apply` and `partition` runs for each subtable, and an aggregation without keys has a row for no
//! rows. All subtables run in one plan, where one without rows would leave no trace. So where a step before such an
//! aggregation may drop rows, each subtable gets placeholder rows. A flag, which is a key of subtables like the others,
//! keeps them apart from the actual rows; steps that drop rows keep them; the aggregation makes a row for them and does
//! not count them.

use std::sync::Arc;

use datafusion::logical_expr::expr::AggregateFunctionParams;
use datafusion::logical_expr::{Expr as PlanExpr, lit, when};
use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Expr, Operator, OperatorKind};
use hindsight_kql_types::ScalarType;

use crate::context::{BindContext, Bound};
use crate::error::{BindResult, plan_error};
use crate::operators::{OfNoRows, RowEffect, properties};
use crate::plan::transform;
use crate::plan::{Output, groups, hidden_name, missing, pass, subtable_keys};
use crate::relation::{Column, ColumnRole, Relation};
use crate::subtables::placeholder_rows::WithPlaceholders;

/// What a step does to the rows of a subtable ([`RowEffect`]), where its constants are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Keeps,
    Drops,
    KeepsAlone,
    Loses,
}

/// Whether the rows that a pipeline begins with are all of their subtables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begins {
    /// They are.
    Whole,
    /// They have a name, and are those that their subtables had where it was given: placeholder rows there are placeholder rows here.
    Named,
    /// Some subtables may have none.
    Reduced,
}

/// Binds operators one after the other. Inside subtables an aggregation without keys sees each of them, also those that
/// the steps before it leave without rows; where it cannot, it is refused.
pub(crate) fn bind(
    operators: &[Operator],
    input: Bound,
    begins: Begins,
    binder: &mut dyn BindContext,
) -> BindResult<Bound> {
    if groups(&input.relation).is_empty() {
        return each(operators, input, binder);
    }
    let (mut bound, mut begins, mut rest) = (input, begins, operators);
    while let Some(place) = rest.iter().position(has_row_of_no_rows) {
        let (steps, behind) = rest.split_at(place);
        let Some((aggregation, behind)) = behind.split_first() else {
            break;
        };
        bound = aggregated(steps, aggregation, bound, begins, binder)?;
        (begins, rest) = (Begins::Whole, behind);
    }
    behind_last_aggregation(rest, bound, binder)
}

/// The steps behind the last aggregation. A name that is given behind a step that drops rows, and read in subtables that
/// have got rows from elsewhere since, has to know of those that had none.
fn behind_last_aggregation(
    steps: &[Operator],
    input: Bound,
    binder: &mut dyn BindContext,
) -> BindResult<Bound> {
    let effects: Vec<Effect> = steps.iter().map(|s| effect(&s.kind, binder)).collect();
    let drops = |e: &Effect| matches!(e, Effect::Drops | Effect::Loses);
    let mut kinds = steps.iter().map(|s| &s.kind).enumerate();
    let dropped = effects.iter().position(drops);
    let named = kinds.find(|(i, k)| dropped < Some(*i) && properties(k).names_rows);
    let filled = kinds.find(|(_, k)| properties(k).adds_rows);
    let (Some(_), Some(_), Some((filled, _))) = (dropped, named, filled) else {
        return each(steps, input, binder);
    };
    let lost = effects
        .iter()
        .take(filled)
        .position(|e| *e == Effect::Loses);
    if let (Some(lost), Some(union)) = (lost.and_then(|i| steps.get(i)), steps.get(filled)) {
        let lost = lost.kind.keyword();
        let what = format!("'union' behind '{lost}' and 'as' inside 'mv-apply' or 'partition'");
        return Err(binder.unsupported(what, union.span));
    }
    let span = steps.first().map_or_else(Span::default, |s| s.span);
    let rows = input.map(|rows| Ok(with_placeholders(rows, span)?.0))?;
    each(steps, rows, binder)?.map(|rows| without_placeholders(rows, span))
}

fn each(operators: &[Operator], input: Bound, binder: &mut dyn BindContext) -> BindResult<Bound> {
    let mut operators = operators.iter();
    operators.try_fold(input, |bound, operator| {
        binder.bind_operator(operator, bound)
    })
}

/// An aggregation without keys and the steps before it.
fn aggregated(
    steps: &[Operator],
    aggregation: &Operator,
    input: Bound,
    begins: Begins,
    binder: &mut dyn BindContext,
) -> BindResult<Bound> {
    let refused = |binder: &dyn BindContext, step: &str| {
        let own = aggregation.kind.keyword();
        let what = format!("'{own}' without keys behind {step} inside 'mv-apply' or 'partition'");
        Err(binder.unsupported(what, aggregation.span))
    };
    let mut counted: Vec<String> = match begins {
        Begins::Named => flags(&input.relation).into_iter().map(|c| c.name).collect(),
        Begins::Whole | Begins::Reduced => Vec::new(),
    };
    let effects: Vec<Effect> = steps.iter().map(|s| effect(&s.kind, binder)).collect();
    let drops = effects.contains(&Effect::Drops);
    let has_placeholders = drops || !counted.is_empty();
    let lost = effects.iter().position(|e| match e {
        Effect::Keeps | Effect::Drops => false,
        Effect::KeepsAlone => has_placeholders,
        Effect::Loses => true,
    });
    if begins == Begins::Reduced {
        return refused(binder, "rows that are not whole subtables");
    }
    if let Some(step) = lost.and_then(|place| steps.get(place)) {
        return refused(binder, &format!("'{}'", step.kind.keyword()));
    }
    if !has_placeholders {
        let rows = each(steps, input, binder)?;
        return binder.bind_operator(aggregation, rows);
    }
    if properties(&aggregation.kind).of_no_rows == OfNoRows::OneRowOfPlaceholders {
        return refused(binder, "a step that may drop rows");
    }
    let rows = if drops {
        input.map(|rows| {
            let (rows, flag) = with_placeholders(rows, aggregation.span)?;
            counted.push(flag);
            Ok(rows)
        })?
    } else {
        input
    };
    let mut rows = each(steps, rows, binder)?;
    for flag in counted {
        match rows.relation.columns.iter_mut().find(|c| c.name == flag) {
            Some(column) => column.role = ColumnRole::UncountedPlaceholder,
            None => return refused(binder, "steps that lose it"),
        }
    }
    binder.bind_operator(aggregation, rows)
}

/// The rows and placeholder rows of their subtables, with the name of the flag. Inside one another each pipeline has its
/// own.
fn with_placeholders(input: Relation, span: Span) -> BindResult<(Relation, String)> {
    let input = input.finish(span)?;
    let keys = subtable_keys(&input);
    let flag = hidden_name(&format!("present{}", groups(&input).len()));
    let mut columns: Vec<Column> = input.columns.iter().map(Column::under_its_name).collect();
    columns.push(Column {
        role: ColumnRole::Placeholder,
        ..Column::visible(&flag, ScalarType::Bool)
    });
    let work = WithPlaceholders {
        keys: keys.into_iter().map(|c| c.name).collect(),
        ordered: input.serialized,
    };
    let rows = transform(Arc::new(work), input.plan, columns, input.serialized, span)?;
    Ok((rows, flag))
}

fn flags(input: &Relation) -> Vec<Column> {
    let mut flags = groups(input);
    flags.retain(|c| c.role == ColumnRole::Placeholder);
    flags
}

/// True for actual rows; none where there are no placeholder rows.
fn is_actual(input: &Relation) -> Option<PlanExpr> {
    let flags = flags(input).into_iter().map(|c| c.expr());
    flags.reduce(PlanExpr::and)
}

/// The actual rows, for who reads them from elsewhere.
pub(crate) fn without_placeholders(rows: Relation, span: Span) -> BindResult<Relation> {
    let Some(is_actual) = is_actual(&rows) else {
        return Ok(rows);
    };
    let flags = flags(&rows);
    let mut rows = rows.filter(is_actual, span)?;
    rows.columns.retain(|c| !flags.contains(c));
    Ok(rows)
}

/// The rows of a table beside `input`, none of which is a placeholder.
pub(crate) fn as_actual_rows(
    table: Relation,
    input: &Relation,
    span: Span,
) -> BindResult<Relation> {
    let table = without_placeholders(table, span)?;
    let flags = flags(input);
    if flags.is_empty() {
        return Ok(table);
    }
    let mut columns: Vec<Output> = table.columns.iter().map(pass).collect();
    columns.extend(flags.iter().map(|flag| Output {
        expr: lit(true),
        ..pass(flag)
    }));
    table.project(columns, span)
}

/// A predicate that is true of placeholder rows, too.
pub(crate) fn or_placeholder(predicate: PlanExpr, input: &Relation) -> PlanExpr {
    match is_actual(input) {
        Some(is_actual) => predicate.or(PlanExpr::Not(Box::new(is_actual))),
        None => predicate,
    }
}

/// A list that is null in placeholder rows, so that they stay when it is expanded.
pub(crate) fn list_unless_placeholder(
    list: PlanExpr,
    input: &Relation,
    span: Span,
) -> BindResult<PlanExpr> {
    match is_actual(input) {
        Some(is_actual) => when(is_actual, list)
            .otherwise(missing(ScalarType::Dynamic))
            .map_err(|e| plan_error(e, span)),
        None => Ok(list),
    }
}

/// The keys of subtables for an aggregation: all, but for the flags of the rows that it counts.
pub(crate) fn aggregation_keys(input: &Relation) -> Vec<Output> {
    let keys = subtable_keys(input);
    keys.iter().filter(|c| !is_uncounted(c)).map(pass).collect()
}

/// An aggregate call that counts no placeholder row.
pub(crate) fn call_without_placeholders(
    mut call: PlanExpr,
    input: &Relation,
) -> datafusion::common::Result<PlanExpr> {
    let counted = input.columns.iter().filter(|c| is_uncounted(c));
    let counted = counted.map(Column::expr).reduce(PlanExpr::and);
    let (PlanExpr::AggregateFunction(function), Some(counted)) = (&mut call, counted) else {
        return Ok(call);
    };
    let AggregateFunctionParams {
        args,
        distinct,
        filter,
        ..
    } = &mut function.params;
    match (distinct, args.as_mut_slice()) {
        // A distinct count has no filter; it leaves nulls out.
        (true, [value]) => *value = when(counted, value.clone()).end()?,
        _ => {
            let filter_too = filter.take().map(|f| f.and(counted.clone()));
            *filter = Some(Box::new(filter_too.unwrap_or(counted)));
        }
    }
    Ok(call)
}

fn is_uncounted(column: &Column) -> bool {
    column.role == ColumnRole::UncountedPlaceholder
}

/// Whether an operator has a row also where its input has none.
fn has_row_of_no_rows(operator: &Operator) -> bool {
    properties(&operator.kind).of_no_rows != OfNoRows::NoRows
}

fn effect(kind: &OperatorKind, binder: &mut dyn BindContext) -> Effect {
    match properties(kind).rows {
        RowEffect::Keeps => Effect::Keeps,
        RowEffect::Drops => Effect::Drops,
        RowEffect::KeepsAlone => Effect::KeepsAlone,
        RowEffect::Loses => Effect::Loses,
        RowEffect::KeepsAtMost(count) => of_count(count, Effect::Keeps, binder),
        RowEffect::KeepsAloneAtMost(count) => of_count(count, Effect::KeepsAlone, binder),
        RowEffect::Expands { limit: None } => Effect::Drops,
        RowEffect::Expands { limit: Some(limit) } => of_count(limit, Effect::Drops, binder),
        RowEffect::Applies { operators, limit } => of_pipeline(operators, limit, binder),
        RowEffect::Joins { kind, default } => of_join(kind, default, binder),
    }
}

/// Of an operator that keeps so many rows: it loses all where that is none.
fn of_count(count: &Expr, otherwise: Effect, binder: &mut dyn BindContext) -> Effect {
    match binder.constant_long(count) {
        Ok(count) if count > 0 => otherwise,
        _ => Effect::Loses,
    }
}

/// Of a pipeline for each row.
fn of_pipeline(
    operators: &[Operator],
    limit: Option<&Expr>,
    binder: &mut dyn BindContext,
) -> Effect {
    let of_limit = limit.map(|limit| of_count(limit, Effect::Drops, binder));
    let inner: Vec<Effect> = operators.iter().map(|o| effect(&o.kind, binder)).collect();
    let known = |e: &Effect| matches!(e, Effect::Keeps | Effect::Drops);
    if inner.iter().chain(&of_limit).all(known) {
        Effect::Drops
    } else {
        Effect::Loses
    }
}

/// Of a join: one that keeps all rows of the left side keeps placeholder rows.
fn of_join(kind: Option<&Expr>, default: &str, binder: &mut dyn BindContext) -> Effect {
    let kind = match kind {
        Some(kind) => binder.constant_word(kind).unwrap_or_default(),
        None => default.to_owned(),
    };
    if kind == "leftouter" {
        Effect::Keeps
    } else {
        Effect::Loses
    }
}
