//! `min`, `max` and their conditional forms. A NaN among reals makes both NaN (`docs/semantics.md §16.3`).

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::functions_aggregate::expr_fn::{max, min};
use hindsight_kql_syntax::Diagnostic;
use hindsight_kql_types::ScalarType;

use super::build::{filtered, never_null_text};
use super::{AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
use crate::definition::example;
use crate::states::description::Description;
use crate::states::extreme::RealExtremes;
use crate::states::groups::GroupsUdaf;

pub(crate) static LIST: &[&AggregateFunction] = &[&MIN, &MINIF, &MAX, &MAXIF];

static MIN: AggregateFunction = AggregateFunction {
    signatures: &["min(expr: orderable) -> $1"],
    aliases: &[],
    summary: "The minimum value; nulls are ignored.",
    result_name: AggregateName::Prefixed("min"),
    star: false,
    examples: &[
        example(
            "datatable(n:int)[3, 1, int(null)] | summarize min(n)",
            "min_n:int\n1",
        ),
        example(
            "datatable(x:real)[3.0, real(nan)] | summarize min(x)",
            "min_x:real\nNaN",
        ),
    ],
    bind: |call| bind(call, false, false),
};

static MINIF: AggregateFunction = AggregateFunction {
    signatures: &["minif(expr: orderable, predicate: bool) -> $1"],
    aliases: &[],
    summary: "The minimum value of the rows where the predicate is true.",
    result_name: AggregateName::Prefixed("minif"),
    star: false,
    examples: &[example(
        "datatable(n:long, ok:bool)[1, false, 2, true] | summarize minif(n, ok)",
        "minif_n:long\n2",
    )],
    bind: |call| bind(call, false, true),
};

static MAX: AggregateFunction = AggregateFunction {
    signatures: &["max(expr: orderable) -> $1"],
    aliases: &[],
    summary: "The maximum value; nulls are ignored.",
    result_name: AggregateName::Prefixed("max"),
    star: false,
    examples: &[example(
        "datatable(s:string)['pear', 'apple'] | summarize max(s)",
        "max_s:string\npear",
    )],
    bind: |call| bind(call, true, false),
};

static MAXIF: AggregateFunction = AggregateFunction {
    signatures: &["maxif(expr: orderable, predicate: bool) -> $1"],
    aliases: &[],
    summary: "The maximum value of the rows where the predicate is true.",
    result_name: AggregateName::Prefixed("maxif"),
    star: false,
    examples: &[example(
        "datatable(n:long, ok:bool)[1, true, 2, false] | summarize maxif(n, ok)",
        "maxif_n:long\n1",
    )],
    bind: |call| bind(call, true, true),
};

fn bind(
    call: &AggregateCall<'_>,
    largest: bool,
    conditional: bool,
) -> Result<Vec<AggregateColumn>, Diagnostic> {
    let predicate = conditional.then(|| call.expr(1)).transpose()?;
    let argument = call.arg(0)?;
    let value = argument.expr.clone();
    let aggregate = match (argument.kind, largest) {
        (ScalarType::Real, _) => real_extreme(largest).call(vec![value]),
        (_, true) => max(value),
        (_, false) => min(value),
    };
    let aggregate = filtered(aggregate, predicate, call.span)?;
    call.column(never_null_text(aggregate, call.result))
}

/// The minimum or maximum of reals.
pub(super) fn real_extreme(largest: bool) -> GroupsUdaf {
    GroupsUdaf {
        name: if largest { "max_real" } else { "min_real" },
        parameters: String::new(),
        arguments: 1,
        result: DataType::Float64,
        states: vec![DataType::Float64],
        description: Description::RealExtreme(largest),
        make: Arc::new(move || Box::new(RealExtremes::new(largest))),
    }
}
