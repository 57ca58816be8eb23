//! `make_bag`, its legacy spelling `make_dictionary`, and `make_bag_if`: the first value of each key is kept (`docs/semantics.md §16.5`).

use arrow::datatypes::DataType;
use datafusion::logical_expr::Expr;
use hindsight_kql_syntax::Diagnostic;

use super::build::filtered;
use super::make_list::limit_of;
use super::{AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
use crate::definition::example;
use crate::states::bag::MakeBag;
use crate::states::collect::MAX_ELEMENTS;
use crate::states::description::Description;
use crate::states::groups::GroupsUdaf;
use crate::states::sketch::sketch_udaf;

pub(crate) static LIST: &[&AggregateFunction] = &[&MAKE_BAG, &MAKE_BAG_IF, &MAKE_DICTIONARY];

static MAKE_BAG: AggregateFunction = AggregateFunction {
    signatures: &["make_bag(expr: bag, [max_size: const long]) -> dynamic"],
    aliases: &[],
    summary: "A bag with the properties of all bags; the first value of a key is kept.",
    result_name: AggregateName::Prefixed("bag"),
    star: false,
    examples: &[example(
        "datatable(d:dynamic)[dynamic({'a': 1}), dynamic({'b': 2, 'a': 3})] | summarize make_bag(d)",
        "bag_d:dynamic\n{\"a\":1,\"b\":2}",
    )],
    bind: |call| {
        let limit = limit_of(call, 1, MAX_ELEMENTS)?;
        bind(call, limit, None)
    },
};

static MAKE_BAG_IF: AggregateFunction = AggregateFunction {
    signatures: &["make_bag_if(expr: bag, predicate: bool, [max_size: const long]) -> dynamic"],
    aliases: &[],
    summary: "A bag with the properties of the bags in rows where the predicate is true.",
    result_name: AggregateName::Prefixed("bag"),
    star: false,
    examples: &[example(
        "datatable(d:dynamic, ok:bool)[dynamic({'a': 1}), false, dynamic({'b': 2}), true] | summarize make_bag_if(d, ok)",
        "bag_d:dynamic\n{\"b\":2}",
    )],
    bind: |call| {
        let limit = limit_of(call, 2, MAX_ELEMENTS)?;
        bind(call, limit, Some(call.expr(1)?))
    },
};

static MAKE_DICTIONARY: AggregateFunction = AggregateFunction {
    signatures: &["make_dictionary(expr: bag, [max_size: const long]) -> dynamic"],
    aliases: &[],
    summary: "The legacy spelling of `make_bag`; its column is named `dictionary_x`.",
    result_name: AggregateName::Prefixed("dictionary"),
    star: false,
    examples: &[example(
        "datatable(d:dynamic)[dynamic({'a': 1}), dynamic({'b': 2, 'a': 3})] | summarize make_dictionary(d)",
        "dictionary_d:dynamic\n{\"a\":1,\"b\":2}",
    )],
    bind: |call| {
        let limit = limit_of(call, 1, MAX_ELEMENTS)?;
        bind(call, limit, None)
    },
};

fn bind(
    call: &AggregateCall<'_>,
    limit: usize,
    predicate: Option<Expr>,
) -> Result<Vec<AggregateColumn>, Diagnostic> {
    let bag = bag(limit).call(vec![call.expr(0)?]);
    call.column(filtered(bag, predicate, call.span)?)
}

/// A bag of at most this number of properties.
pub(super) fn bag(limit: usize) -> GroupsUdaf {
    sketch_udaf(
        "make_bag",
        limit.to_string(),
        MakeBag { limit },
        Description::MakeBag(limit as u64),
        DataType::BinaryView,
        1,
    )
}
