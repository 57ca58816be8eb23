//! `consume`: nothing comes out (`semantics.md §15.11`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::ConsumeOperator;

use crate::bind::{BindResult, Binder};
use crate::plan;
use crate::relation::Relation;

pub(crate) fn bind(
    _node: &ConsumeOperator,
    input: Relation,
    _binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    Relation {
        columns: Vec::new(),
        ..plan::limit(input, 0)
    }
    .finish(span)
}
