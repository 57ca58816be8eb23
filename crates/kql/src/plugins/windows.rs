//! Plug-ins over a window that slides along bins of an axis: `sliding_window_counts` and `rolling_percentile`.
//!
//! Each row is given to every bin whose window it is in; then bins are aggregated. A window reaches back from its bin's
//! own place, which it includes.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Call, Expr, ExprKind, Literal};
use hindsight_kql_types::{ScalarType, Value};

use super::args::Args;
use super::rewrite::{name, rewrite, rewrite_with};
use crate::context::BindContext;
use crate::error::BindResult;
use crate::plan;
use crate::relation::Relation;

/// A row is given to at most so many bins.
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
    let (start, end, bin) = (written(&start), written(&end), written(&bin));
    let lookback = written(&lookback);
    let by: String = dimensions.iter().map(|d| format!(", {d}")).collect();
    // A row counts in the bins from its own on, while its time is later than the bin's less the window.
    let operators = format!(
        "where {axis} >= {start} and {axis} <= {end} \
         | extend ['$first'] = bin_at({axis}, {bin}, {start}) \
         | mv-expand ['$n'] = range(0, {bins}) to typeof(long) \
         | extend ['$bin'] = ['$first'] + ['$n'] * {bin} \
         | where ['$bin'] >= {start} and ['$bin'] <= {end} and bin_at({axis}, {bin}, {start}) > ['$bin'] - {lookback} \
         | summarize Count = count(), Dcount = dcount({id}, 4) by {axis} = ['$bin']{by}"
    );
    rewrite(&operators, input, binder, span)
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
    let percentile = binder.bind_constant(percentile_expr)?.to_text();
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
    let bin = written(&bin);
    let by: String = dimensions.iter().map(|d| format!(", {d}")).collect();
    let result = name(&format!(
        "rolling_{bins}_percentile_{value_name}_{percentile}"
    ));
    let input = rewrite(
        &format!("extend ['$bin'] = bin({axis}, {bin})"),
        input,
        binder,
        span,
    )?;
    let input = binder.materialize(input, span)?;
    // Windows end where rows are; a bin without rows has none.
    let on: String = std::iter::once("['$bin']".to_owned())
        .chain(dimensions.iter().cloned())
        .collect::<Vec<_>>()
        .join(", ");
    let operators = format!(
        "mv-expand ['$n'] = range(0, {last}) to typeof(long) \
         | extend ['$bin'] = ['$bin'] + ['$n'] * {bin} \
         | join kind=leftsemi (['$rows']) on {on} \
         | summarize {result} = percentile({value}, {percentile}) by {axis} = ['$bin']{by}",
        last = bins - 1
    );
    let tables = vec![("$rows", input.clone())];
    rewrite_with(&operators, input, tables, binder, span)
}

/// A column as the language writes it.
pub(super) fn column(
    expr: &Expr,
    input: &Relation,
    binder: &dyn BindContext,
) -> BindResult<String> {
    Ok(name(&plan::column_named(expr, input, binder)?.name))
}

/// Columns as the language writes them.
pub(super) fn columns(
    list: Vec<&Expr>,
    input: &Relation,
    binder: &dyn BindContext,
) -> BindResult<Vec<String>> {
    list.into_iter().map(|e| column(e, input, binder)).collect()
}

/// The constant of a type that an argument is.
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
        Err(binder.error("SEM0001", format!("a {kind} is expected"), expr.span))
    }
}

/// Whole units of a step.
pub(super) fn ticks(value: &Value) -> Option<i64> {
    match value {
        Value::TimeSpan(v) | Value::Long(v) => Some(*v),
        Value::Int(v) => Some(i64::from(*v)),
        _ => None,
    }
}

/// A constant as the language writes it.
pub(super) fn written(value: &Value) -> String {
    let literal = match value {
        Value::DateTime(v) => Literal::DateTime(*v),
        Value::TimeSpan(v) => Literal::TimeSpan(*v),
        Value::Int(v) => Literal::Int(*v),
        Value::Long(v) => Literal::Long(*v),
        other => Literal::Null(other.kind()),
    };
    Expr::synthetic(ExprKind::Literal(literal)).to_string()
}
