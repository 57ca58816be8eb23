//! The plan of a join: both sides get distinct field names, then the columns get their KQL names.

use std::sync::Arc;

use datafusion::common::NullEquality;
use datafusion::functions::expr_fn::coalesce;
use datafusion::logical_expr::{Join, JoinConstraint, JoinType, LogicalPlan};
use hindsight_kql_syntax::Span;
use hindsight_kql_types::ScalarType;

use crate::error::{BindResult, plan_error};
use crate::plan::join_keys::JoinKey;
use crate::plan::{Output, field, free_name, hidden_name, missing, pass};
use crate::relation::{Column, ColumnRole, Relation};

/// The columns of the right side in the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RightColumns {
    /// All columns including the keys: `join`.
    All,
    /// All columns except the keys: `lookup`.
    WithoutKeys,
}

/// Joins two relations. Null equals null, and NaN equals NaN. The unmatched side of an outer join has nulls, and `""` in
/// string columns.
pub(crate) fn join_plan(
    left: Relation,
    right: Relation,
    keys: &[JoinKey],
    kind: JoinType,
    right_columns: RightColumns,
    span: Span,
) -> BindResult<Relation> {
    let left = left.finish(span)?;
    let right = right.finish(span)?;
    let inner_names: Vec<String> = right
        .columns
        .iter()
        .map(|c| hidden_name(&format!("right.{}", c.name)))
        .collect();
    let inner = |column: &Column| hidden_name(&format!("right.{}", column.name));
    let outputs = outputs(&left, &right, keys, kind, right_columns, &inner_names);
    let renamed: Vec<Output> = right
        .columns
        .iter()
        .map(|c| Output {
            name: inner(c),
            ..pass(c)
        })
        .collect();
    let right = right.project(renamed, span)?;
    let on = keys
        .iter()
        .map(|k| (k.left_expr(), k.right_expr(&inner(&k.right))))
        .collect();
    let join = Join::try_new(
        Arc::new(left.plan),
        Arc::new(right.plan),
        on,
        None,
        kind,
        JoinConstraint::On,
        NullEquality::NullEqualsNull,
        false,
    )
    .map_err(|e| plan_error(e, span))?;
    let joined = Relation {
        plan: LogicalPlan::Join(join),
        columns: Vec::new(),
        serialized: false,
    };
    joined.project(outputs, span)
}

fn outputs(
    left: &Relation,
    right: &Relation,
    keys: &[JoinKey],
    kind: JoinType,
    right_columns: RightColumns,
    inner_names: &[String],
) -> Vec<Output> {
    let left_may_miss = matches!(kind, JoinType::Right | JoinType::Full);
    let right_may_miss = matches!(kind, JoinType::Left | JoinType::Full);
    let right_only = matches!(kind, JoinType::RightSemi | JoinType::RightAnti);
    let mut outputs: Vec<Output> = Vec::new();
    if !right_only {
        outputs.extend(left.columns.iter().map(|c| filled(pass(c), left_may_miss)));
    }
    if matches!(kind, JoinType::LeftSemi | JoinType::LeftAnti) {
        return outputs;
    }
    for (column, inner) in right.columns.iter().zip(inner_names) {
        let is_key = keys.iter().any(|k| k.right == *column);
        // The left side has the subtable keys already.
        let is_group =
            column.role != ColumnRole::Visible && (is_key || left.column(&column.name).is_some());
        if is_group || is_key && right_columns == RightColumns::WithoutKeys {
            continue;
        }
        // A renamed column does not get the name of another column of the right side.
        let taken = |n: &str| outputs.iter().any(|o| o.name == n);
        let name = if !taken(&column.name) {
            column.name.clone()
        } else {
            free_name(&column.name, |n| taken(n) || right.column(n).is_some())
        };
        outputs.push(filled(
            Output {
                name,
                expr: field(inner),
                ..pass(column)
            },
            right_may_miss,
        ));
    }
    outputs
}

/// KQL strings are never null: the null of an outer join becomes `""`.
fn filled(output: Output, may_miss: bool) -> Output {
    let expr = if output.kind == ScalarType::String && may_miss {
        coalesce(vec![output.expr, missing(ScalarType::String)])
    } else {
        output.expr
    };
    Output { expr, ..output }
}
