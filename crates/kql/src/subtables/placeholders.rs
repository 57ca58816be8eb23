//! Placeholder rows of subtables that an operator may leave without rows (`docs/semantics.md §18.2, §23.1`).
//!
//! The pipeline of `mv-apply` and `partition` runs for each subtable, and an aggregation without keys returns a row for an
//! empty subtable. All subtables run in one plan, in which an empty subtable would not appear. So if an operator before such
//! an aggregation may drop rows, each subtable gets placeholder rows. A flag column, which is a subtable key as well,
//! distinguishes them from the actual rows. Operators that drop rows keep placeholder rows; the aggregation returns a row for
//! them and does not count them.

use std::sync::Arc;

use datafusion::logical_expr::expr::AggregateFunctionParams;
use datafusion::logical_expr::{Expr as PlanExpr, lit, when};
use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Expr, Operator, OperatorKind};
use hindsight_kql_types::ScalarType;

use crate::context::{BindContext, Bound, Pending};
use crate::error::{BindResult, plan_error};
use crate::operators::{OnEmptyInput, RowEffect, properties};
use crate::plan::transform;
use crate::plan::{Output, groups, hidden_name, missing, pass, subtable_keys};
use crate::relation::{Column, ColumnRole, Relation};
use crate::subtables::placeholder_rows::WithPlaceholders;

/// The effect of an operator on the rows of a subtable ([`RowEffect`]), with its constants evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    Keeps,
    Drops,
    KeepsAlone,
    Loses,
}

/// Whether the input of a pipeline has all rows of its subtables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InitialRows {
    /// It has all rows.
    Whole,
    /// It is read by a name and has the rows of the subtables at the definition of the name, including placeholder rows.
    Named,
    /// Some subtables may have no rows.
    Reduced,
}

/// Binds operators in order. Inside subtables an aggregation without keys returns a row for each subtable, also for one that
/// an earlier operator leaves empty. If that is not possible, the aggregation is refused.
pub(crate) fn bind(
    operators: &[Operator],
    input: Bound,
    initial: InitialRows,
    binder: &mut dyn BindContext,
) -> BindResult<Bound> {
    if groups(&input.relation).is_empty() {
        return each(operators, input, binder);
    }
    let (mut bound, mut initial, mut rest) = (input, initial, operators);
    while let Some(place) = rest.iter().position(returns_row_for_empty_input) {
        let (steps, behind) = rest.split_at(place);
        let Some((aggregation, behind)) = behind.split_first() else {
            break;
        };
        bound = aggregated(steps, aggregation, bound, initial, binder)?;
        (initial, rest) = (InitialRows::Whole, behind);
    }
    after_last_aggregation(rest, bound, binder)
}

/// Binds the operators after the last aggregation. If an operator drops rows, a later one names the rows, and a later one
/// adds rows to subtables, then the name must include the empty subtables.
fn after_last_aggregation(
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
        let what = format!("'union' after '{lost}' and 'as' inside 'mv-apply' or 'partition'");
        return Err(binder.unsupported(what, union.span));
    }
    let span = steps.first().map_or_else(Span::default, |s| s.span);
    let rows = input.map(|rows| Ok(with_placeholders(rows, span)?.0))?;
    each(steps, rows, binder)?.map(|rows| without_placeholders(rows, span))
}

fn each(operators: &[Operator], input: Bound, binder: &mut dyn BindContext) -> BindResult<Bound> {
    let mut operators = operators.iter();
    operators.try_fold(input, |bound, operator| {
        if !properties(&operator.kind).keeps_columns {
            return binder.bind_operator(operator, bound);
        }
        let before = bound.clone();
        match binder.bind_operator(operator, bound) {
            Ok(bound) => Ok(bound),
            // The columns are known also after an error, so that the errors of later operators are reported too.
            Err(error) => {
                binder.report(error)?;
                *binder.pending() = Pending::default();
                Ok(before)
            }
        }
    })
}

/// Binds an aggregation without keys and the operators before it.
fn aggregated(
    steps: &[Operator],
    aggregation: &Operator,
    input: Bound,
    initial: InitialRows,
    binder: &mut dyn BindContext,
) -> BindResult<Bound> {
    let refused = |binder: &dyn BindContext, step: &str| {
        let own = aggregation.kind.keyword();
        let what = format!("'{own}' without keys after {step} inside 'mv-apply' or 'partition'");
        Err(binder.unsupported(what, aggregation.span))
    };
    let mut counted: Vec<String> = match initial {
        InitialRows::Named => flags(&input.relation).into_iter().map(|c| c.name).collect(),
        InitialRows::Whole | InitialRows::Reduced => Vec::new(),
    };
    let effects: Vec<Effect> = steps.iter().map(|s| effect(&s.kind, binder)).collect();
    let drops = effects.contains(&Effect::Drops);
    let has_placeholders = drops || !counted.is_empty();
    let lost = effects.iter().position(|e| match e {
        Effect::Keeps | Effect::Drops => false,
        Effect::KeepsAlone => has_placeholders,
        Effect::Loses => true,
    });
    if initial == InitialRows::Reduced {
        return refused(binder, "rows that are not whole subtables");
    }
    if let Some(step) = lost.and_then(|place| steps.get(place)) {
        return refused(binder, &format!("'{}'", step.kind.keyword()));
    }
    if !has_placeholders {
        let rows = each(steps, input, binder)?;
        return binder.bind_operator(aggregation, rows);
    }
    if properties(&aggregation.kind).on_empty_input == OnEmptyInput::OneRowOfPlaceholders {
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
            None => return refused(binder, "steps that lose its rows"),
        }
    }
    binder.bind_operator(aggregation, rows)
}

/// Adds placeholder rows to the rows of their subtables, and returns the name of the flag. Each nested pipeline has its own
/// flag.
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

/// True for actual rows; none if there are no placeholder rows.
fn is_actual(input: &Relation) -> Option<PlanExpr> {
    let flags = flags(input).into_iter().map(|c| c.expr());
    flags.reduce(PlanExpr::and)
}

/// The rows without placeholder rows, for a reader outside of the subtables.
pub(crate) fn without_placeholders(rows: Relation, span: Span) -> BindResult<Relation> {
    let Some(is_actual) = is_actual(&rows) else {
        return Ok(rows);
    };
    let flags = flags(&rows);
    let mut rows = rows.filter(is_actual, span)?;
    rows.columns.retain(|c| !flags.contains(c));
    Ok(rows)
}

/// The rows of a table that is combined with `input`; none of them is a placeholder row.
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

/// A predicate that is also true for placeholder rows.
pub(crate) fn or_placeholder(predicate: PlanExpr, input: &Relation) -> PlanExpr {
    match is_actual(input) {
        Some(is_actual) => predicate.or(PlanExpr::Not(Box::new(is_actual))),
        None => predicate,
    }
}

/// A list that is null in placeholder rows, so that expanding it keeps them.
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

/// The subtable keys of an aggregation: all except the flags of placeholder rows that it does not count.
pub(crate) fn aggregation_keys(input: &Relation) -> Vec<Output> {
    let keys = subtable_keys(input);
    keys.iter().filter(|c| !is_uncounted(c)).map(pass).collect()
}

/// An aggregate call that ignores placeholder rows.
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
        // A distinct count has no filter, but it ignores nulls.
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

/// Whether an operator returns a row for an empty input.
fn returns_row_for_empty_input(operator: &Operator) -> bool {
    properties(&operator.kind).on_empty_input != OnEmptyInput::NoRows
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

/// The effect of an operator with a maximum number of rows: zero drops all rows.
fn of_count(count: &Expr, otherwise: Effect, binder: &mut dyn BindContext) -> Effect {
    match binder.constant_long(count) {
        Ok(count) if count > 0 => otherwise,
        _ => Effect::Loses,
    }
}

/// The effect of an operator that runs a pipeline for each row.
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

/// The effect of a join: one that keeps all rows of the left side keeps placeholder rows.
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
