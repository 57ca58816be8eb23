//! `top`: the first rows in the order of one key (`semantics.md §15.6`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::TopOperator;

use super::group_limit::limit_groups;
use super::take::row_count;
use super::{sort, support, window};
use crate::bind::{BindResult, Binder};
use crate::relation::Relation;

pub(crate) fn bind(
    node: &TopOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    let count = row_count(binder.constant_long(&node.count)?);
    let keys = sort::bind_key(&node.by, &input, binder)?;
    let input = window::absorb(binder, input, span)?;
    if !support::groups(&input).is_empty() {
        return limit_groups(sort::sorted(input, keys, None), count, span);
    }
    Ok(match count {
        0 => Relation {
            serialized: true,
            ..support::limit(input, 0)
        },
        count => sort::sorted(input, keys, Some(count)),
    })
}
