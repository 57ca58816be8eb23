//! `invoke`: the rows so far as the first argument of a function (`semantics.md §15.11`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::InvokeOperator;

use crate::bind::{BindResult, Binder, Entry};
use crate::plan;
use crate::relation::Relation;

pub(crate) fn bind(
    node: &InvokeOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    plan::refuse_groups(&input, binder, span)?;
    let name = &node.call.function;
    let found = match binder.env.find(&name.text) {
        Some((Entry::Function(function), seen)) => Some((function.clone(), seen.clone())),
        _ => None,
    };
    match found {
        Some((function, seen)) => {
            binder.call_tabular_function(&node.call, &function, seen, Some(input), span)
        }
        None => Err(binder.error(
            "SEM0260",
            format!("Unknown function: '{}'.", name.text),
            name.span(),
        )),
    }
}
