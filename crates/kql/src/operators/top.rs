//! `top`: the first rows by one sort key (`docs/semantics.md §15.6`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::TopOperator;

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use super::sort;
use super::take::row_count;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan;
use crate::plan::group_limit::limit_groups;
use crate::relation::Relation;
use crate::window;

impl TabularOperator for TopOperator {
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
    node: &TopOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let count = row_count(binder.constant_long(&node.count)?);
    let keys = sort::bind_key(&node.by, &input, binder)?;
    let input = window::absorb(binder, input, span)?;
    if !plan::groups(&input).is_empty() {
        return limit_groups(sort::sorted(input, keys, None), count, span);
    }
    Ok(match count {
        0 => Relation {
            serialized: true,
            ..plan::limit(input, 0)
        },
        count => sort::sorted(input, keys, Some(count)),
    })
}
