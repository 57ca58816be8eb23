//! `dcount` and `dcountif`: the estimated number of distinct values (`docs/semantics.md §16.3`).

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::logical_expr::AggregateUDF;
use hindsight_kql_syntax::{Code, Diagnostic};

use super::build::filtered;
use super::{AggregateCall, AggregateColumn, AggregateFunction, AggregateName};
use crate::definition::example;
use crate::real_key::as_key;
use crate::states::description::Description;
use crate::states::groups::{GroupsUdaf, name_of};
use crate::states::hyperloglog::{DistinctCount, DistinctGroups, index_bits};

pub(crate) static LIST: &[&AggregateFunction] = &[&DCOUNT, &DCOUNTIF];

/// The name of its state.
const NAME: &str = "dcount";

/// Whether an aggregate accepts a dictionary (`Dictionary(UInt32, _)`) as its argument in place of the values, which is faster.
pub fn takes_dictionary(function: &AggregateUDF) -> bool {
    name_of(function) == Some(NAME)
}

static DCOUNT: AggregateFunction = AggregateFunction {
    signatures: &["dcount(expr: any, [accuracy: const long]) -> long"],
    aliases: &[],
    summary: "Estimates the number of distinct values, ignoring nulls; small sets are counted exactly. The accuracy \
    is 0 to 4, by default 1.",
    result_name: AggregateName::Prefixed("dcount"),
    star: false,
    examples: &[example(
        "datatable(user:string)['ann', 'bob', 'ann'] | summarize dcount(user)",
        "dcount_user:long\n2",
    )],
    bind: |call| bind(call, None),
};

static DCOUNTIF: AggregateFunction = AggregateFunction {
    signatures: &["dcountif(expr: any, predicate: bool, [accuracy: const long]) -> long"],
    aliases: &[],
    summary: "Estimates the number of distinct values of the rows where the predicate is true.",
    result_name: AggregateName::Prefixed("dcountif"),
    star: false,
    examples: &[example(
        "datatable(user:string, ok:bool)['ann', true, 'bob', false] | summarize dcountif(user, ok)",
        "dcountif_user:long\n1",
    )],
    bind: |call| bind(call, Some(1)),
};

/// The number of index bits for the accuracy in argument `index`.
pub(crate) fn bits_of(call: &AggregateCall<'_>, index: usize) -> Result<u8, Diagnostic> {
    let accuracy = call.constant_long(index)?.unwrap_or(1);
    index_bits(accuracy).ok_or_else(|| {
        Diagnostic::new(
            Code::Semantics,
            format!("the accuracy must be 0, 1, 2, 3 or 4, not {accuracy}"),
            call.span,
        )
    })
}

fn bind(
    call: &AggregateCall<'_>,
    predicate: Option<usize>,
) -> Result<Vec<AggregateColumn>, Diagnostic> {
    let bits = bits_of(call, predicate.map_or(1, |p| p + 1))?;
    let predicate = predicate.map(|index| call.expr(index)).transpose()?;
    let counted = distinct_count(bits).call(vec![as_key(call.expr(0)?, call.arg(0)?.kind)]);
    call.column(filtered(counted, predicate, call.span)?)
}

/// The number of distinct values, with registers of this number of index bits.
pub(super) fn distinct_count(bits: u8) -> GroupsUdaf {
    GroupsUdaf {
        name: NAME,
        parameters: bits.to_string(),
        arguments: 1,
        result: DataType::Int64,
        states: vec![DataType::LargeBinary],
        description: Description::DistinctCount(bits.into()),
        make: Arc::new(move || Box::new(DistinctGroups::new(DistinctCount { bits }))),
    }
}
