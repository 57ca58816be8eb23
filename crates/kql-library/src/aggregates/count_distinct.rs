//! `count_distinct` and `count_distinctif`. The counts are exact, so memory grows with the number of distinct values.

use datafusion::functions_aggregate::expr_fn::count_distinct;
use datafusion::logical_expr::when;
use hindsight_kql_syntax::{Code, Diagnostic};

use super::{AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
use crate::definition::example;
use crate::real_key::as_key;

pub(crate) static LIST: &[&AggregateFunction] = &[&COUNT_DISTINCT, &COUNT_DISTINCTIF];

static COUNT_DISTINCT: AggregateFunction = AggregateFunction {
    signatures: &["count_distinct(expr: hashable) -> long"],
    aliases: &[],
    summary: "Counts the distinct values exactly; nulls are ignored.",
    result_name: AggregateName::Prefixed("count_distinct"),
    star: false,
    examples: &[example(
        "datatable(n:long)[1, 2, 2, long(null)] | summarize count_distinct(n)",
        "count_distinct_n:long\n2",
    )],
    bind: |call| bind(call, false),
};

static COUNT_DISTINCTIF: AggregateFunction = AggregateFunction {
    signatures: &["count_distinctif(expr: hashable, predicate: bool) -> long"],
    aliases: &[],
    summary: "Counts the distinct values of the rows where the predicate is true, exactly.",
    result_name: AggregateName::Prefixed("count_distinctif"),
    star: false,
    examples: &[example(
        "datatable(n:long)[1, 2, 3, 3] | summarize count_distinctif(n, n > 1)",
        "count_distinctif_n:long\n2",
    )],
    bind: |call| bind(call, true),
};

fn bind(call: &AggregateCall<'_>, conditional: bool) -> Result<Vec<AggregateColumn>, Diagnostic> {
    let value = as_key(call.expr(0)?, call.arg(0)?.kind);
    // DataFusion 55 drops the filter of a distinct count, so the values of filtered rows become null instead.
    let value = if conditional {
        when(call.expr(1)?, value)
            .end()
            .map_err(|e| Diagnostic::new(Code::Semantics, e.to_string(), call.span))?
    } else {
        value
    };
    call.column(count_distinct(value))
}
