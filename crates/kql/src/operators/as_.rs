//! `as`: names the rows of the pipeline so far (`docs/semantics.md §15.11`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::AsOperator;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan::{determinism, parameter};

impl TabularOperator for AsOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Keeps,
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: true,
            names_rows: true,
            adds_rows: false,
            keeps_columns: true,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        bind(self, input, binder, span)
    }
}

fn bind(
    node: &AsOperator,
    input: Bound,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Bound> {
    // Each reader of the name then reads the same volatile rows.
    let input = match parameter(&node.parameters, &["hint.materialized"]) {
        Some(once) if binder.constant_bool(once)? => {
            input.map(|rows| determinism::materialize_if_non_deterministic(rows, binder, span))?
        }
        _ => input,
    };
    Ok(Bound {
        label: Some(node.name.text.clone()),
        defines: Some(node.name.text.clone()),
        ..input
    })
}
