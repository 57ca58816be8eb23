//! Window functions over serialized rows (`docs/semantics.md §22.2`).
//!
//! A call is bound to a field that does not exist yet and is recorded in the binder. The operator that contains the call adds
//! the node that computes the field below its own plan ([`absorb`]).

use std::sync::Arc;

use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use super::call::WindowCall;
use super::prepare::prepare;
use crate::context::BindContext;
use crate::error::BindResult;
use crate::plan::by_group;
use crate::plan::transform;
use crate::plan::{Output, field, hidden_name};
use crate::relation::{Column, Relation, Scalar};
use crate::subtables;
use crate::window::rows::{WindowRows, WindowSpec};

/// Whether `name` is a window function.
pub(crate) fn is_window(name: &str) -> bool {
    matches!(
        name,
        "prev"
            | "next"
            | "row_number"
            | "row_cumsum"
            | "row_rank"
            | "row_rank_dense"
            | "row_rank_min"
            | "row_window_session"
    )
}

/// Binds a call with bound arguments: records it and returns the field of its result.
pub(crate) fn bind_call(
    name: &str,
    args: Vec<Scalar>,
    input: &Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Scalar> {
    if !input.serialized {
        return Err(binder.error(
            Code::Semantics,
            format!("the function '{name}' needs serialized rows: sort them, or use 'serialize'"),
            span,
        ));
    }
    let call = prepare(name, args, binder, span)?;
    let kind = call.kind;
    let expr = field(&call_field(binder.pending().windows.len()));
    binder.pending().windows.push(call);
    Ok(Scalar::new(expr, kind))
}

fn call_field(index: usize) -> String {
    hidden_name(&format!("window{index}"))
}

fn argument_field(call: usize, argument: usize) -> String {
    hidden_name(&format!("window{call}.{argument}"))
}

/// Adds the recorded calls below the operator: the rows of `input` with a field for each call. The columns stay the same.
pub(crate) fn absorb(
    binder: &mut dyn BindContext,
    input: Relation,
    span: Span,
) -> BindResult<Relation> {
    let input = subtables::value::absorb(binder, input, span)?;
    let calls = std::mem::take(&mut binder.pending().windows);
    if calls.is_empty() {
        return Ok(input);
    }
    let columns = input.columns.clone();
    let mut relation = Relation {
        columns: Vec::new(),
        ..input
    };
    let mut fields: Vec<(String, ScalarType)> =
        columns.iter().map(|c| (c.field.clone(), c.kind)).collect();
    let mut waiting: Vec<(usize, WindowCall)> = calls.into_iter().enumerate().collect();
    while !waiting.is_empty() {
        let pending: Vec<String> = waiting.iter().map(|(i, _)| call_field(*i)).collect();
        // A call over the result of another call (`row_number(1, k != prev(k))`) is placed above it.
        let (ready, later): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .partition(|(_, call)| !call.args.iter().any(|a| reads_any(a, &pending)));
        if ready.is_empty() {
            return Err(binder.error(
                Code::Semantics,
                "a window function cannot read its own result",
                span,
            ));
        }
        relation = layer(relation, &columns, &mut fields, &ready, span)?;
        waiting = later;
    }
    Ok(Relation {
        columns,
        ..relation
    })
}

fn reads_any(scalar: &Scalar, fields: &[String]) -> bool {
    scalar
        .expr
        .column_refs()
        .iter()
        .any(|c| fields.contains(&c.name))
}

/// The rows with a field for each of `calls`; these are added to `fields`.
fn layer(
    relation: Relation,
    columns: &[Column],
    fields: &mut Vec<(String, ScalarType)>,
    calls: &[(usize, WindowCall)],
    span: Span,
) -> BindResult<Relation> {
    let mut inputs: Vec<Output> = fields
        .iter()
        .map(|(name, kind)| Output::scratch(name, *kind, field(name)))
        .collect();
    let mut specs = Vec::with_capacity(calls.len());
    for (i, call) in calls {
        let mut names = Vec::new();
        for (j, argument) in call.args.iter().enumerate() {
            names.push(argument_field(*i, j));
            let (name, expr) = (argument_field(*i, j), argument.expr.clone());
            inputs.push(Output::scratch(name, argument.kind, expr));
        }
        specs.push(WindowSpec {
            function: call.function.clone(),
            args: names,
            kind: call.kind,
        });
    }
    let mut outputs: Vec<Column> = inputs.iter().map(Output::column).collect();
    let of_call = |(i, call): &(usize, WindowCall)| Column::scratch(call_field(*i), call.kind);
    outputs.extend(calls.iter().map(of_call));
    fields.extend(calls.iter().map(|(i, c)| (call_field(*i), c.kind)));
    let span = calls.first().map_or(span, |(_, c)| c.span);
    let input = relation.project(inputs, span)?;
    transform(
        by_group(Arc::new(WindowRows { specs }), columns),
        input.plan,
        outputs,
        true,
        span,
    )
}
