//! `sample`: any rows (`semantics.md §21`). Which ones is not promised, so the first that come will do.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::SampleOperator;

use super::take::row_count;
use crate::bind::{BindResult, Binder};
use crate::plan::group_limit::limit_groups;
use crate::relation::Relation;

pub(crate) fn bind(
    node: &SampleOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    let count = row_count(binder.constant_long(&node.count)?);
    let input = Relation {
        serialized: false,
        ..input
    };
    limit_groups(input, count, span)
}
