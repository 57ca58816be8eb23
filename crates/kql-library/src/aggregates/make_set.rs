//! `make_set` and `make_set_if` (`docs/semantics.md §16.5`).

use super::make_list::{LEGACY_LIMIT, collect_call, limit_of};
use super::{AggregateFunction, AggregateName};
use crate::definition::example;
use crate::states::collect::MAX_ELEMENTS;

pub(crate) static LIST: &[&AggregateFunction] = &[&MAKE_SET, &MAKE_SET_IF, &MAKESET];

static MAKE_SET: AggregateFunction = AggregateFunction {
    signatures: &["make_set(expr: any, [max_size: const long]) -> dynamic"],
    aliases: &[],
    summary: "An array of the distinct non-null values; the elements of dynamic arrays are added individually.",
    result_name: AggregateName::Prefixed("set"),
    star: false,
    examples: &[example(
        "datatable(s:string)['b', 'a', 'b'] | summarize make_set(s)",
        "set_s:dynamic\n[\"b\",\"a\"]",
    )],
    bind: |call| {
        let limit = limit_of(call, 1, MAX_ELEMENTS)?;
        call.column(collect_call(call, limit, true, false, None)?)
    },
};

static MAKE_SET_IF: AggregateFunction = AggregateFunction {
    signatures: &["make_set_if(expr: any, predicate: bool, [max_size: const long]) -> dynamic"],
    aliases: &[],
    summary: "An array of the distinct values of the rows where the predicate is true.",
    result_name: AggregateName::Prefixed("set"),
    star: false,
    examples: &[example(
        "datatable(n:long)[1, 2, 1, 3] | summarize make_set_if(n, n < 3)",
        "set_n:dynamic\n[1,2]",
    )],
    bind: |call| {
        let limit = limit_of(call, 2, MAX_ELEMENTS)?;
        call.column(collect_call(call, limit, true, false, Some(call.expr(1)?))?)
    },
};

static MAKESET: AggregateFunction = AggregateFunction {
    signatures: &["makeset(expr: any, [max_size: const long]) -> dynamic"],
    aliases: &[],
    summary: "The legacy spelling of `make_set`; its default size limit is 128 values.",
    result_name: AggregateName::Prefixed("set"),
    star: false,
    examples: &[example(
        "range n from 1 to 200 step 1 | summarize makeset(n) | project size = array_length(set_n)",
        "size:long\n128",
    )],
    bind: |call| {
        let limit = limit_of(call, 1, LEGACY_LIMIT)?;
        call.column(collect_call(call, limit, true, false, None)?)
    },
};
