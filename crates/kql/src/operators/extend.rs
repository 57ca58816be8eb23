//! `extend`: appends columns, or replaces existing ones in place (`docs/semantics.md §15.4`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{ExtendOperator, NamedExpr};

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound, NamingMode};
use crate::error::BindResult;
use crate::plan::{self, Output, pass};
use crate::relation::Relation;
use crate::window;

impl TabularOperator for ExtendOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Keeps,
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
    node: &ExtendOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    extend(&node.columns, input, binder, span)
}

/// The columns of `input`, with those of `items` in place of columns of the same name or at the end. All items read `input`.
pub(crate) fn extend(
    items: &[NamedExpr],
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let bound = binder.bind_projection(items, &input, NamingMode::Extend)?;
    let input = window::absorb(binder, input, span)?;
    let new = bound
        .into_iter()
        .map(|c| Output::visible(c.name, c.scalar.kind, c.scalar.expr))
        .collect();
    add_columns(input, new, span)
}

/// The columns of `input`, with the `new` ones in place of columns of the same name or at the end.
pub(crate) fn add_columns(input: Relation, new: Vec<Output>, span: Span) -> BindResult<Relation> {
    let mut columns: Vec<Output> = input.columns.iter().map(pass).collect();
    for column in new {
        match columns.iter_mut().find(|c| c.name == column.name) {
            Some(place) => *place = column,
            None => columns.push(column),
        }
    }
    plan::project(input, columns, span)
}
