//! `make-series`: arrays of aggregates over the bins of an axis (`docs/semantics.md §19`).
//!
//! DataFusion aggregates the rows by keys and bin number; one pass then collects the bins of each key into arrays.

mod rows;

use std::sync::Arc;

use hindsight_kql_syntax::ast::{
    Argument, Call, Expr, ExprKind, MakeSeriesOperator, Name, NamedExpr, SeriesBins,
};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{ScalarType, Value};

use self::rows::{Axis, Series, SeriesRows};
use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::call::{InnerKernel, kernel_call};
use crate::context::{BindContext, Bound, BoundAggregate, BoundColumn, NamingMode};
use crate::convert::{convert, widest};
use crate::error::BindResult;
use crate::kernel::{KernelArgs, KernelError};
use crate::operators::summarize;
use crate::plan::transform;
use crate::plan::{self, Output, hidden_name, parameter};
use crate::relation::{Column, Relation, Scalar};
use crate::transform::by_keys;
use crate::window;

impl TabularOperator for MakeSeriesOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Loses,
            on_empty_input: if self.by.is_empty()
                && parameter(&self.parameters, &["kind"]).is_some()
            {
                OnEmptyInput::OneRowOfPlaceholders
            } else {
                OnEmptyInput::NoRows
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
    node: &MakeSeriesOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let (axis_name, axis) = bind_axis(&node.axis, &input, binder)?;
    let bins = bind_bins(&node.bins, axis.kind, binder)?;
    let nonempty = is_nonempty(node, binder)?;
    let keys = summarize::bind_keys(&node.by, &input, binder, span)?;
    let (aggregates, series) = bind_series(node, &keys, &input, binder, span)?;
    let input = window::absorb(binder, input, span)?;
    let input = bins.inside(input, &axis, span)?;
    let mut group: Vec<Output> = keys
        .into_iter()
        .map(|k| Output::visible(k.name, k.scalar.kind, k.scalar.expr))
        .collect();
    // `aggregated` places the subtable keys before the other keys.
    let subtables = plan::groups(&input);
    let keys: Vec<Column> = subtables
        .iter()
        .map(Column::under_its_name)
        .chain(group.iter().map(Output::column))
        .collect();
    let bin = hidden_name("bin");
    group.push(Output::scratch(&bin, ScalarType::Long, bins.number(&axis)));
    let binned = summarize::aggregated(input, group, aggregates, span)?;
    let work = SeriesRows {
        keys: keys.iter().map(|c| c.name.clone()).collect(),
        bin,
        axis: bins.axis(axis.kind),
        nonempty: nonempty && keys.is_empty(),
        series: series.clone(),
    };
    let mut columns = keys;
    let series = series.into_iter();
    columns.extend(series.map(|s| Column::visible(s.name, ScalarType::Dynamic)));
    let axis_name = plan::free_name(&axis_name, |n| columns.iter().any(|c| c.name == n));
    columns.push(Column::visible(axis_name, ScalarType::Dynamic));
    let subtables = subtables.into_iter().map(|c| c.name).collect();
    let work = by_keys(Arc::new(work), subtables);
    transform(work, binned.plan, columns, false, span)
}

/// The bins of the axis.
fn bind_bins(
    bins: &SeriesBins,
    axis: ScalarType,
    binder: &mut dyn BindContext,
) -> BindResult<Bins> {
    let (from, to, step, inclusive) = match bins {
        SeriesBins::FromToStep { from, to, step } => (from.as_ref(), to.as_ref(), step, false),
        SeriesBins::InRange { from, to, step } => (Some(from), Some(to), step, true),
    };
    Ok(Bins {
        from: bound(from, axis, binder)?,
        to: bound(to, axis, binder)?,
        step: step_of(step, axis, binder)?,
        inclusive,
    })
}

/// Whether `kind=nonempty` is set, the only kind.
fn is_nonempty(node: &MakeSeriesOperator, binder: &mut dyn BindContext) -> BindResult<bool> {
    let Some(expr) = parameter(&node.parameters, &["kind"]) else {
        return Ok(false);
    };
    match binder.constant_word(expr)?.as_str() {
        "nonempty" => Ok(true),
        other => Err(binder.error(
            Code::Semantics,
            format!("unknown kind '{other}'; the only kind is 'nonempty'"),
            expr.span,
        )),
    }
}

/// The aggregates of a bin, and the series of each.
fn bind_series(
    node: &MakeSeriesOperator,
    keys: &[BoundColumn],
    input: &Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<(Vec<BoundAggregate>, Vec<Series>)> {
    let items: Vec<NamedExpr> = node
        .aggregates
        .iter()
        .map(|a| with_aggregate(&a.aggregate, binder))
        .collect();
    let aggregates = binder.bind_aggregates(&items, keys, &summarize::without_groups(input))?;
    if let (true, Some(error)) = (aggregates.len() < node.aggregates.len(), binder.reported()) {
        return Err(error.clone());
    }
    if aggregates.len() != node.aggregates.len() {
        let message = "an aggregate that returns several columns cannot be made into a series";
        return Err(binder.error(Code::Semantics, message, span));
    }
    let mut series = Vec::new();
    for (aggregate, written) in aggregates.iter().zip(&node.aggregates) {
        let default = match &written.default {
            None => Value::Long(0).convert(aggregate.kind),
            Some(expr) => binder.bind_constant(expr)?.convert(aggregate.kind),
        };
        series.push(Series {
            name: aggregate.name.clone(),
            kind: aggregate.kind,
            default,
        });
    }
    Ok((aggregates, series))
}

/// A named constant becomes an aggregate that returns the constant for each group of rows.
fn with_aggregate(item: &NamedExpr, binder: &mut dyn BindContext) -> NamedExpr {
    let span = item.expr.span;
    let is_constant = matches!(
        item.expr.unparenthesised().kind,
        ExprKind::Literal(_) | ExprKind::Unary { .. } | ExprKind::Name(_)
    );
    let mut constant = |binder: &mut dyn BindContext| binder.bind_constant(&item.expr).map(drop);
    if item.names.is_empty() || !is_constant || binder.attempt(&mut constant).is_err() {
        return item.clone();
    }
    let call = Call {
        function: Name::new("max", span),
        arguments: vec![Argument {
            name: None,
            value: item.expr.clone(),
        }],
    };
    NamedExpr {
        expr: Expr::new(ExprKind::Call(call), span),
        ..item.clone()
    }
}

/// The axis: its name and its value.
fn bind_axis(
    axis: &NamedExpr,
    input: &Relation,
    binder: &mut dyn BindContext,
) -> BindResult<(String, Scalar)> {
    let bound = binder.bind_projection(std::slice::from_ref(axis), input, NamingMode::Summarize)?;
    let Some(column) = bound.into_iter().next() else {
        return Err(binder.error(Code::Semantics, "the axis is missing", axis.expr.span));
    };
    match column.scalar.kind {
        ScalarType::Int => Ok((column.name, convert(column.scalar, ScalarType::Long))),
        ScalarType::Long
        | ScalarType::Real
        | ScalarType::Decimal
        | ScalarType::DateTime
        | ScalarType::TimeSpan => Ok((column.name, column.scalar)),
        other => Err(binder.error(
            Code::Semantics,
            format!("the axis is {other} and must be a number, datetime or timespan"),
            axis.expr.span,
        )),
    }
}

fn bound(
    expr: Option<&Expr>,
    kind: ScalarType,
    binder: &mut dyn BindContext,
) -> BindResult<Option<Value>> {
    let Some(expr) = expr else {
        return Ok(None);
    };
    let value = binder.value_now(expr)?;
    let fits = value.kind() == kind || widest(value.kind(), kind).is_some();
    if value.is_null() {
        return Err(binder.error(Code::Semantics, "a bound of the axis is null", expr.span));
    }
    if fits {
        Ok(Some(value.convert(kind)))
    } else {
        Err(binder.error(
            Code::Semantics,
            format!("the bound of an axis of type {kind} is {}", value.kind()),
            expr.span,
        ))
    }
}

fn step_of(expr: &Expr, axis: ScalarType, binder: &mut dyn BindContext) -> BindResult<Value> {
    let value = binder.value_now(expr)?;
    let step = match (axis, &value) {
        (ScalarType::DateTime | ScalarType::TimeSpan, Value::TimeSpan(v)) if *v > 0 => Some(value),
        (ScalarType::Long, Value::Int(_) | Value::Long(_)) => Some(value.convert(ScalarType::Long)),
        // A number beside a timespan is a number of ticks, as `totimespan` converts it.
        (ScalarType::TimeSpan | ScalarType::Decimal, value) if value.kind().is_number() => {
            Some(value.convert(axis))
        }
        (ScalarType::Real, _) => Some(value.convert(ScalarType::Real)),
        _ => None,
    };
    let positive = |step: &Value| match step {
        Value::Long(v) | Value::TimeSpan(v) => *v > 0,
        Value::Real(v) => *v > 0.0,
        Value::Decimal(v) => *v > 0,
        _ => false,
    };
    step.filter(positive).ok_or_else(|| {
        binder.error(
            Code::Semantics,
            format!("the step does not fit an axis of type {axis}"),
            expr.span,
        )
    })
}

/// The bins of the axis.
struct Bins {
    from: Option<Value>,
    to: Option<Value>,
    step: Value,
    inclusive: bool,
}

impl Bins {
    /// The axis for the row work.
    fn axis(&self, kind: ScalarType) -> Axis {
        Axis {
            kind,
            from: self.from.clone(),
            to: self.to.clone(),
            step: self.step.clone(),
            inclusive: self.inclusive,
        }
    }

    /// The rows between the bounds; a null axis value is in no bin.
    fn inside(&self, input: Relation, axis: &Scalar, span: Span) -> BindResult<Relation> {
        let mut predicate = axis.expr.clone().is_not_null();
        if let Some(from) = &self.from {
            let from = Scalar::constant(from.clone()).expr;
            predicate = predicate.and(axis.expr.clone().gt_eq(from));
        }
        if let Some(to) = &self.to {
            let to = Scalar::constant(to.clone()).expr;
            predicate = predicate.and(if self.inclusive {
                axis.expr.clone().lt_eq(to)
            } else {
                axis.expr.clone().lt(to)
            });
        }
        input.filter(predicate, span)
    }

    /// The bin number of a value, counted from `from`, or from 0 without a `from`.
    fn number(&self, axis: &Scalar) -> datafusion::logical_expr::Expr {
        let zero = Value::null(axis.kind);
        let from = self.from.clone().unwrap_or(zero);
        let args = [
            axis.clone(),
            Scalar::constant(from),
            Scalar::constant(self.step.clone()),
        ];
        kernel_call(
            &SERIES_BIN,
            args.iter().map(|a| a.expr.clone()).collect(),
            args.iter().map(|a| a.kind).collect(),
            ScalarType::Long,
        )
    }
}

pub(crate) static SERIES_BIN: InnerKernel = InnerKernel::new("$series_bin", bin_number);

fn bin_number(args: &KernelArgs<'_>) -> Result<arrow::array::ArrayRef, KernelError> {
    if args.kind(0) == ScalarType::Real {
        let (axis, from, step) = (args.reals(0)?, args.reals(1)?, args.reals(2)?);
        return Ok(args.collect_longs(|row| {
            let step = step.get(row)?;
            Some(((axis.get(row)? - from.get(row).unwrap_or(0.0)) / step).floor() as i64)
        }));
    }
    if args.kind(0) == ScalarType::Decimal {
        let (axis, from, step) = (args.decimals(0)?, args.decimals(1)?, args.decimals(2)?);
        return Ok(args.collect_longs(|row| {
            let distance = axis.get(row)?.checked_sub(from.get(row).unwrap_or(0))?;
            let bin = distance.checked_div_euclid(step.get(row)?)?;
            i64::try_from(bin).ok()
        }));
    }
    let (axis, from, step) = (args.longs(0)?, args.longs(1)?, args.longs(2)?);
    Ok(args.collect_longs(|row| {
        let distance = axis.get(row)?.wrapping_sub(from.get(row).unwrap_or(0));
        distance.checked_div_euclid(step.get(row)?)
    }))
}
