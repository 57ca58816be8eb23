//! `sample-distinct`: random distinct values of an expression (`docs/semantics.md §21`).

mod values;

use std::sync::Arc;

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
use crate::plan::subtable_keys;
use crate::relation::{Column, Relation};
use crate::window;
use values::SampleDistinct;

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
    let keys = subtable_keys(&values);
    let sample = SampleDistinct {
        keys: keys.into_iter().map(|column| column.field).collect(),
        count,
        random: binder.random(),
    };
    let columns = values.columns.iter().map(Column::under_its_name).collect();
    plan::transform(Arc::new(sample), values.plan, columns, false, span)
}
