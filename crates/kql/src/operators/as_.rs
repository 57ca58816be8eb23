//! `as`: a name for the rows so far (`semantics.md §15.11`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::AsOperator;

use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan::{parameter, repeatable};

impl TabularOperator for AsOperator {
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
    // Volatile rows are then the same in each place that reads them.
    let input = match parameter(&node.parameters, &["hint.materialized"]) {
        Some(once) if binder.constant_bool(once)? => {
            input.map(|rows| repeatable::for_many(rows, binder, span))?
        }
        _ => input,
    };
    Ok(Bound {
        label: Some(node.name.text.clone()),
        defines: Some(node.name.text.clone()),
        ..input
    })
}
