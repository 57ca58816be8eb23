//! Pipelines inside an operator (`fork`, `facet`, `mv-apply`, `partition`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::Operator;

use super::placeholders::{self, Begins};
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::operators::distinct::distinct;
use crate::operators::rereads_rows;
use crate::plan;
use crate::plan::determinism::materialize_if_non_deterministic;

/// A pipeline of operators over rows that are bound already. What it names is visible inside alone.
pub(crate) fn run(
    operators: &[Operator],
    input: Bound,
    binder: &mut dyn BindContext,
) -> BindResult<Bound> {
    let frame = binder.frame().clone();
    binder.within(frame, |binder| {
        placeholders::bind(operators, input, Begins::Whole, binder)
    })
}

/// A pipeline over rows whose hidden columns tell subtables apart: it runs for each of them.
pub(crate) fn run_in_subtables(
    operators: &[Operator],
    input: Bound,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Bound> {
    // Their rows are told apart by numbers, which another run would give to others.
    let input = if rereads_rows(operators) {
        input.map(|rows| materialize_if_non_deterministic(rows, binder, span))?
    } else {
        input
    };
    let keys = plan::groups(&input.relation)
        .iter()
        .map(plan::pass)
        .collect();
    let subtables = distinct(input.relation.clone().project(keys, span)?);
    let frame = binder.frame().in_subtables(subtables);
    let label = input.label.clone();
    let input = Bound {
        label: None,
        ..input
    };
    let bound = binder.within(frame, |binder| run(operators, input, binder))?;
    Ok(Bound { label, ..bound })
}
