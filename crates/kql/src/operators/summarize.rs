//! `summarize`: aggregates groups of rows (`docs/semantics.md §16.1`).

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::functions::expr_fn::{coalesce, get_field};
use datafusion::functions_aggregate::count::{count, count_udaf};
use datafusion::logical_expr::Expr as PlanExpr;
use hindsight_kql_syntax::ast::{NamedExpr, SummarizeOperator};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use super::distinct;
use crate::aggregates::pick_row;
use crate::aggregates::{Pick, PickedRows};
use crate::context::{BindContext, Bound, BoundAggregate, BoundColumn, NamingMode};
use crate::error::{BindResult, plan_error};
use crate::plan::{self, Output, carried, field, group_limit, hidden_name, missing, visible};
use crate::real_key::as_key;
use crate::relation::{Column, Relation};
use crate::subtables::placeholders::{aggregation_keys, call_without_placeholders};
use crate::window;

impl TabularOperator for SummarizeOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Keeps,
            on_empty_input: if self.has_by {
                OnEmptyInput::NoRows
            } else {
                OnEmptyInput::OneRow
            },
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
    node: &SummarizeOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    summarize(&node.aggregates, &node.by, input, binder, span)
}

/// Aggregates `input` by keys: one row without keys, the distinct keys without aggregates.
pub(crate) fn summarize(
    aggregates: &[NamedExpr],
    by: &[NamedExpr],
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let input = group_limit::in_order(input, span)?;
    let keys = bind_keys(by, &input, binder, span)?;
    let aggregates = binder.bind_aggregates(aggregates, &keys, &without_groups(&input))?;
    let input = window::absorb(binder, input, span)?;
    let outputs = keys
        .into_iter()
        .map(|k| Output::visible(k.name, k.scalar.kind, k.scalar.expr))
        .collect();
    if aggregates.is_empty() {
        Ok(distinct::distinct(plan::project(input, outputs, span)?))
    } else {
        aggregated(input, outputs, aggregates, span)
    }
}

/// The input as the query's expressions see it: without the subtable keys.
pub(crate) fn without_groups(input: &Relation) -> Relation {
    Relation {
        columns: visible(input).cloned().collect(),
        ..input.clone()
    }
}

/// The keys of an operator that groups; a dynamic cannot be a key.
pub(crate) fn bind_keys(
    by: &[NamedExpr],
    input: &Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Vec<BoundColumn>> {
    let keys = binder.bind_projection(by, &without_groups(input), NamingMode::Summarize)?;
    match keys.iter().find(|k| k.scalar.kind == ScalarType::Dynamic) {
        None => Ok(keys.into_iter().map(as_key_column).collect()),
        Some(key) => Err(binder.error(
            Code::Semantics,
            format!(
                "the key '{}' is of type dynamic, which cannot be a key",
                key.name
            ),
            span,
        )),
    }
}

fn as_key_column(mut column: BoundColumn) -> BoundColumn {
    column.scalar.expr = as_key(column.scalar.expr, column.scalar.kind);
    column
}

/// The aggregation of `input`: first the aggregate calls, then the expressions over them.
pub(crate) fn aggregated(
    input: Relation,
    keys: Vec<Output>,
    aggregates: Vec<BoundAggregate>,
    span: Span,
) -> BindResult<Relation> {
    let mut calls = Vec::new();
    let mut formulas = Vec::with_capacity(aggregates.len());
    for aggregate in aggregates {
        let formula = split(aggregate.expr, &mut calls).map_err(|e| plan_error(e, span))?;
        // An aggregate over no values is null in DataFusion; a KQL string is never null.
        let formula = match aggregate.kind {
            ScalarType::String => coalesce(vec![formula, missing(ScalarType::String)]),
            _ => formula,
        };
        formulas.push(Output::visible(aggregate.name, aggregate.kind, formula));
    }
    let mut all_keys = aggregation_keys(&input);
    all_keys.extend(keys);
    let calls = calls
        .into_iter()
        .map(|call| call_without_placeholders(call, &input));
    let calls: datafusion::common::Result<Vec<PlanExpr>> = calls.collect();
    let mut calls = calls.map_err(|e| plan_error(e, span))?;
    let mut travelling = Vec::new();
    for column in carried(&input) {
        let value = split(any_value(&column), &mut calls).map_err(|e| plan_error(e, span))?;
        travelling.push(Output {
            expr: value,
            ..Output::pass(&column)
        });
    }
    let outputs = all_keys
        .iter()
        .map(|key| Output::pass(&key.column()))
        .chain(travelling)
        .chain(formulas)
        .collect::<Vec<Output>>();
    let only = match calls.as_slice() {
        [call] => distinct_value(call).cloned(),
        _ => None,
    };
    let groups = match only {
        Some(value) => count_of_groups(input, all_keys, value, span)?,
        None => plan::aggregate(input, all_keys, named_calls(calls), span)?,
    };
    groups.project(outputs, span)
}

fn named_calls(calls: Vec<PlanExpr>) -> Vec<Output> {
    let named = calls.into_iter().enumerate().map(|(i, call)| {
        // DataFusion determines the type of a call inside an expression; this type is not read.
        Output::scratch(call_name(i), ScalarType::Dynamic, call)
    });
    named.collect()
}

/// The value of a column that is constant in each group.
fn any_value(column: &Column) -> PlanExpr {
    let row = pick_row(Pick::First, &[column.kind], vec![column.expr()]);
    get_field(row, PickedRows::field_name(0))
}

/// The argument of a distinct count.
fn distinct_value(call: &PlanExpr) -> Option<&PlanExpr> {
    match call {
        PlanExpr::AggregateFunction(call)
            if call.params.distinct && call.func.name() == count_udaf().name() =>
        {
            call.params.args.first()
        }
        _ => None,
    }
}

/// Counts distinct values for each key by two aggregations: one group for each distinct value, then the number of groups.
/// DataFusion would collect all values of a key in one set, which it cannot spill and during which it cannot be cancelled.
fn count_of_groups(
    input: Relation,
    keys: Vec<Output>,
    value: PlanExpr,
    span: Span,
) -> BindResult<Relation> {
    let name = hidden_name("distinct");
    let outer = keys.iter().map(|key| Output::pass(&key.column()));
    let outer = outer.collect();
    let inner = keys
        .into_iter()
        .chain([Output::scratch(&name, ScalarType::Dynamic, value)]);
    let values = plan::aggregate(input, inner.collect(), Vec::new(), span)?;
    plan::aggregate(values, outer, named_calls(vec![count(field(&name))]), span)
}

fn call_name(index: usize) -> String {
    hidden_name(&format!("aggregate{index}"))
}

/// Extracts the aggregate calls of an expression. Equal calls are evaluated once, unless they are volatile. The remaining
/// expression reads them by [`call_name`].
fn split(expr: PlanExpr, calls: &mut Vec<PlanExpr>) -> datafusion::common::Result<PlanExpr> {
    let split = expr.transform_down(|e| match e {
        PlanExpr::AggregateFunction(_) => {
            let same = |c: &PlanExpr| *c == e && !e.is_volatile();
            let index = calls.iter().position(same).unwrap_or_else(|| {
                calls.push(e);
                calls.len() - 1
            });
            Ok(Transformed::new(
                field(&call_name(index)),
                true,
                TreeNodeRecursion::Jump,
            ))
        }
        e => Ok(Transformed::no(e)),
    })?;
    Ok(split.data)
}
