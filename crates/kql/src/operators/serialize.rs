//! `serialize`: marks the rows as ordered for the following operators (`docs/semantics.md §22.1`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::SerializeOperator;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use super::extend::extend;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::relation::Relation;

impl TabularOperator for SerializeOperator {
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
    node: &SerializeOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let input = Relation {
        serialized: true,
        ..input
    };
    if node.columns.is_empty() {
        Ok(input)
    } else {
        extend(&node.columns, input, binder, span)
    }
}
