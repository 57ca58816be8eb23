//! `sample-distinct`: some distinct values of an expression, the first ones in the input (`docs/semantics.md §21`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::SampleDistinctOperator;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use super::summarize;
use super::take::row_count;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan;
use crate::plan::group_limit::{limit_by, limit_groups};
use crate::relation::Relation;
use crate::window;

impl TabularOperator for SampleDistinctOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::KeepsAloneAtMost(&self.count),
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
    node: &SampleDistinctOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let count = row_count(binder.constant_long(&node.count)?);
    let bound = summarize::bind_keys(std::slice::from_ref(&node.of), &input, binder, span)?;
    let input = window::absorb(binder, input, span)?;
    let columns = bound
        .into_iter()
        .map(|c| (c.name, c.scalar.kind, c.scalar.expr))
        .collect();
    let values = plan::project(input, columns, span)?.finish(span)?;
    let keys = values.columns.iter().map(|c| c.name.clone()).collect();
    let first = Relation {
        serialized: false,
        ..limit_by(values, keys, 1, span)?
    };
    limit_groups(first, count, span)
}
