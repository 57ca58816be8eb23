//! `take`: arbitrary rows up to a limit (`docs/semantics.md §15.7`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::TakeOperator;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan::group_limit::limit_groups;
use crate::relation::Relation;

impl TabularOperator for TakeOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::KeepsAtMost(&self.count),
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
    node: &TakeOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let count = row_count(binder.constant_long(&node.count)?);
    limit_groups(input, count, span)
}

/// A constant number of rows; a negative number is zero.
pub(crate) fn row_count(count: i64) -> usize {
    usize::try_from(count.max(0)).unwrap_or(usize::MAX)
}
