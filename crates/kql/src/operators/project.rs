//! `project`: the written columns, in that order (`semantics.md §15.3`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::ProjectOperator;

use super::{support, window};
use crate::bind::{BindResult, Binder, NamingMode};
use crate::relation::Relation;

pub(crate) fn bind(
    node: &ProjectOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    let columns = binder.bind_projection(&node.columns, &input, NamingMode::Project)?;
    let input = window::absorb(binder, input, span)?;
    let columns = columns
        .into_iter()
        .map(|c| (c.name, c.scalar.kind, c.scalar.expr))
        .collect();
    support::project(input, columns, span)
}
