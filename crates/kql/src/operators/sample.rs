//! `sample`: arbitrary rows (`docs/semantics.md §21`). The choice is unspecified, so the operator returns the first rows.

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
use crate::plan::group_limit::limit_groups;
use crate::relation::Relation;

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

fn bind(
    node: &SampleOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let count = row_count(binder.constant_long(&node.count)?);
    let input = Relation {
        serialized: false,
        ..input
    };
    limit_groups(input, count, span)
}
