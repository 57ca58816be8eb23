//! `where`: the rows of which the predicate is true (`semantics.md §15.2`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::WhereOperator;

use crate::bind::{BindResult, Binder};
use crate::relation::Relation;
use crate::subtables::placeholders::or_stands_in;
use crate::window;

pub(crate) fn bind(
    node: &WhereOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    let predicate = binder.bind_predicate(&node.predicate, &input)?;
    let predicate = or_stands_in(predicate, &input);
    window::absorb(binder, input, span)?.filter(predicate, span)
}
