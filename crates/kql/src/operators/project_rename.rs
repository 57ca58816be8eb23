//! `project-rename`: renames columns in place (`docs/semantics.md §15.3`).

use hindsight_kql_syntax::ast::ProjectRenameOperator;
use hindsight_kql_syntax::{Code, Span};

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan::{self, Output, column_named, pass};
use crate::relation::Relation;

impl TabularOperator for ProjectRenameOperator {
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
    node: &ProjectRenameOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut columns: Vec<Output> = input.columns.iter().map(pass).collect();
    for item in &node.columns {
        let old = column_named(&item.expr, &input, binder)?;
        let Some(new) = item.names.first() else {
            continue;
        };
        let index = input.columns.iter().position(|c| c.name == old.name);
        if let Some(column) = index.and_then(|i| columns.get_mut(i)) {
            column.name.clone_from(&new.text);
        }
    }
    for (index, Output { name, .. }) in columns.iter().enumerate() {
        if columns.iter().take(index).any(|c| c.name == *name) {
            return Err(binder.error(
                Code::DuplicateColumn,
                format!("duplicate column name '{name}'"),
                span,
            ));
        }
    }
    plan::project(input, columns, span)
}
