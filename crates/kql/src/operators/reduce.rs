//! `reduce`: its patterns come from a clustering that cannot be reproduced exactly, so it is refused
//! (`semantics.md §21`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::ReduceOperator;

use crate::bind::{BindResult, Binder};
use crate::relation::Relation;

pub(crate) fn bind(
    _node: &ReduceOperator,
    _input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    Err(binder.unsupported("The operator 'reduce'", span))
}
