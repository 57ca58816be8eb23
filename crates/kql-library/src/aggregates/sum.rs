//! `sum` and `sumif`: 64-bit sums wrap, and the sum of an empty group is zero (`docs/semantics.md §16.2, §16.3`).

use datafusion::functions_aggregate::expr_fn::sum;
use hindsight_kql_syntax::Diagnostic;
use hindsight_kql_types::{ScalarType, ticks};

use super::build::{filtered, or_else, to_kind, zero};
use super::{AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
use crate::call::{InnerKernel, kernel_call};
use crate::definition::example;

pub(crate) static LIST: &[&AggregateFunction] = &[&SUM, &SUMIF];

static SUM: AggregateFunction = AggregateFunction {
    signatures: &[
        "sum(expr: long) -> long",
        "sum(expr: real) -> real",
        "sum(expr: decimal) -> decimal",
        "sum(expr: timespan) -> timespan",
        "sum(expr: datetime) -> datetime",
    ],
    aliases: &[],
    summary: "The sum of the values; nulls are ignored, and the sum of an empty group is 0.",
    result_name: AggregateName::Prefixed("sum"),
    star: false,
    examples: &[
        example(
            "datatable(n:int)[1, 2, int(null)] | summarize sum(n)",
            "sum_n:long\n3",
        ),
        example(
            "datatable(n:real)[1.5] | where n > 2 | summarize sum(n)",
            "sum_n:real\n0.0",
        ),
    ],
    bind: |call| bind(call, false),
};

static SUMIF: AggregateFunction = AggregateFunction {
    signatures: &[
        "sumif(expr: long, predicate: bool) -> long",
        "sumif(expr: real, predicate: bool) -> real",
        "sumif(expr: decimal, predicate: bool) -> decimal",
        "sumif(expr: timespan, predicate: bool) -> timespan",
        "sumif(expr: datetime, predicate: bool) -> datetime",
    ],
    aliases: &[],
    summary: "The sum of the values of the rows where the predicate is true.",
    result_name: AggregateName::Prefixed("sumif"),
    star: false,
    examples: &[example(
        "datatable(n:long, ok:bool)[1, true, 2, false, 4, true] | summarize sumif(n, ok)",
        "sumif_n:long\n5",
    )],
    bind: |call| bind(call, true),
};

fn bind(call: &AggregateCall<'_>, conditional: bool) -> Result<Vec<AggregateColumn>, Diagnostic> {
    let predicate = conditional.then(|| call.expr(1)).transpose()?;
    let value = to_kind(call.expr(0)?, call.result);
    let total = filtered(sum(value), predicate, call.span)?;
    let total = or_else(total, zero(call.result));
    if call.result != ScalarType::DateTime {
        return call.column(total);
    }
    let kinds = vec![ScalarType::DateTime];
    call.column(kernel_call(&IN_RANGE, vec![total], kinds, call.result))
}

/// The sum of the ticks of datetimes; null if it is no datetime.
pub(super) static IN_RANGE: InnerKernel = InnerKernel::new("$datetime_in_range", |args| {
    let sums = args.longs(0)?;
    Ok(args.collect_longs(|row| ticks::in_range(sums.get(row)?)))
});
