//! `getschema`: a row for each column (`semantics.md §15.10`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::GetSchemaOperator;
use hindsight_kql_types::{ScalarType, Value};

use crate::bind::{BindResult, Binder};
use crate::plan::{self, visible};
use crate::relation::Relation;

pub(crate) fn bind(
    _node: &GetSchemaOperator,
    input: Relation,
    _binder: &mut Binder<'_>,
    span: Span,
) -> BindResult<Relation> {
    schema_rows(&input, span)
}

/// A row for each column of `input`.
pub(crate) fn schema_rows(input: &Relation, span: Span) -> BindResult<Relation> {
    let columns = [
        ("ColumnName", ScalarType::String),
        ("ColumnOrdinal", ScalarType::Int),
        ("DataType", ScalarType::String),
        ("ColumnType", ScalarType::String),
    ]
    .map(|(name, kind)| (name.to_owned(), kind));
    let rows: Vec<Vec<Value>> = (0_i32..)
        .zip(visible(input))
        .map(|(ordinal, column)| {
            vec![
                Value::String(column.name.clone()),
                Value::Int(ordinal),
                Value::String(column.kind.clr_name().to_owned()),
                Value::String(column.kind.name().to_owned()),
            ]
        })
        .collect();
    plan::fixed_rows(&columns, &rows, span)
}
