//! `where`: the rows for which the predicate is true (`docs/semantics.md §15.2`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::WhereOperator;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::relation::Relation;
use crate::subtables::placeholders::or_placeholder;
use crate::window;

impl TabularOperator for WhereOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Drops,
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: false,
            names_rows: false,
            adds_rows: false,
            keeps_columns: true,
        }
    }

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
    let predicate = or_placeholder(predicate, &input);
    window::absorb(binder, input, span)?.filter(predicate, span)
}
