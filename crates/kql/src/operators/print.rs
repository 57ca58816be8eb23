//! `print`: one row (`semantics.md §15.1`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::PrintOperator;

use crate::bind::{BindResult, Binder, NamingMode};
use crate::relation::Relation;

pub(crate) fn bind(
    node: &PrintOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    let columns = binder.bind_projection(&node.columns, &input, NamingMode::Print)?;
    let columns = columns
        .into_iter()
        .map(|c| (c.name, c.scalar.kind, c.scalar.expr))
        .collect();
    input.project(columns, span)
}
