//! `avg` and `avgif`. The average of integers divides the wrapped 64-bit sum; the average of an empty group is NaN
//! (`docs/semantics.md §16.2, §16.3`).

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::functions_aggregate::expr_fn::{count, sum};
use datafusion::logical_expr::{Expr, cast};
use hindsight_kql_syntax::Diagnostic;
use hindsight_kql_types::ScalarType;

use super::build::{filtered, or_else, to_kind};
use super::{AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
use crate::definition::example;
use crate::states::description::Description;
use crate::states::groups::GroupsUdaf;
use crate::states::ticks::{TICK_STATES, TickAverages};

pub(crate) static LIST: &[&AggregateFunction] = &[&AVG, &AVGIF];

static AVG: AggregateFunction = AggregateFunction {
    signatures: &[
        "avg(expr: long) -> real",
        "avg(expr: real) -> real",
        "avg(expr: decimal) -> decimal",
        "avg(expr: timespan) -> timespan",
        "avg(expr: datetime) -> datetime",
    ],
    aliases: &[],
    summary: "The mean of the values; nulls are ignored, and the mean of no integers or reals is NaN.",
    result_name: AggregateName::Prefixed("avg"),
    star: false,
    examples: &[
        example(
            "datatable(n:long)[1, 2, long(null)] | summarize avg(n)",
            "avg_n:real\n1.5",
        ),
        example(
            "datatable(n:long)[1] | where n > 2 | summarize avg(n)",
            "avg_n:real\nNaN",
        ),
    ],
    bind: |call| bind(call, false),
};

static AVGIF: AggregateFunction = AggregateFunction {
    signatures: &[
        "avgif(expr: long, predicate: bool) -> real",
        "avgif(expr: real, predicate: bool) -> real",
        "avgif(expr: decimal, predicate: bool) -> decimal",
        "avgif(expr: timespan, predicate: bool) -> timespan",
        "avgif(expr: datetime, predicate: bool) -> datetime",
    ],
    aliases: &[],
    summary: "The mean of the values of the rows where the predicate is true.",
    result_name: AggregateName::Prefixed("avgif"),
    star: false,
    examples: &[example(
        "datatable(n:long, ok:bool)[1, true, 2, false, 4, true] | summarize avgif(n, ok)",
        "avgif_n:real\n2.5",
    )],
    bind: |call| bind(call, true),
};

fn bind(call: &AggregateCall<'_>, conditional: bool) -> Result<Vec<AggregateColumn>, Diagnostic> {
    let predicate = conditional.then(|| call.expr(1)).transpose()?;
    let argument = call.arg(0)?;
    let mean = match call.result {
        ScalarType::Real => real_mean(argument.expr.clone(), argument.kind, predicate, call)?,
        ScalarType::Decimal => {
            let total = filtered(sum(argument.expr.clone()), predicate.clone(), call.span)?;
            let rows = filtered(count(argument.expr.clone()), predicate, call.span)?;
            // A group without values has a null sum, so it never divides by its row count of zero.
            to_kind(
                total / to_kind(rows, ScalarType::Decimal),
                ScalarType::Decimal,
            )
        }
        _ => {
            let mean = ticks_mean().call(vec![argument.expr.clone()]);
            filtered(mean, predicate, call.span)?
        }
    };
    call.column(mean)
}

fn real_mean(
    value: Expr,
    kind: ScalarType,
    predicate: Option<Expr>,
    call: &AggregateCall<'_>,
) -> Result<Expr, Diagnostic> {
    let summed = match kind {
        ScalarType::Real => value.clone(),
        _ => to_kind(value.clone(), ScalarType::Long),
    };
    let total = filtered(sum(summed), predicate.clone(), call.span)?;
    let rows = filtered(count(value), predicate, call.span)?;
    let total = or_else(
        cast(total, DataType::Float64),
        ScalarValue::Float64(Some(0.0)),
    );
    // 0.0 / 0.0 is the NaN of an empty group.
    Ok(total / cast(rows, DataType::Float64))
}

/// The mean of ticks, whose sum can exceed 64 bits.
pub(super) fn ticks_mean() -> GroupsUdaf {
    GroupsUdaf {
        name: "avg_ticks",
        parameters: String::new(),
        arguments: 1,
        result: DataType::Int64,
        states: TICK_STATES.to_vec(),
        description: Description::AverageTicks(()),
        make: Arc::new(|| Box::new(TickAverages::default())),
    }
}
