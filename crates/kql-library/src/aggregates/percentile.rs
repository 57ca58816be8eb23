//! `percentile`, `percentiles`, their weighted and array forms (`docs/semantics.md §16.6`).
//!
//! A call keeps one sketch per group for all its percentages. Groups of fewer than 8192 values are exact; larger groups are
//! estimated by a t-digest, see [`crate::states::digest`] for its error. Bools, strings and guids have no distance: they are
//! counted, which is exact, see [`crate::states::counts`]. A dynamic has no order, and its percentiles are refused.

use std::sync::Arc;

use arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::functions::core::expr_fn::get_field;
use datafusion::logical_expr::Expr;
use hindsight_kql_syntax::{Code, Diagnostic};
use hindsight_kql_types::{DynamicRef, ScalarType, Value};

use super::build::{aggregate, never_null_text, not_constant, to_kind};
use super::{AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
use crate::call::{InnerKernel, kernel_call};
use crate::definition::example;
use crate::dynamic::arguments::pack_array_unless_all_null;
use crate::states::counts::OrderedPercentiles;
use crate::states::description::{self, Description};
use crate::states::groups::GroupsUdaf;
use crate::states::quantile::{Percentiles, field_name, fields};
use crate::states::sketch::sketch_udaf;

pub(crate) static LIST: &[&AggregateFunction] = &[
    &PERCENTILE,
    &PERCENTILES,
    &PERCENTILES_ARRAY,
    &PERCENTILEW,
    &PERCENTILESW,
    &PERCENTILESW_ARRAY,
];

static PERCENTILE: AggregateFunction = aggregate(
    &[
        "percentile(expr: long, percentage: const real) -> long",
        "percentile(expr: real, percentage: const real) -> real",
        "percentile(expr: time, percentage: const real) -> $1",
        "percentile(expr: bool|string|guid, percentage: const real) -> $1",
    ],
    "The value below which the percentage of the values lies, by nearest rank; of numbers and times, estimated in large groups.",
    AggregateName::Columns,
    &[
        example(
            "datatable(ms:long)[10, 20, 30, 40] | summarize percentile(ms, 75)",
            "percentile_ms_75:long\n30",
        ),
        example(
            "datatable(page:string)['cart', 'home', 'pay'] | summarize percentile(page, 50)",
            "percentile_page_50:string\nhome",
        ),
    ],
    |call| bind_columns(call, 1),
);

static PERCENTILES: AggregateFunction = aggregate(
    &[
        "percentiles(expr: long, percentage: const real...) -> long",
        "percentiles(expr: real, percentage: const real...) -> real",
        "percentiles(expr: time, percentage: const real...) -> $1",
        "percentiles(expr: bool|string|guid, percentage: const real...) -> $1",
    ],
    "A percentile for each percentage, in a column each.",
    AggregateName::Columns,
    &[example(
        "datatable(ms:long)[10, 20, 30, 40] | summarize percentiles(ms, 50, 99.9)",
        "percentile_ms_50:long, percentile_ms_99_9:long\n20 | 40",
    )],
    |call| bind_columns(call, 1),
);

static PERCENTILES_ARRAY: AggregateFunction = aggregate(
    &[
        "percentiles_array(expr: long, percentage: const number|dynamic...) -> dynamic",
        "percentiles_array(expr: real, percentage: const number|dynamic...) -> dynamic",
        "percentiles_array(expr: time, percentage: const number|dynamic...) -> dynamic",
        "percentiles_array(expr: bool|string|guid, percentage: const number|dynamic...) -> dynamic",
    ],
    "The percentiles for all percentages as one array.",
    AggregateName::Prefixed("percentiles"),
    &[example(
        "datatable(ms:long)[10, 20, 30, 40] | summarize percentiles_array(ms, dynamic([25, 75]))",
        "percentiles_ms:dynamic\n[10,30]",
    )],
    |call| bind_array(call, 1),
);

static PERCENTILEW: AggregateFunction = aggregate(
    &[
        "percentilew(expr: long, weight: long, percentage: const real) -> long",
        "percentilew(expr: real, weight: long, percentage: const real) -> real",
        "percentilew(expr: time, weight: long, percentage: const real) -> $1",
        "percentilew(expr: bool|string|guid, weight: long, percentage: const real) -> $1",
    ],
    "A percentile of values weighted by `weight`.",
    AggregateName::Columns,
    &[example(
        "datatable(ms:long, hits:long)[10, 9, 20, 1] | summarize percentilew(ms, hits, 90)",
        "percentile_ms_90:long\n10",
    )],
    |call| bind_columns(call, 2),
);

static PERCENTILESW: AggregateFunction = aggregate(
    &[
        "percentilesw(expr: long, weight: long, percentage: const real...) -> long",
        "percentilesw(expr: real, weight: long, percentage: const real...) -> real",
        "percentilesw(expr: time, weight: long, percentage: const real...) -> $1",
        "percentilesw(expr: bool|string|guid, weight: long, percentage: const real...) -> $1",
    ],
    "Percentiles of values weighted by `weight`, in a column each.",
    AggregateName::Columns,
    &[example(
        "datatable(ms:long, hits:long)[10, 9, 20, 1] | summarize percentilesw(ms, hits, 50, 95)",
        "percentile_ms_50:long, percentile_ms_95:long\n10 | 20",
    )],
    |call| bind_columns(call, 2),
);

static PERCENTILESW_ARRAY: AggregateFunction = aggregate(
    &[
        "percentilesw_array(expr: long, weight: long, percentage: const number|dynamic...) -> dynamic",
        "percentilesw_array(expr: real, weight: long, percentage: const number|dynamic...) -> dynamic",
        "percentilesw_array(expr: time, weight: long, percentage: const number|dynamic...) -> dynamic",
        "percentilesw_array(expr: bool|string|guid, weight: long, percentage: const number|dynamic...) -> dynamic",
    ],
    "The percentiles of weighted values as one array.",
    AggregateName::Prefixed("percentiles"),
    &[example(
        "datatable(ms:long, hits:long)[10, 9, 20, 1] | summarize percentilesw_array(ms, hits, 50, 95)",
        "percentiles_ms:dynamic\n[10,20]",
    )],
    |call| bind_array(call, 2),
);

/// The percentages in the arguments from `first` on: numbers, or arrays of numbers.
fn percents(call: &AggregateCall<'_>, first: usize) -> Result<Vec<f64>, Diagnostic> {
    let mut all = Vec::new();
    for index in first..call.args.len() {
        let refused = || not_constant(index, call.span);
        match call.constant(index)? {
            Some(Value::Dynamic(bytes)) => {
                for element in DynamicRef::new(bytes).iter_array() {
                    all.push(element.to_real().ok_or_else(refused)?);
                }
            }
            Some(value) => match value.convert(ScalarType::Real) {
                Value::Real(percent) => all.push(percent),
                _ => return Err(refused()),
            },
            None => return Err(refused()),
        }
    }
    match all.iter().find(|percent| !(0.0..=100.0).contains(*percent)) {
        Some(wrong) => Err(Diagnostic::new(
            Code::Semantics,
            format!("the percentage must be from 0 to 100, not {wrong}"),
            call.span,
        )),
        None => Ok(all),
    }
}

/// The struct of percentiles.
fn sketch(call: &AggregateCall<'_>, percents: &[f64], weighted: bool) -> Result<Expr, Diagnostic> {
    let argument = call.arg(0)?;
    let mut args = vec![argument.expr.clone()];
    if weighted {
        args.push(to_kind(call.expr(1)?, ScalarType::Long));
    }
    Ok(percentiles(percents.into(), argument.kind, weighted).call(args))
}

/// The percentiles of values of a type.
pub(super) fn percentiles(percents: Arc<[f64]>, kind: ScalarType, weighted: bool) -> GroupsUdaf {
    let description = Description::Percentiles(description::Percentiles {
        percents: percents.to_vec(),
        kind: kind.to_string(),
        weighted,
    });
    let arrow = kind.arrow();
    let result = DataType::Struct(fields(percents.len(), &arrow));
    let name = "percentiles";
    let texts: Vec<String> = percents.iter().map(f64::to_string).collect();
    let parameters = texts.join(";");
    let arguments = 1 + usize::from(weighted);
    match kind {
        ScalarType::Real => {
            let function = Percentiles::<Float64Type>::new(percents, arrow);
            sketch_udaf(name, parameters, function, description, result, arguments)
        }
        ScalarType::Bool | ScalarType::String | ScalarType::Guid => {
            let function = OrderedPercentiles { percents, kind };
            sketch_udaf(name, parameters, function, description, result, arguments)
        }
        _ => {
            let function = Percentiles::<Int64Type>::new(percents, arrow);
            sketch_udaf(name, parameters, function, description, result, arguments)
        }
    }
}

fn pick(row: &Expr, index: usize) -> Expr {
    get_field(row.clone(), field_name(index))
}

fn bind_columns(
    call: &AggregateCall<'_>,
    first: usize,
) -> Result<Vec<AggregateColumn>, Diagnostic> {
    let percents = percents(call, first)?;
    let row = sketch(call, &percents, first == 2)?;
    let kind = call.arg(0)?.kind;
    let of = call.name(0).unwrap_or("");
    let columns = percents.iter().enumerate().map(|(index, percent)| {
        let percent = percent.to_string().replace('.', "_");
        AggregateColumn {
            name: Some(format!("percentile_{of}_{percent}")),
            expr: never_null_text(pick(&row, index), kind),
            kind,
        }
    });
    Ok(columns.collect())
}

fn bind_array(call: &AggregateCall<'_>, first: usize) -> Result<Vec<AggregateColumn>, Diagnostic> {
    let percents = percents(call, first)?;
    let row = sketch(call, &percents, first == 2)?;
    let kind = call.arg(0)?.kind;
    let values = (0..percents.len()).map(|index| pick(&row, index));
    call.column(kernel_call(
        &ARRAY,
        values.collect(),
        vec![kind; percents.len()],
        ScalarType::Dynamic,
    ))
}

pub(super) static ARRAY: InnerKernel =
    InnerKernel::new("percentiles_array", pack_array_unless_all_null);
