//! `count`: one row with the number of rows (`semantics.md §15.9`).

use datafusion::functions_aggregate::count::count_udaf;
use datafusion::logical_expr::lit;
use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::CountOperator;
use hindsight_kql_types::ScalarType;

use super::stand_in::{keys_of_aggregation, without_stand_ins};
use super::support;
use crate::bind::{BindResult, Binder, plan_error};
use crate::relation::Relation;

pub(crate) fn bind(
    node: &CountOperator,
    input: Relation,
    _binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    let name = node.name.as_ref().map_or("Count", |n| n.text.as_str());
    let keys = keys_of_aggregation(&input);
    let count = without_stand_ins(count_udaf().call(vec![lit(1_i64)]), &input)
        .map_err(|e| plan_error(e, span))?;
    support::aggregate(
        input,
        keys,
        vec![(name.to_owned(), ScalarType::Long, count)],
        span,
    )
}
