//! `fork`: a result for each branch over the same input (`semantics.md §23.2`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{ForkOperator, Operator};

use crate::bind::{BindResult, Binder};
use crate::plan;
use crate::plan::repeatable::{for_many, reads_again};
use crate::relation::Relation;
use crate::subtables::placeholders::{self, Begins};

pub(crate) fn bind(
    node: &ForkOperator,
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    plan::refuse_groups(&input, binder, span)?;
    let input = for_many(input, binder, span)?;
    let mut last = None;
    for branch in &node.branches {
        let name = branch.name.as_ref().map(|n| n.text.clone());
        if let Some((name, relation)) = last.take() {
            binder.add_result(name, relation, None, span)?;
        }
        let (relation, label) = run(&branch.operators, input.clone(), binder)?;
        last = Some((name.or(label), relation));
    }
    // The last branch is the pipeline's own result, so that results stand in the order of the text.
    let Some((name, relation)) = last else {
        return Ok(input);
    };
    binder.label = name;
    Ok(relation)
}

/// A pipeline of operators over rows that are bound already, and the name that its `as` gave.
pub(crate) fn run(
    operators: &[Operator],
    input: Relation,
    binder: &mut Binder<'_>,
) -> BindResult<(Relation, Option<String>)> {
    let env = binder.env.clone();
    let label = binder.label.take();
    let result = placeholders::bind(operators, input, Begins::Whole, binder);
    binder.env = env;
    let inner = std::mem::replace(&mut binder.label, label);
    result.map(|relation| (relation, inner))
}

/// A pipeline over rows whose hidden columns tell subtables apart: it runs for each of them.
pub(crate) fn run_in_subtables(
    operators: &[Operator],
    input: Relation,
    binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    // Their rows are told apart by numbers, which another run would give to others.
    let input = match reads_again(operators) {
        true => for_many(input, binder, span)?,
        false => input,
    };
    let keys = plan::groups(&input).iter().map(plan::pass).collect();
    let subtables = super::distinct::distinct(input.clone().project(keys, span)?);
    let before = binder.subtables.replace(subtables);
    let result = run(operators, input, binder);
    binder.subtables = before;
    Ok(result?.0)
}
