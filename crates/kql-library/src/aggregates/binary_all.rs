//! `binary_all_and`, `binary_all_or`, `binary_all_xor`.

use datafusion::functions_aggregate::expr_fn::{bit_and, bit_or, bit_xor};
use datafusion::logical_expr::Expr;
use hindsight_kql_syntax::Diagnostic;
use hindsight_kql_types::ScalarType;

use super::build::to_kind;
use super::{AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
use crate::definition::example;

pub(crate) static LIST: &[&AggregateFunction] = &[&AND, &OR, &XOR];

static AND: AggregateFunction = AggregateFunction {
    signatures: &["binary_all_and(expr: long) -> long"],
    aliases: &[],
    summary: "The bitwise AND of the values.",
    result_name: AggregateName::Columns,
    star: false,
    examples: &[example(
        "datatable(n:long)[6, 12] | summarize bits = binary_all_and(n)",
        "bits:long\n4",
    )],
    bind: |call| bind(call, bit_and),
};

static OR: AggregateFunction = AggregateFunction {
    signatures: &["binary_all_or(expr: long) -> long"],
    aliases: &[],
    summary: "The bitwise OR of the values.",
    result_name: AggregateName::Columns,
    star: false,
    examples: &[example(
        "datatable(n:long)[6, 12] | summarize bits = binary_all_or(n)",
        "bits:long\n14",
    )],
    bind: |call| bind(call, bit_or),
};

static XOR: AggregateFunction = AggregateFunction {
    signatures: &["binary_all_xor(expr: long) -> long"],
    aliases: &[],
    summary: "The bitwise XOR of the values.",
    result_name: AggregateName::Columns,
    star: false,
    examples: &[example(
        "datatable(n:long)[6, 12] | summarize bits = binary_all_xor(n)",
        "bits:long\n10",
    )],
    bind: |call| bind(call, bit_xor),
};

fn bind(
    call: &AggregateCall<'_>,
    aggregate: fn(Expr) -> Expr,
) -> Result<Vec<AggregateColumn>, Diagnostic> {
    Ok(vec![AggregateColumn {
        name: call.name(0).map(str::to_owned),
        expr: aggregate(to_kind(call.expr(0)?, ScalarType::Long)),
        kind: ScalarType::Long,
    }])
}
