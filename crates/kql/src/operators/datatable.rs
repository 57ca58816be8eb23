//! `datatable`: rows written in the query (`docs/semantics.md §15.1`).

use hindsight_kql_syntax::ast::DataTable;
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{ScalarType, Value};

use crate::context::BindContext;
use crate::error::BindResult;
use crate::plan;
use crate::relation::Relation;

pub(crate) fn bind(
    node: &DataTable,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let columns: Vec<(String, ScalarType)> = node
        .columns
        .iter()
        .map(|c| (c.name.text.clone(), c.kind))
        .collect();
    for (index, (name, _)) in columns.iter().enumerate() {
        if columns.iter().take(index).any(|(other, _)| other == name) {
            return Err(binder.error(
                Code::DuplicateColumn,
                format!("duplicate column name '{name}'"),
                span,
            ));
        }
    }
    if node
        .values
        .len()
        .checked_rem(columns.len())
        .unwrap_or(node.values.len())
        != 0
    {
        return Err(binder.error(
            Code::Syntax,
            format!(
                "the number of values ({}) is not a multiple of the number of columns ({})",
                node.values.len(),
                columns.len()
            ),
            span,
        ));
    }
    let mut rows = Vec::new();
    for row in node.values.chunks(columns.len().max(1)) {
        let mut values = Vec::with_capacity(columns.len());
        for (expr, (_, kind)) in row.iter().zip(&columns) {
            values.push(cell(binder.bind_constant(expr)?, *kind));
        }
        rows.push(values);
    }
    plan::fixed_rows(&columns, &rows, span)
}

/// Converts a value to its column's type.
fn cell(value: Value, kind: ScalarType) -> Value {
    match value {
        value if value.kind() == kind => value,
        value if value.is_null() => Value::null(kind),
        value => value.convert(kind),
    }
}
