//! `toscalar` over a subtable: `partition by k (as T | extend share = v / toscalar(T | summarize sum(v)))`.
//!
//! The value differs between subtables. Such a call is bound to a field that does not exist yet; the operator that contains
//! the call joins the values to its rows ([`absorb`]).

use datafusion::logical_expr::JoinType;
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use crate::context::BindContext;
use crate::error::BindResult;
use crate::plan::group_limit::limit_by;
use crate::plan::join::{RightColumns, join_plan};
use crate::plan::join_keys::equal_columns;
use crate::plan::{Output, field, groups, hidden_name, pass, visible};
use crate::relation::{Column, Relation, Scalar};
use crate::subtables::placeholders::without_placeholders;

fn value_field(index: usize) -> String {
    hidden_name(&format!("value{index}"))
}

/// Records a call whose body is bound to `rows`, and returns the field of its value.
pub(crate) fn note(rows: Relation, binder: &mut dyn BindContext, span: Span) -> BindResult<Scalar> {
    let rows = without_placeholders(rows, span)?;
    let Some(value) = visible(&rows).next().cloned() else {
        return Err(binder.error(Code::Semantics, "the sub-query has no column", span));
    };
    let name = value_field(binder.pending().subtable_values.len());
    // A dynamic column is redundant, because the row number also identifies the row.
    let mut keys: Vec<Column> = groups(&rows);
    keys.retain(|c| c.kind != ScalarType::Dynamic);
    let mut columns: Vec<Output> = keys.iter().map(pass).collect();
    columns.push(Output::scratch(&name, value.kind, value.expr()));
    let rows = rows.project(columns, span)?;
    let keys = keys.into_iter().map(|c| c.name).collect();
    let rows = limit_by(rows, keys, 1, span)?;
    binder.pending().subtable_values.push(rows);
    Ok(Scalar::new(field(&name), value.kind))
}

/// The rows of `input` joined with the recorded values. The columns stay the same; the row order does not.
pub(crate) fn absorb(
    binder: &mut dyn BindContext,
    input: Relation,
    span: Span,
) -> BindResult<Relation> {
    let values = std::mem::take(&mut binder.pending().subtable_values);
    if values.is_empty() {
        return Ok(input);
    }
    if !binder.pending().windows.is_empty() {
        let what = "a window function beside toscalar() of a subtable";
        return Err(binder.unsupported(what, span));
    }
    let columns = input.columns.clone();
    let fields: Vec<Output> = columns
        .iter()
        .map(|c| Output {
            name: c.field.clone(),
            ..pass(c)
        })
        .collect();
    let mut relation = input.project(fields, span)?;
    for rows in values {
        let mut keys = Vec::new();
        for right in &groups(&rows) {
            let left = columns.iter().find(|c| c.name == right.name);
            let Some(left) = left.and_then(|c| relation.column(&c.field)) else {
                return Err(binder.unsupported("the value of a subtable outside of it", span));
            };
            keys.extend(equal_columns(left, right));
        }
        relation = join_plan(
            relation,
            rows,
            &keys,
            JoinType::Left,
            RightColumns::WithoutKeys,
            span,
        )?;
    }
    Ok(Relation {
        columns,
        ..relation
    })
}
