//! `pivot`: one column for each value of a column.

use std::collections::BTreeSet;

use arrow::array::RecordBatch;
use datafusion::common::ScalarValue;
use datafusion::functions::expr_fn::coalesce;
use datafusion::functions_aggregate::expr_fn::max;
use datafusion::logical_expr::when;
use hindsight_kql_syntax::ast::{Call, Expr, ExprKind, Name, NamedExpr};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{ScalarType, Value};

use super::args::Args;
use crate::context::BindContext;
use crate::convert::convert;
use crate::error::{BindResult, plan_error};
use crate::operators::summarize;
use crate::plan::{self, Output, field, free_name, missing, pass};
use crate::relation::{Column, Relation, Scalar};
use crate::value::value_from_scalar;

/// The maximum number of pivoted values.
const MAX_COLUMNS: usize = 10_000;

pub(crate) fn bind(
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut args = Args::new(call);
    let column = args.required("pivotColumn", binder, span)?;
    let pivoted = plan::column_named(column, &input, binder)?.clone();
    let mut rest = args.rest();
    args.end(binder, span)?;
    let aggregate = match rest.first().map(|e| &e.kind) {
        Some(ExprKind::Call(_)) => rest.remove(0).clone(),
        _ => Expr::new(ExprKind::Call(Call::new("count", [])), span),
    };
    let (input, rows) = binder.discover(input, span)?;
    let values = values_of(rows.batches(), &pivoted.name, pivoted.kind);
    if values.len() > MAX_COLUMNS {
        let message = format!(
            "the pivoted column has more than {MAX_COLUMNS} values, the most columns that pivot() may add"
        );
        return Err(binder.error(Code::Semantics, message, span));
    }
    if values.contains("") {
        let message = format_args!("a pivoted column with an empty value");
        return Err(binder.unsupported(message, span));
    }
    let empty = match &aggregate.kind {
        ExprKind::Call(c) if c.function.text == "count" => Empty::Zero,
        _ => Empty::Null,
    };
    let aggregate = NamedExpr::named("$value", aggregate);
    let keys = keys(&rest, &pivoted, &aggregate, &input, binder)?;
    let names = keys.iter().chain([&pivoted.name]);
    let by: Vec<NamedExpr> = names
        .map(|name| ExprKind::Name(Name::new(name, span)))
        .map(|name| NamedExpr::bare(Expr::new(name, span)))
        .collect();
    let cells = summarize::summarize(&[aggregate], &by, input, binder, span)?;
    let Some(cell) = cells.columns.last().cloned() else {
        return Ok(cells);
    };
    if matches!(cell.kind, ScalarType::Dynamic | ScalarType::Guid) {
        return Err(binder.unsupported(format_args!("a pivot of {} cells", cell.kind), span));
    }
    let Some(of) = cells.column(&pivoted.name).cloned() else {
        return Ok(cells);
    };
    spread(cells, &keys, &of, &cell, values, empty, span)
}

/// The value of a cell without rows.
#[derive(Clone, Copy)]
enum Empty {
    Zero,
    Null,
}

/// The explicit keys; without any, the columns that neither the pivot nor its aggregate reads.
fn keys(
    written: &[&Expr],
    pivoted: &Column,
    aggregate: &NamedExpr,
    input: &Relation,
    binder: &mut dyn BindContext,
) -> BindResult<Vec<String>> {
    let read: Vec<String> = binder
        .bind_aggregates(std::slice::from_ref(aggregate), &[], input)?
        .iter()
        .flat_map(|a| a.expr.column_refs().into_iter().map(|c| c.name.clone()))
        .collect();
    if written.is_empty() {
        let others = input.columns.iter().map(|c| &c.name);
        let is_key = |c: &&String| **c != pivoted.name && !read.contains(c);
        return Ok(others.filter(is_key).cloned().collect());
    }
    let named = |key: &&Expr| Ok(plan::column_named(key, input, binder)?.name.clone());
    written.iter().map(named).collect()
}

/// One row for each combination of `keys`, with one column for each value of the column `of`.
fn spread(
    cells: Relation,
    keys: &[String],
    of: &Column,
    cell: &Column,
    values: BTreeSet<String>,
    empty: Empty,
    span: Span,
) -> BindResult<Relation> {
    let text = convert(of.scalar(), ScalarType::String).expr;
    let columns = cells.columns.iter();
    let keys: Vec<Output> = columns
        .filter(|c| keys.contains(&c.name))
        .map(pass)
        .collect();
    let mut aggregates: Vec<Output> = Vec::new();
    let mut outputs: Vec<Output> = keys.iter().map(|key| pass(&key.column())).collect();
    for (index, value) in values.into_iter().enumerate() {
        let value_text = Scalar::constant(Value::String(value.clone())).expr;
        let is_value = text.clone().eq(value_text);
        let picked = when(is_value, cell.expr())
            .end()
            .map_err(|e| plan_error(e, span))?;
        let inner = format!("$value{index}");
        aggregates.push(Output::scratch(&inner, cell.kind, max(picked)));
        let filled = match (empty, cell.kind) {
            (Empty::Zero, _) => {
                coalesce(vec![field(&inner), Scalar::constant(Value::Long(0)).expr])
            }
            (_, ScalarType::String) => coalesce(vec![field(&inner), missing(ScalarType::String)]),
            _ => field(&inner),
        };
        let name = free_name(&value, |n| outputs.iter().any(|o| o.name == n));
        outputs.push(Output::visible(name, cell.kind, filled));
    }
    plan::aggregate(cells, keys, aggregates, span)?.project(outputs, span)
}

/// The texts of a column's values.
fn values_of(rows: &[RecordBatch], column: &str, kind: ScalarType) -> BTreeSet<String> {
    let mut values = BTreeSet::new();
    for batch in rows {
        let Some(array) = batch.column_by_name(column) else {
            continue;
        };
        for row in 0..array.len() {
            let value = ScalarValue::try_from_array(array, row)
                .ok()
                .and_then(|scalar| value_from_scalar(&scalar, kind));
            if let Some(value) = value {
                values.insert(value.to_text());
            }
            if values.len() > MAX_COLUMNS {
                return values;
            }
        }
    }
    values
}
