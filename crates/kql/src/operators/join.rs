//! `join` (`docs/semantics.md §17.1`).

use datafusion::logical_expr::JoinType;
use hindsight_kql_syntax::ast::{Expr, JoinOperator};
use hindsight_kql_syntax::{Code, Span};

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan::join::{RightColumns, join_plan};
use crate::plan::join_keys::{JoinKey, join_keys, subtable_keys};
use crate::plan::{self, parameter};
use crate::relation::Relation;
use crate::subtables::placeholders::without_placeholders;

impl TabularOperator for JoinOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Joins {
                kind: parameter(&self.parameters, &["kind"]),
                default: "innerunique",
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
    node: &JoinOperator,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let (kind, unique) = kind(parameter(&node.parameters, &["kind"]), binder)?;
    if !matches!(
        kind,
        JoinType::Inner | JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti
    ) {
        // Rows of the right side alone would belong to no subtable.
        plan::refuse_groups(&input, binder, span)?;
    }
    let right = bind_right(&node.right, binder)?.finish(span)?;
    let input = input.finish(span)?;
    // The older syntax has the same conditions after `where`.
    let on: Vec<Expr> = node.on.iter().chain(&node.filter).cloned().collect();
    let mut keys = join_keys(&on, &input, &right, binder, span)?;
    keys.extend(subtable_keys(&input, &right, binder, span)?);
    let left = if unique {
        first_rows(input, &keys, span)?
    } else {
        input
    };
    join_plan(left, right, &keys, kind, RightColumns::All, span)
}

/// The rows of the right side.
pub(crate) fn bind_right(right: &Expr, binder: &mut dyn BindContext) -> BindResult<Relation> {
    let frame = binder.frame().outside_operators();
    let rows = binder.within(frame, |binder| binder.bind_tabular(right))?;
    without_placeholders(rows.relation, right.span)
}

/// `innerunique`: the left side is reduced to one row of each key. A later filter on left columns is pushed below this step,
/// so the row is one that passes the filter (`docs/semantics.md §17.1`).
fn first_rows(left: Relation, keys: &[JoinKey], span: Span) -> BindResult<Relation> {
    let left = left.finish(span)?;
    let mut names: Vec<String> = plan::groups(&left).into_iter().map(|c| c.name).collect();
    names.extend(keys.iter().map(|k| k.left.name.clone()));
    crate::plan::group_limit::any_row_by(left, names, span)
}

fn kind(word: Option<&Expr>, binder: &mut dyn BindContext) -> BindResult<(JoinType, bool)> {
    let Some(expr) = word else {
        return Ok((JoinType::Inner, true));
    };
    let word = binder.constant_word(expr)?;
    Ok(match word.as_str() {
        "innerunique" => (JoinType::Inner, true),
        "inner" => (JoinType::Inner, false),
        "leftouter" => (JoinType::Left, false),
        "rightouter" => (JoinType::Right, false),
        "fullouter" => (JoinType::Full, false),
        "leftsemi" => (JoinType::LeftSemi, false),
        "rightsemi" => (JoinType::RightSemi, false),
        "anti" | "leftanti" | "leftantisemi" => (JoinType::LeftAnti, false),
        "rightanti" | "rightantisemi" => (JoinType::RightAnti, false),
        other => {
            return Err(binder.error(
                Code::Semantics,
                format!(
                    "unknown join kind '{other}'; the kinds are innerunique, inner, leftouter, rightouter, fullouter, \
                     leftsemi, rightsemi, leftanti and rightanti"
                ),
                expr.span,
            ));
        }
    })
}
