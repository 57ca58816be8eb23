//! `as`: a name for the rows so far (`semantics.md §15.11`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::AsOperator;

use crate::bind::{BindResult, Binder, Entry};
use crate::plan::parameter;
use crate::plan::repeatable;
use crate::relation::Relation;

pub(crate) fn bind(
    node: &AsOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    // Rows of chance are then the same in each place that reads them.
    let input = match parameter(&node.parameters, &["hint.materialized"]) {
        Some(once) if binder.constant_bool(once)? => repeatable::for_many(input, binder, span)?,
        _ => input,
    };
    binder.env = binder
        .env
        .with(&node.name.text, Entry::Relation(input.clone()));
    binder.label = Some(node.name.text.clone());
    Ok(input)
}
