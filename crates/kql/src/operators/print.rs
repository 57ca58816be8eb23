//! `print`: one row (`docs/semantics.md §15.1`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::PrintOperator;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound, NamingMode};
use crate::error::BindResult;
use crate::relation::Relation;

impl TabularOperator for PrintOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Loses,
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
    node: &PrintOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let columns = binder.bind_projection(&node.columns, &input, NamingMode::Print)?;
    let columns = columns
        .into_iter()
        .map(|c| (c.name, c.scalar.kind, c.scalar.expr))
        .collect();
    input.project(columns, span)
}
