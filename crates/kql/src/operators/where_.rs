//! `where`: the rows of which the predicate is true (`semantics.md §15.2`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::WhereOperator;

use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::relation::Relation;
use crate::subtables::placeholders::or_stands_in;
use crate::window;

impl TabularOperator for WhereOperator {
    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        input.map(|rows| bind(self, rows, binder, span))
    }
}

fn bind(
    node: &WhereOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let predicate = binder.bind_predicate(&node.predicate, &input)?;
    let predicate = or_stands_in(predicate, &input);
    window::absorb(binder, input, span)?.filter(predicate, span)
}
