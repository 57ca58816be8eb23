//! Subtables that a step leaves without rows (`semantics.md §18.2, §23.1`).
//!
//! The pipeline of `mv-apply` and `partition` runs for each subtable, and an aggregation without keys has a row for no
//! rows. All subtables run in one plan, where one without rows would leave no trace. So where a step before such an
//! aggregation may drop rows, each subtable gets rows that stand for it. A flag, which is a key of subtables like the
//! others, keeps them apart from the rows that are there; steps that drop rows keep them; the aggregation makes a row
//! for them and does not count them.

use std::sync::Arc;

use datafusion::logical_expr::expr::AggregateFunctionParams;
use datafusion::logical_expr::{Expr as PlanExpr, lit, when};
use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Expr, Operator, OperatorKind, OperatorParameter};
use hindsight_kql_types::ScalarType;

use crate::context::{BindContext, Bound};
use crate::error::{BindResult, plan_error};
use crate::exec::transform;
use crate::plan::{Output, groups, hidden_name, missing, parameter, pass, subtable_keys};
use crate::relation::{Column, Relation};
use crate::subtables::placeholder_rows::WithStandIns;

/// What a step does to the rows of a subtable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// A subtable with rows has rows after it.
    Keeps,
    /// It may drop all rows, and keeps those that stand in.
    Drops,
    /// It keeps rows as [`Effect::Keeps`], and does not know of rows that stand in.
    KeepsAlone,
    /// It may drop all rows and cannot keep those that stand in.
    Loses,
}

/// Whether the rows that a pipeline begins with are all of their subtables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begins {
    /// They are.
    Whole,
    /// They have a name, and are those that their subtables had where it was given: rows that stand in there do here.
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
    while let Some(place) = rest.iter().position(|o| aggregates_all(&o.kind)) {
        let (steps, behind) = rest.split_at(place);
        let Some((aggregation, behind)) = behind.split_first() else {
            break;
        };
        bound = aggregated(steps, aggregation, bound, begins, binder)?;
        (begins, rest) = (Begins::Whole, behind);
    }
    filled_again(rest, bound, binder)
}

/// The steps behind the last aggregation. A name that is given behind a step that drops rows, and read in subtables that
/// have got rows from elsewhere since, has to know of those that had none.
fn filled_again(
    steps: &[Operator],
    input: Bound,
    binder: &mut dyn BindContext,
) -> BindResult<Bound> {
    let effects: Vec<Effect> = steps.iter().map(|s| effect(&s.kind, binder)).collect();
    let drops = |e: &Effect| matches!(e, Effect::Drops | Effect::Loses);
    let mut kinds = steps.iter().map(|s| &s.kind).enumerate();
    let dropped = effects.iter().position(drops);
    let named = kinds.find(|(i, k)| dropped < Some(*i) && matches!(k, OperatorKind::As(_)));
    let filled = kinds.find(|(_, k)| matches!(k, OperatorKind::Union(_)));
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
    let rows = input.map(|rows| Ok(with_stand_ins(rows, span)?.0))?;
    each(steps, rows, binder)?.map(|rows| there(rows, span))
}

fn each(operators: &[Operator], input: Bound, binder: &mut dyn BindContext) -> BindResult<Bound> {
    let mut operators = operators.iter();
    operators.try_fold(input, |bound, operator| {
        binder.bind_operator(operator, bound)
    })
}

/// Whether an operator has a row also where its input has none.
fn aggregates_all(kind: &OperatorKind) -> bool {
    match kind {
        OperatorKind::Count(_) => true,
        OperatorKind::Summarize(node) => !node.has_by,
        OperatorKind::MakeSeries(node) => {
            node.by.is_empty() && parameter(&node.parameters, &["kind"]).is_some()
        }
        _ => false,
    }
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
    let stands_in = drops || !counted.is_empty();
    let lost = effects.iter().position(|e| match e {
        Effect::Keeps | Effect::Drops => false,
        Effect::KeepsAlone => stands_in,
        Effect::Loses => true,
    });
    if begins == Begins::Reduced {
        return refused(binder, "rows that are not whole subtables");
    }
    if let Some(step) = lost.and_then(|place| steps.get(place)) {
        return refused(binder, &format!("'{}'", step.kind.keyword()));
    }
    if !stands_in {
        let rows = each(steps, input, binder)?;
        return binder.bind_operator(aggregation, rows);
    }
    if matches!(aggregation.kind, OperatorKind::MakeSeries(_)) {
        return refused(binder, "a step that may drop rows");
    }
    let rows = match drops {
        true => input.map(|rows| {
            let (rows, flag) = with_stand_ins(rows, aggregation.span)?;
            counted.push(flag);
            Ok(rows)
        })?,
        false => input,
    };
    let mut rows = each(steps, rows, binder)?;
    for flag in counted {
        match rows.relation.columns.iter_mut().find(|c| c.name == flag) {
            Some(column) => column.name = hidden_name(&format!("{COUNTED}{flag}")),
            None => return refused(binder, "steps that lose it"),
        }
    }
    binder.bind_operator(aggregation, rows)
}

/// The flags of rows that stand in: false for them. Inside one another each pipeline has its own.
const FLAG: &str = "present";

/// What begins the names of the flags of the rows that an aggregation counts.
const COUNTED: &str = "counted";

/// The rows, and those that stand in for their subtables, with the name of the flag.
fn with_stand_ins(input: Relation, span: Span) -> BindResult<(Relation, String)> {
    let input = input.finish(span)?;
    let keys = subtable_keys(&input);
    let flag = hidden_name(&format!("{FLAG}{}", groups(&input).len()));
    let mut columns: Vec<(String, ScalarType)> = input
        .columns
        .iter()
        .map(|c| (c.name.clone(), c.kind))
        .collect();
    columns.push((flag.clone(), ScalarType::Bool));
    let work = WithStandIns {
        keys: keys.into_iter().map(|c| c.name).collect(),
        ordered: input.serialized,
    };
    let rows = transform(Arc::new(work), input.plan, columns, input.serialized, span)?;
    Ok((rows, flag))
}

fn flags(input: &Relation) -> Vec<Column> {
    let mut flags = groups(input);
    flags.retain(|c| c.name.starts_with(&hidden_name(FLAG)));
    flags
}

/// True for rows that are there; none where no row stands in.
fn is_there(input: &Relation) -> Option<PlanExpr> {
    let flags = flags(input).into_iter().map(|c| c.expr());
    flags.reduce(PlanExpr::and)
}

/// The rows that are there, for who reads them from elsewhere.
pub(crate) fn there(rows: Relation, span: Span) -> BindResult<Relation> {
    let Some(is_there) = is_there(&rows) else {
        return Ok(rows);
    };
    let flags = flags(&rows);
    let mut rows = rows.filter(is_there, span)?;
    rows.columns.retain(|c| !flags.contains(c));
    Ok(rows)
}

/// The rows of a table beside `input`: none of them stands in.
pub(crate) fn all_there(table: Relation, input: &Relation, span: Span) -> BindResult<Relation> {
    let table = there(table, span)?;
    let flags = flags(input);
    if flags.is_empty() {
        return Ok(table);
    }
    let mut columns: Vec<Output> = table.columns.iter().map(pass).collect();
    columns.extend(flags.into_iter().map(|c| (c.name, c.kind, lit(true))));
    table.project(columns, span)
}

/// A predicate that is true of rows that stand in, too.
pub(crate) fn or_stands_in(predicate: PlanExpr, input: &Relation) -> PlanExpr {
    match is_there(input) {
        Some(is_there) => predicate.or(PlanExpr::Not(Box::new(is_there))),
        None => predicate,
    }
}

/// A list that is null in rows that stand in, so that they stay when it is expanded.
pub(crate) fn list_unless_stands_in(
    list: PlanExpr,
    input: &Relation,
    span: Span,
) -> BindResult<PlanExpr> {
    match is_there(input) {
        Some(is_there) => when(is_there, list)
            .otherwise(missing(ScalarType::Dynamic))
            .map_err(|e| plan_error(e, span)),
        None => Ok(list),
    }
}

/// The keys of subtables for an aggregation: all, but for the flags of the rows that it counts.
pub(crate) fn keys_of_aggregation(input: &Relation) -> Vec<Output> {
    let keys = subtable_keys(input);
    keys.iter().filter(|c| !is_counted(c)).map(pass).collect()
}

/// An aggregate call that counts no row that stands in.
pub(crate) fn without_stand_ins(
    mut call: PlanExpr,
    input: &Relation,
) -> datafusion::common::Result<PlanExpr> {
    let counted = input.columns.iter().filter(|c| is_counted(c));
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

fn is_counted(column: &Column) -> bool {
    column.name.starts_with(&hidden_name(COUNTED))
}

fn effect(kind: &OperatorKind, binder: &mut dyn BindContext) -> Effect {
    match kind {
        OperatorKind::As(_)
        | OperatorKind::AssertSchema(_)
        | OperatorKind::Count(_)
        | OperatorKind::Distinct(_)
        | OperatorKind::Extend(_)
        | OperatorKind::ParseKv(_)
        | OperatorKind::Project(_)
        | OperatorKind::ProjectAway(_)
        | OperatorKind::ProjectByNames(_)
        | OperatorKind::ProjectKeep(_)
        | OperatorKind::ProjectRename(_)
        | OperatorKind::ProjectReorder(_)
        | OperatorKind::Serialize(_)
        | OperatorKind::Sort(_)
        | OperatorKind::Summarize(_)
        | OperatorKind::Union(_) => Effect::Keeps,
        OperatorKind::Parse(node) if !node.filtering => Effect::Keeps,
        OperatorKind::Parse(_) | OperatorKind::Where(_) => Effect::Drops,
        OperatorKind::Take(node) => of_count(&node.count, Effect::Keeps, binder),
        OperatorKind::Top(node) => of_count(&node.count, Effect::Keeps, binder),
        OperatorKind::Sample(node) => of_count(&node.count, Effect::KeepsAlone, binder),
        OperatorKind::SampleDistinct(node) => of_count(&node.count, Effect::KeepsAlone, binder),
        OperatorKind::TopHitters(node) => of_count(&node.count, Effect::KeepsAlone, binder),
        OperatorKind::MvExpand(node) => match &node.limit {
            Some(limit) => of_count(limit, Effect::Drops, binder),
            None => Effect::Drops,
        },
        OperatorKind::MvApply(node) => {
            let limited = node.limit.as_ref();
            let of_limit = limited.map(|limit| of_count(limit, Effect::Drops, binder));
            let inner: Vec<Effect> = node
                .subquery
                .iter()
                .map(|o| effect(&o.kind, binder))
                .collect();
            let known = |e: &Effect| matches!(e, Effect::Keeps | Effect::Drops);
            match inner.iter().chain(&of_limit).all(known) {
                true => Effect::Drops,
                false => Effect::Loses,
            }
        }
        OperatorKind::Join(node) => of_join(&node.parameters, false, binder),
        OperatorKind::Lookup(node) => of_join(&node.parameters, true, binder),
        OperatorKind::Reduce(_) | OperatorKind::TopNested(_) => Effect::KeepsAlone,
        _ => Effect::Loses,
    }
}

/// Of an operator that keeps so many rows: it loses all where that is none.
fn of_count(count: &Expr, otherwise: Effect, binder: &mut dyn BindContext) -> Effect {
    match binder.constant_long(count) {
        Ok(count) if count > 0 => otherwise,
        _ => Effect::Loses,
    }
}

/// Of a join: one that keeps all rows of the left side keeps those that stand in.
fn of_join(parameters: &[OperatorParameter], outer: bool, binder: &mut dyn BindContext) -> Effect {
    let kind = parameter(parameters, &["kind"]);
    let outer = kind.map_or(outer, |kind| {
        binder
            .constant_word(kind)
            .is_ok_and(|kind| kind == "leftouter")
    });
    match outer {
        true => Effect::Keeps,
        false => Effect::Loses,
    }
}
