//! `invoke`: passes the rows of the pipeline as the first argument of a function (`docs/semantics.md §15.11`).

use hindsight_kql_syntax::ast::InvokeOperator;
use hindsight_kql_syntax::{Code, Span};
use std::sync::Arc;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound, Entry, unknown_function};
use crate::error::BindResult;
use crate::plan;

impl TabularOperator for InvokeOperator {
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
        bind(self, input, binder, span)
    }
}

fn bind(
    node: &InvokeOperator,
    input: Bound,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Bound> {
    plan::refuse_groups(&input.relation, binder, span)?;
    let name = &node.call.function;
    let found = match binder.frame().names.find(&name.text) {
        Some((Entry::Function(function), seen)) => Some((Arc::clone(function), seen.clone())),
        _ => None,
    };
    let Some((function, seen)) = found else {
        let is_function = |entry: &Entry| matches!(entry, Entry::Function(_));
        let functions = binder.frame().names.names(is_function);
        let message = unknown_function(&name.text, functions.iter().map(String::as_str));
        return Err(binder.error(Code::UnknownFunction, message, name.span()));
    };
    let rows = input.relation.clone();
    let result = binder.call_tabular_function(&node.call, &function, seen, rows, span)?;
    Ok(result.behind(input))
}
