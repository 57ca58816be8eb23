//! `make_list`, `make_list_if`, `make_list_with_nulls` (`docs/semantics.md §16.5`).

use arrow::datatypes::DataType;
use datafusion::logical_expr::Expr;
use hindsight_kql_syntax::Diagnostic;
use hindsight_kql_types::ScalarType;

use super::build::filtered;
use super::{AggregateCall, AggregateFunction, AggregateName};
use crate::definition::example;
use crate::states::collect::{Collect, MAX_ELEMENTS};
use crate::states::description::{self, Description};
use crate::states::groups::GroupsUdaf;
use crate::states::sketch::sketch_udaf;

pub(crate) static LIST: &[&AggregateFunction] =
    &[&MAKE_LIST, &MAKE_LIST_IF, &MAKE_LIST_WITH_NULLS, &MAKELIST];

/// The default size limit of the legacy names `makelist` and `makeset`.
pub(crate) const LEGACY_LIMIT: usize = 128;

static MAKE_LIST: AggregateFunction = AggregateFunction {
    signatures: &["make_list(expr: any, [max_size: const long]) -> dynamic"],
    aliases: &[],
    summary: "An array of all non-null values; the elements of dynamic arrays are added individually.",
    result_name: AggregateName::Prefixed("list"),
    star: false,
    examples: &[
        example(
            "datatable(n:long)[1, 2, long(null), 1] | summarize make_list(n)",
            "list_n:dynamic\n[1,2,1]",
        ),
        example(
            "datatable(d:dynamic)[dynamic([1, 2]), dynamic([3])] | summarize make_list(d, 2)",
            "list_d:dynamic\n[1,2]",
        ),
    ],
    bind: |call| {
        let limit = limit_of(call, 1, MAX_ELEMENTS)?;
        call.column(collect_call(call, limit, false, false, None)?)
    },
};

static MAKE_LIST_IF: AggregateFunction = AggregateFunction {
    signatures: &["make_list_if(expr: any, predicate: bool, [max_size: const long]) -> dynamic"],
    aliases: &[],
    summary: "An array of the values of the rows where the predicate is true.",
    result_name: AggregateName::Prefixed("list"),
    star: false,
    examples: &[example(
        "datatable(n:long)[1, 2, 3] | summarize make_list_if(n, n != 2)",
        "list_n:dynamic\n[1,3]",
    )],
    bind: |call| {
        let limit = limit_of(call, 2, MAX_ELEMENTS)?;
        call.column(collect_call(
            call,
            limit,
            false,
            false,
            Some(call.expr(1)?),
        )?)
    },
};

static MAKE_LIST_WITH_NULLS: AggregateFunction = AggregateFunction {
    signatures: &["make_list_with_nulls(expr: any) -> dynamic"],
    aliases: &[],
    summary: "An array of all values, including nulls.",
    result_name: AggregateName::Prefixed("list"),
    star: false,
    examples: &[example(
        "datatable(n:long)[1, long(null)] | summarize make_list_with_nulls(n)",
        "list_n:dynamic\n[1,null]",
    )],
    bind: |call| call.column(collect_call(call, MAX_ELEMENTS, false, true, None)?),
};

static MAKELIST: AggregateFunction = AggregateFunction {
    signatures: &["makelist(expr: any, [max_size: const long]) -> dynamic"],
    aliases: &[],
    summary: "The legacy spelling of `make_list`; its default size limit is 128 values.",
    result_name: AggregateName::Prefixed("list"),
    star: false,
    examples: &[example(
        "range n from 1 to 200 step 1 | summarize makelist(n) | project size = array_length(list_n)",
        "size:long\n128",
    )],
    bind: |call| {
        let limit = limit_of(call, 1, LEGACY_LIMIT)?;
        call.column(collect_call(call, limit, false, false, None)?)
    },
};

/// The size limit in argument `index`, or `default` if it is absent.
pub(crate) fn limit_of(
    call: &AggregateCall<'_>,
    index: usize,
    default: usize,
) -> Result<usize, Diagnostic> {
    let limit = call.constant_long(index)?;
    Ok(limit.map_or(default, |limit| {
        usize::try_from(limit).map_or(0, |limit| limit.min(MAX_ELEMENTS))
    }))
}

/// The list or set of the first argument's values.
pub(crate) fn collect_call(
    call: &AggregateCall<'_>,
    limit: usize,
    distinct: bool,
    nulls: bool,
    predicate: Option<Expr>,
) -> Result<Expr, Diagnostic> {
    let argument = call.arg(0)?;
    let list = collected(argument.kind, limit, distinct, nulls).call(vec![argument.expr.clone()]);
    filtered(list, predicate, call.span)
}

/// The list, or with `distinct` the set, of values of a type.
pub(super) fn collected(kind: ScalarType, limit: usize, distinct: bool, nulls: bool) -> GroupsUdaf {
    let description = Description::Collect(description::Collect {
        kind: kind.to_string(),
        limit: limit as u64,
        distinct,
        nulls,
    });
    let function = Collect {
        kind,
        limit,
        distinct,
        nulls,
    };
    let parameters = format!("{kind};{limit};{nulls}");
    let name = if distinct { "make_set" } else { "make_list" };
    sketch_udaf(
        name,
        parameters,
        function,
        description,
        DataType::BinaryView,
        1,
    )
}
