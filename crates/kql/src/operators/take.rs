//! `take`: any rows, at most so many (`semantics.md §15.7`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::TakeOperator;

use crate::bind::{BindResult, Binder};
use crate::plan::group_limit::limit_groups;
use crate::relation::Relation;

pub(crate) fn bind(
    node: &TakeOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    let count = row_count(binder.constant_long(&node.count)?);
    limit_groups(input, count, span)
}

/// A written number of rows: negative is none.
pub(crate) fn row_count(count: i64) -> usize {
    usize::try_from(count.max(0)).unwrap_or(usize::MAX)
}
