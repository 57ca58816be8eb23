//! `as`: a name for the rows so far (`semantics.md §15.11`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::AsOperator;

use crate::bind::{BindResult, Binder, Entry};
use crate::relation::Relation;

pub(crate) fn bind(
    node: &AsOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    _span: Span,
) -> BindResult<Relation> {
    // `hint.materialized` changes no answer, only how often the rows are computed.
    binder.env = binder
        .env
        .with(&node.name.text, Entry::Relation(input.clone()));
    binder.label = Some(node.name.text.clone());
    Ok(input)
}
