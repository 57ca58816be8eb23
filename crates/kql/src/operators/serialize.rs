//! `serialize`: the order of rows counts from here on (`semantics.md §22.1`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::SerializeOperator;

use super::extend::extend;
use crate::bind::{BindResult, Binder};
use crate::relation::Relation;

pub(crate) fn bind(
    node: &SerializeOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    let input = Relation {
        serialized: true,
        ..input
    };
    match node.columns.is_empty() {
        true => Ok(input),
        false => extend(&node.columns, input, binder, span),
    }
}
