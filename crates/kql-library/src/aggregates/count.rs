//! `count`, its legacy spelling `cnt`, and `countif`: the number of rows, nulls included.

use datafusion::functions_aggregate::expr_fn::count as count_values;
use datafusion::logical_expr::lit;
use hindsight_kql_syntax::Diagnostic;

use super::build::filtered;
use super::{AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
use crate::definition::example;

pub(crate) static LIST: &[&AggregateFunction] = &[&CNT, &COUNT, &COUNTIF];

static CNT: AggregateFunction = AggregateFunction {
    signatures: &["cnt() -> long"],
    aliases: &[],
    summary: "The legacy spelling of `count()`; its column is named `cnt_`.",
    result_name: AggregateName::Prefixed("cnt"),
    star: false,
    examples: &[example(
        "datatable(city:string)['Oslo', 'Bergen', 'Oslo'] | summarize cnt() by city | sort by city asc",
        "city:string, cnt_:long\nBergen | 1\nOslo | 2",
    )],
    bind: |call| bind(call, false),
};

static COUNT: AggregateFunction = AggregateFunction {
    signatures: &["count() -> long", "count(expr: any) -> long"],
    aliases: &[],
    summary: "Counts the rows; with an argument, rows where it is null are counted too.",
    result_name: AggregateName::Prefixed("count"),
    star: false,
    examples: &[
        example(
            "datatable(city:string)['Oslo', 'Bergen', 'Oslo'] | summarize count() by city | sort by city asc",
            "city:string, count_:long\nBergen | 1\nOslo | 2",
        ),
        example(
            "datatable(n:long)[1, long(null)] | summarize count(n)",
            "count_n:long\n2",
        ),
    ],
    bind: |call| bind(call, false),
};

static COUNTIF: AggregateFunction = AggregateFunction {
    signatures: &["countif(predicate: bool) -> long"],
    aliases: &[],
    summary: "Counts the rows where the predicate is true.",
    result_name: AggregateName::Prefixed("countif"),
    star: false,
    examples: &[example(
        "datatable(ms:long)[5, 50, 500, long(null)] | summarize countif(ms > 10)",
        "countif_:long\n2",
    )],
    bind: |call| bind(call, true),
};

fn bind(call: &AggregateCall<'_>, conditional: bool) -> Result<Vec<AggregateColumn>, Diagnostic> {
    let predicate = conditional.then(|| call.expr(0)).transpose()?;
    call.column(filtered(count_values(lit(1_i64)), predicate, call.span)?)
}
