//! Pipelines inside an operator (`fork`, `facet`, `mv-apply`, `partition`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::Operator;

use super::placeholders::{self, InitialRows};
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::operators::distinct::distinct;
use crate::operators::rereads_rows;
use crate::plan;
use crate::plan::determinism::materialize_if_non_deterministic;

/// Binds a pipeline of operators over bound rows. Names that the pipeline defines are visible only inside it.
pub(crate) fn run(
    operators: &[Operator],
    input: Bound,
    binder: &mut dyn BindContext,
) -> BindResult<Bound> {
    let frame = binder.frame().clone();
    binder.within(frame, |binder| {
        placeholders::bind(operators, input, InitialRows::Whole, binder)
    })
}

/// Binds a pipeline over rows with subtable keys: it runs for each subtable.
pub(crate) fn run_in_subtables(
    operators: &[Operator],
    input: Bound,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Bound> {
    run_each(operators, input, InitialRows::Whole, binder, span)
}

/// As [`run_in_subtables`], over rows that some subtables may have lost all of.
pub(crate) fn run_in_reduced_subtables(
    operators: &[Operator],
    input: Bound,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Bound> {
    run_each(operators, input, InitialRows::Reduced, binder, span)
}

fn run_each(
    operators: &[Operator],
    input: Bound,
    initial: InitialRows,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Bound> {
    // Row numbers identify the subtables, and another execution would assign other numbers.
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
    let bound = binder.within(frame, |binder| {
        placeholders::bind(operators, input, initial, binder)
    })?;
    Ok(Bound { label, ..bound })
}
