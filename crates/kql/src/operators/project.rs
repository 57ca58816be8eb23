//! `project`: the listed columns, in that order (`docs/semantics.md §15.3`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::ProjectOperator;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound, NamingMode};
use crate::error::BindResult;
use crate::plan;
use crate::relation::Relation;
use crate::window;

impl TabularOperator for ProjectOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Keeps,
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: false,
            names_rows: false,
            adds_rows: false,
            keeps_columns: false,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        input.map(|rows| bind(self, rows, binder, span))
    }
}

fn bind(
    node: &ProjectOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let columns = binder.bind_projection(&node.columns, &input, NamingMode::Project)?;
    let input = window::absorb(binder, input, span)?;
    let columns = columns
        .into_iter()
        .map(|c| (c.name, c.scalar.kind, c.scalar.expr))
        .collect();
    plan::project(input, columns, span)
}
