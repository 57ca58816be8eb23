//! `consume`: reads all rows and returns none (`docs/semantics.md §15.11`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::ConsumeOperator;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan;
use crate::relation::Relation;

impl TabularOperator for ConsumeOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Loses,
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
    _node: &ConsumeOperator,
    input: Relation,
    _binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    Relation {
        columns: Vec::new(),
        ..plan::limit(input, 0)
    }
    .finish(span)
}
