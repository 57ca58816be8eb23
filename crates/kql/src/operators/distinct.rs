//! `distinct`: the distinct combinations of values (`docs/semantics.md §15.8`).

use std::sync::Arc;

use datafusion::logical_expr::{Distinct, LogicalPlan};
use hindsight_kql_syntax::ast::DistinctOperator;
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound, NamingMode};
use crate::error::BindResult;
use crate::plan;
use crate::real_key::as_key;
use crate::relation::Relation;
use crate::window;

impl TabularOperator for DistinctOperator {
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
    node: &DistinctOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let bound = binder.bind_projection(&node.columns, &input, NamingMode::Distinct)?;
    if let Some(column) = bound.iter().find(|c| c.scalar.kind == ScalarType::Dynamic) {
        return Err(binder.error(
            Code::Semantics,
            format!(
                "the column '{}' is of type dynamic, which cannot be a key",
                column.name
            ),
            span,
        ));
    }
    let input = window::absorb(binder, input, span)?;
    let columns = bound
        .into_iter()
        .map(|c| {
            let key = as_key(c.scalar.expr, c.scalar.kind);
            (c.name, c.scalar.kind, key)
        })
        .collect();
    let projected = plan::project(input, columns, span)?;
    Ok(distinct(projected))
}

/// The distinct rows of all fields.
pub(crate) fn distinct(input: Relation) -> Relation {
    Relation {
        plan: LogicalPlan::Distinct(Distinct::All(Arc::new(input.plan))),
        columns: input.columns,
        serialized: false,
    }
}
