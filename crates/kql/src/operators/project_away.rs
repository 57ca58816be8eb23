//! `project-away`: all columns except the listed ones (`docs/semantics.md §15.3`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::ProjectAwayOperator;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan::{self, columns_matching, pass, visible};
use crate::relation::Relation;

impl TabularOperator for ProjectAwayOperator {
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
    node: &ProjectAwayOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut away = Vec::new();
    for expr in &node.columns {
        away.extend(columns_matching(expr, &input, binder)?);
    }
    let columns = visible(&input)
        .filter(|c| !away.contains(c))
        .map(pass)
        .collect();
    plan::project(input, columns, span)
}
