//! `sample`: random rows (`docs/semantics.md §21`).

mod kept;
mod rows;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::SampleOperator;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use super::take::row_count;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan::{subtable_keys, transform};
use crate::relation::{Column, Relation};
use rows::Sample;

impl TabularOperator for SampleOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::KeepsAloneAtMost(&self.count),
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: false,
            names_rows: false,
            adds_rows: false,
            keeps_columns: true,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        input.map(|rows| bind(self, rows, binder, span))
    }
}

/// At most `count` random rows; inside `mv-apply` and `partition`, of each subtable.
fn bind(
    node: &SampleOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let count = row_count(binder.constant_long(&node.count)?);
    let input = input.finish(span)?;
    let keys = subtable_keys(&input);
    let sample = Sample {
        keys: keys.into_iter().map(|column| column.field).collect(),
        count,
        random: binder.random(),
    };
    let columns = input.columns.iter().map(Column::under_its_name).collect();
    transform(Arc::new(sample), input.plan, columns, false, span)
}
