//! `lookup`: a join with a small table that outputs the key columns once (`docs/semantics.md §17.2`).

use datafusion::logical_expr::JoinType;
use hindsight_kql_syntax::ast::LookupOperator;
use hindsight_kql_syntax::{Code, Span};

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use super::join::bind_right;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan::join::{RightColumns, join_plan};
use crate::plan::join_keys::{join_keys, subtable_keys};
use crate::plan::parameter;
use crate::relation::Relation;

impl TabularOperator for LookupOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Joins {
                kind: parameter(&self.parameters, &["kind"]),
                default: "leftouter",
            },
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
    node: &LookupOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let kind = match parameter(&node.parameters, &["kind"]) {
        None => JoinType::Left,
        Some(expr) => match binder.constant_word(expr)?.as_str() {
            "leftouter" => JoinType::Left,
            "inner" => JoinType::Inner,
            other => {
                return Err(binder.error(
                    Code::Semantics,
                    format!("unknown lookup kind '{other}'; the kinds are leftouter and inner"),
                    expr.span,
                ));
            }
        },
    };
    let right = bind_right(&node.right, binder)?.finish(span)?;
    let input = input.finish(span)?;
    let mut keys = join_keys(&node.on, &input, &right, binder, span)?;
    keys.extend(subtable_keys(&input, &right, binder, span)?);
    join_plan(input, right, &keys, kind, RightColumns::WithoutKeys, span)
}
