//! `make_set` and `make_set_if` (`semantics.md §16.5`).

use super::make_list::{collected, limit_of};
use super::{AggregateFunction, AggregateName};
use crate::functions::example;

pub(crate) static LIST: &[&AggregateFunction] = &[&MAKE_SET, &MAKE_SET_IF];

static MAKE_SET: AggregateFunction = AggregateFunction {
    signatures: &["make_set(expr: any, [max_size: const long]) -> dynamic"],
    aliases: &["makeset"],
    summary: "An array of the distinct values but null; the elements of dynamic arrays are taken one by one.",
    result_name: AggregateName::Prefixed("set"),
    star: false,
    examples: &[example(
        "datatable(s:string)['b', 'a', 'b'] | summarize make_set(s)",
        "set_s:dynamic\n[\"b\",\"a\"]",
    )],
    bind: |call| {
        let limit = limit_of(call, 1)?;
        call.column(collected(call, limit, true, false, None)?)
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
        let limit = limit_of(call, 2)?;
        call.column(collected(call, limit, true, false, Some(call.expr(1)?))?)
    },
};
