//! `assert-schema`: passes the rows through if their columns match the written schema (`docs/semantics.md §15.11`).

use hindsight_kql_syntax::ast::AssertSchemaOperator;
use hindsight_kql_syntax::{Code, Span};

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan::visible;
use crate::relation::Relation;

impl TabularOperator for AssertSchemaOperator {
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
    node: &AssertSchemaOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let written = node.columns.iter().map(|c| (c.name.text.as_str(), c.kind));
    let actual = visible(&input).map(|c| (c.name.as_str(), c.kind));
    if written.eq(actual) {
        return Ok(input);
    }
    let columns: Vec<String> = visible(&input)
        .map(|c| format!("{}:{}", c.name, c.kind))
        .collect();
    Err(binder.error(
        Code::Semantics,
        format!(
            "the schema of the input differs from the asserted one; it is ({})",
            columns.join(", ")
        ),
        span,
    ))
}
