//! Plug-ins with sliding windows over the bins of an axis: `sliding_window_counts` and `rolling_percentile`.
//!
//! Each row is assigned to every bin whose window contains it; then the bins are aggregated. A window extends back from its
//! own bin, which it includes.

use hindsight_kql_syntax::ast::{Call, Expr, Literal, Operator};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{ScalarType, Value};

use super::args::Args;
use super::tree::{
    add, bare, greater, inside, multiply, name, named, names, run, run_with, subtract,
};
use crate::context::BindContext;
use crate::error::BindResult;
use crate::plan;
use crate::relation::Relation;

/// The maximum number of bins of a row.
const MAX_BINS: i64 = 10_000;

/// `sliding_window_counts(id, axis, start, end, lookback, bin [, dimensions…])`
pub(crate) fn counts(
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut args = Args::new(call);
    let id = column(args.required("IdColumn", binder, span)?, &input, binder)?;
    let axis = args.required("TimelineColumn", binder, span)?;
    let axis_kind = plan::column_named(axis, &input, binder)?.kind;
    let axis = column(axis, &input, binder)?;
    let start = constant(args.required("Start", binder, span)?, axis_kind, binder)?;
    let end = constant(args.required("End", binder, span)?, axis_kind, binder)?;
    let step_kind = match axis_kind {
        ScalarType::DateTime => ScalarType::TimeSpan,
        other => other,
    };
    let lookback_expr = args.required("LookbackWindow", binder, span)?;
    let lookback = constant(lookback_expr, step_kind, binder)?;
    let bin = constant(args.required("Bin", binder, span)?, step_kind, binder)?;
    let dimensions = columns(args.rest(), &input, binder)?;
    args.end(binder, span)?;
    let bins = ticks(&lookback)
        .zip(ticks(&bin))
        .filter(|(l, b)| *b > 0 && *l > 0);
    let Some(bins) = bins
        .map(|(l, b)| (l + b - 1) / b)
        .filter(|n| *n <= MAX_BINS)
    else {
        return Err(binder.unsupported("this window", span));
    };
    let (start, end, bin) = (literal(&start), literal(&end), literal(&bin));
    let at = name(&axis);
    let bin_of = Expr::call("bin_at", [at.clone(), bin.clone(), start.clone()]);
    let own = name("$bin");
    let shifted = add(name("$first"), multiply(name("$n"), bin));
    let reached = greater(bin_of.clone(), subtract(own.clone(), literal(&lookback)));
    let mut by = vec![named(&axis, own.clone())];
    by.extend(bare(&dimensions));
    // A row counts in its own bin and in the following ones while its time is after the bin's start less the window.
    let operators = vec![
        Operator::filter(inside(&at, &start, &end)),
        Operator::extend(vec![named("$first", bin_of)]),
        numbers(bins),
        Operator::extend(vec![named("$bin", shifted)]),
        Operator::filter(inside(&own, &start, &end).and(reached)),
        Operator::summarize(
            vec![
                named("Count", Expr::call("count", [])),
                named("Dcount", Expr::call("dcount", [name(&id), Expr::long(4)])),
            ],
            by,
        ),
    ];
    run(operators, input, binder, span)
}

/// One row for each number from 0 to `last`, in the column `$n`.
pub(super) fn numbers(last: i64) -> Operator {
    let range = Expr::call("range", [Expr::long(0), Expr::long(last)]);
    Operator::mv_expand(named("$n", range), Some(ScalarType::Long))
}

/// `rolling_percentile(value, percentile, axis, bin, bins per window [, dimensions…])`
pub(crate) fn percentile(
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut args = Args::new(call);
    let value_expr = args.required("ValueColumn", binder, span)?;
    let value_name = plan::column_named(value_expr, &input, binder)?.name.clone();
    let value = column(value_expr, &input, binder)?;
    let percentile_expr = args.required("Percentile", binder, span)?;
    let percentile = binder.bind_constant(percentile_expr)?;
    let share = share(&percentile);
    let percentile = percentile.to_text();
    let axis = args.required("IndexColumn", binder, span)?;
    let axis_kind = plan::column_named(axis, &input, binder)?.kind;
    let axis = column(axis, &input, binder)?;
    let step_kind = match axis_kind {
        ScalarType::DateTime => ScalarType::TimeSpan,
        other => other,
    };
    let bin = constant(args.required("BinSize", binder, span)?, step_kind, binder)?;
    let bins = binder.constant_long(args.required("BinsPerWindow", binder, span)?)?;
    let dimensions = columns(args.rest(), &input, binder)?;
    args.end(binder, span)?;
    if !(1..=MAX_BINS).contains(&bins) || ticks(&bin).is_none_or(|b| b <= 0) {
        return Err(binder.unsupported("this window", span));
    }
    let bin = literal(&bin);
    let result = format!("rolling_{bins}_percentile_{value_name}_{percentile}");
    let own = named("$bin", Expr::call("bin", [name(&axis), bin.clone()]));
    let input = run(vec![Operator::extend(vec![own])], input, binder, span)?;
    let input = binder.materialize(input, span)?;
    // Only bins with rows have a window.
    let on = names(&["$bin"], &dimensions);
    let shifted = add(name("$bin"), multiply(name("$n"), bin));
    let mut by = vec![named(&axis, name("$bin"))];
    by.extend(bare(&dimensions));
    let percentile = Expr::call("percentile", [name(&value), share]);
    let operators = vec![
        numbers(bins - 1),
        Operator::extend(vec![named("$bin", shifted)]),
        Operator::join("leftsemi", name("$rows"), on),
        Operator::summarize(vec![named(&result, percentile)], by),
    ];
    let tables = vec![("$rows", input.clone())];
    run_with(operators, input, tables, binder, span)
}

/// The name of a column.
pub(super) fn column(
    expr: &Expr,
    input: &Relation,
    binder: &dyn BindContext,
) -> BindResult<String> {
    Ok(plan::column_named(expr, input, binder)?.name.clone())
}

/// The names of columns.
pub(super) fn columns(
    list: Vec<&Expr>,
    input: &Relation,
    binder: &dyn BindContext,
) -> BindResult<Vec<String>> {
    list.into_iter().map(|e| column(e, input, binder)).collect()
}

/// The value of an argument that must be a constant of a type.
pub(super) fn constant(
    expr: &Expr,
    kind: ScalarType,
    binder: &mut dyn BindContext,
) -> BindResult<Value> {
    let value = binder.bind_constant(expr)?;
    let numbers = crate::convert::widest(value.kind(), kind).is_some();
    if !(value.is_null() || (value.kind() != kind && !numbers)) {
        Ok(value.convert(kind))
    } else {
        Err(binder.error(Code::Semantics, format!("a {kind} is expected"), expr.span))
    }
}

/// The whole units of a step.
pub(super) fn ticks(value: &Value) -> Option<i64> {
    match value {
        Value::TimeSpan(v) | Value::Long(v) => Some(*v),
        Value::Int(v) => Some(i64::from(*v)),
        _ => None,
    }
}

/// The value of a percentile argument.
fn share(value: &Value) -> Expr {
    match value.convert(ScalarType::Real) {
        Value::Real(share) if !value.kind().is_integer() => Expr::real(share),
        _ => match value.convert(ScalarType::Long) {
            Value::Long(share) => Expr::long(share),
            null => literal(&null),
        },
    }
}

/// A constant as an expression.
pub(super) fn literal(value: &Value) -> Expr {
    Expr::literal(match value {
        Value::DateTime(v) => Literal::DateTime(*v),
        Value::TimeSpan(v) => Literal::TimeSpan(*v),
        Value::Int(v) => Literal::Int(*v),
        Value::Long(v) => Literal::Long(*v),
        other => Literal::Null(other.kind()),
    })
}
