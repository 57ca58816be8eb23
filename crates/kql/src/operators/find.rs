//! `find`: not there yet, refused by name.

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::FindOperator;

use crate::bind::{BindResult, Binder};
use crate::relation::Relation;

pub(crate) fn bind(
    _node: &FindOperator,
    _input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    Err(binder.unsupported("The operator 'find'", span))
}
