//! Window functions over serialized rows (`semantics.md §22.2`).
//!
//! A call is bound to a field that does not exist yet and is noted in the binder; the operator that bound it adds the
//! node that computes the field under its own plan ([`absorb`]).

use std::sync::Arc;

use hindsight_kql_syntax::Span;
use hindsight_kql_types::{ScalarType, Value};

use super::call::WindowCall;
use crate::context::BindContext;
use crate::convert::convert;
use crate::error::BindResult;
use crate::exec::transform;
use crate::functions::real_key::as_key;
use crate::operators::grouped_rows::by_group;
use crate::plan::{Output, field, hidden_name};
use crate::relation::{Column, Relation, Scalar};
use crate::subtables;
use crate::window::rows::{WindowFunction, WindowRows, WindowSpec};

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

/// Binds a call whose arguments are bound already: notes it, and gives the field that will hold it.
pub(crate) fn bind_call(
    name: &str,
    args: Vec<Scalar>,
    input: &Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Scalar> {
    if !input.serialized {
        return Err(binder.error(
            "SEM0001",
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

/// Puts the noted calls under the operator: the rows of `input` with a field for each call. The columns stay the same.
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
        // A call over another call (`row_number(1, k != prev(k))`) goes above it.
        let (ready, later): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .partition(|(_, call)| !call.args.iter().any(|a| reads_any(a, &pending)));
        if ready.is_empty() {
            return Err(binder.error("SEM0001", "window functions over themselves", span));
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

/// The rows with a field for each of `calls`, which are added to `fields`.
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

fn prepare(
    name: &str,
    args: Vec<Scalar>,
    binder: &dyn BindContext,
    span: Span,
) -> BindResult<WindowCall> {
    let long = |scalar: &Scalar| match &scalar.constant {
        Some(Value::Long(v)) => Ok(*v),
        Some(Value::Int(v)) => Ok(i64::from(*v)),
        _ => Err(binder.error("SEM0040", "the argument must be a constant integer", span)),
    };
    let count = args.len();
    let wrong_count = |min: usize, max: usize| match (min..=max).contains(&count) {
        true => Ok(()),
        false => Err(binder.error(
            "SEM0219",
            format!("{name}(): function expects {min} to {max} argument(s)"),
            span,
        )),
    };
    let restart = |scalar: Option<Scalar>| match scalar {
        None => Ok(None),
        Some(scalar) if scalar.kind == ScalarType::Bool => Ok(Some(scalar)),
        Some(_) => Err(binder.error("SEM0001", format!("{name}(): restart must be a bool"), span)),
    };
    let mut args = args.into_iter();
    let (first, second, third) = (args.next(), args.next(), args.next());
    let call = |function, args: Vec<Option<Scalar>>, kind| WindowCall {
        function,
        args: args.into_iter().flatten().collect(),
        kind,
        span,
    };
    match name {
        "row_number" => {
            wrong_count(0, 2)?;
            let start = first.as_ref().map_or(Ok(1), long)?;
            let restart = restart(second)?;
            Ok(call(
                WindowFunction::RowNumber { start },
                vec![restart],
                ScalarType::Long,
            ))
        }
        "prev" | "next" => {
            wrong_count(1, 3)?;
            let Some(value) = first else {
                return Err(binder.error("SEM0219", format!("{name}() needs an argument"), span));
            };
            let distance = second.as_ref().map_or(Ok(1), long)?;
            let distance = usize::try_from(distance)
                .ok()
                .filter(|d| *d > 0)
                .ok_or_else(|| {
                    binder.error(
                        "SEM0001",
                        format!("{name}(): the distance must be 1 or more"),
                        span,
                    )
                })?;
            let kind = value.kind;
            let default = match third {
                None => Value::null(kind),
                Some(scalar) => convert(scalar, kind).constant.ok_or_else(|| {
                    binder.error(
                        "SEM0040",
                        format!("{name}(): the default must be a constant"),
                        span,
                    )
                })?,
            };
            let function = match name {
                "prev" => WindowFunction::Prev { distance, default },
                _ => WindowFunction::Next { distance, default },
            };
            Ok(call(function, vec![Some(value)], kind))
        }
        "row_cumsum" => {
            wrong_count(1, 2)?;
            let value = first.map(|v| match v.kind {
                ScalarType::Int => convert(v, ScalarType::Long),
                _ => v,
            });
            let kind = value.as_ref().map_or(ScalarType::Long, |v| v.kind);
            if !matches!(
                kind,
                ScalarType::Long | ScalarType::Real | ScalarType::Decimal | ScalarType::TimeSpan
            ) {
                return Err(binder.error(
                    "SEM0001",
                    format!("row_cumsum() cannot add {kind}"),
                    span,
                ));
            }
            Ok(call(
                WindowFunction::CumulativeSum,
                vec![value, restart(second)?],
                kind,
            ))
        }
        // `row_rank` is the older name of the dense one.
        "row_rank" | "row_rank_dense" | "row_rank_min" => {
            wrong_count(1, 2)?;
            let dense = name != "row_rank_min";
            let ranked = first.map(|v| Scalar {
                expr: as_key(v.expr, v.kind),
                ..v
            });
            let args = vec![ranked, restart(second)?];
            Ok(call(WindowFunction::Rank { dense }, args, ScalarType::Long))
        }
        "row_window_session" => {
            let time = first.filter(|v| v.kind == ScalarType::DateTime);
            let (Some(time), Some(from_first), Some(between)) = (time, second, third) else {
                let message = "row_window_session() needs a datetime and two timespans";
                return Err(binder.error("SEM0219", message, span));
            };
            let ticks = |scalar: &Scalar| match &scalar.constant {
                Some(Value::TimeSpan(v)) => Ok(*v),
                _ => Err(binder.error("SEM0040", "the argument must be a constant timespan", span)),
            };
            let function = WindowFunction::Session {
                from_first: ticks(&from_first)?,
                between: ticks(&between)?,
            };
            let restart = restart(args.next())?;
            Ok(call(
                function,
                vec![Some(time), restart],
                ScalarType::DateTime,
            ))
        }
        other => Err(binder.unsupported(format_args!("the function '{other}'"), span)),
    }
}
