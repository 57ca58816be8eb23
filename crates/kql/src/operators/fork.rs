//! `fork`: one result for each branch over the same input (`docs/semantics.md §23.2`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::ForkOperator;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan::{self, determinism};
use crate::subtables::pipeline;

impl TabularOperator for ForkOperator {
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
    node: &ForkOperator,
    input: Bound,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Bound> {
    plan::refuse_groups(&input.relation, binder, span)?;
    let mut bound =
        input.map(|rows| determinism::materialize_if_non_deterministic(rows, binder, span))?;
    let rows = bound.relation.clone();
    for (index, branch) in node.branches.iter().enumerate() {
        // The last branch is the result of the pipeline itself, so that results keep the order of the query text.
        if index > 0 {
            let result = binder.result(bound.label.take(), bound.relation, span)?;
            bound.extra_results.push(result);
        }
        let begin = Bound {
            relation: rows.clone(),
            label: None,
            ..bound
        };
        let result = pipeline::run(&branch.operators, begin, binder)?;
        let name = branch.name.as_ref().map(|n| n.text.clone());
        bound = Bound {
            label: name.or(result.label),
            ..result
        };
    }
    Ok(bound)
}
