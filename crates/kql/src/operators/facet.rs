//! `facet`: one result for each column with its values and their counts (`docs/semantics.md §23.3`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Call, Expr, ExprKind, FacetOperator, Name, NamedExpr};

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use super::summarize;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan::{self, determinism};
use crate::subtables::pipeline;

impl TabularOperator for FacetOperator {
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
    node: &FacetOperator,
    input: Bound,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Bound> {
    plan::refuse_groups(&input.relation, binder, span)?;
    let mut bound =
        input.map(|rows| determinism::materialize_if_non_deterministic(rows, binder, span))?;
    let input = bound.relation.clone();
    let mut results = Vec::new();
    for column in &node.columns {
        let name = plan::column_named(column, &input, binder)?.name.clone();
        let call = Call {
            function: Name::new("count", span),
            arguments: vec![],
        };
        let count = NamedExpr {
            names: vec![Name::new(format!("count_{name}"), span)],
            tuple: false,
            expr: Expr::new(ExprKind::Call(call), span),
        };
        let key = NamedExpr {
            names: vec![],
            tuple: false,
            expr: column.clone(),
        };
        results.push(summarize::summarize(
            &[count],
            &[key],
            input.clone(),
            binder,
            span,
        )?);
    }
    if let Some(with) = &node.with {
        let rows = Bound {
            render: bound.render.take(),
            ..input.into()
        };
        let rows = pipeline::run(with, rows, binder)?;
        bound.render = rows.render;
        bound.extra_results.extend(rows.extra_results);
        results.push(rows.relation);
    }
    // The last result is that of the pipeline itself, so that results keep the order of the query text.
    let Some(last) = results.pop() else {
        return Ok(bound);
    };
    for relation in results {
        let result = binder.result(None, relation, span)?;
        bound.extra_results.push(result);
    }
    Ok(Bound {
        relation: last,
        ..bound
    })
}
