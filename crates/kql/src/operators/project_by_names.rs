//! `project-by-names`: the columns that names, patterns and arrays of them select (`docs/semantics.md §15.3`).

use hindsight_kql_syntax::ast::ProjectByNamesOperator;
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{DynamicRef, Value};

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound, wildcard_matches};
use crate::error::BindResult;
use crate::plan::{self, pass, visible};
use crate::relation::{Column, Relation};

impl TabularOperator for ProjectByNamesOperator {
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
    node: &ProjectByNamesOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut patterns = Vec::new();
    for expr in &node.names {
        match binder.bind_constant(expr)? {
            Value::String(text) => patterns.push(text),
            Value::Dynamic(bytes) => patterns.extend(
                DynamicRef::new(&bytes)
                    .iter_array()
                    .filter_map(|e| e.as_str().map(str::to_owned)),
            ),
            other => {
                return Err(binder.error(
                    Code::Semantics,
                    format!("a column name must be a string and is {}", other.kind()),
                    expr.span,
                ));
            }
        }
    }
    let mut selected: Vec<Column> = Vec::new();
    for pattern in &patterns {
        for column in visible(&input).filter(|c| wildcard_matches(pattern, &c.name)) {
            if !selected.contains(column) {
                selected.push(column.clone());
            }
        }
    }
    let columns = selected.iter().map(pass).collect();
    plan::project(input, columns, span)
}
