//! `getschema`: one row for each column (`docs/semantics.md §15.10`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::GetSchemaOperator;
use hindsight_kql_types::{ScalarType, Value};

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan::{self, visible};
use crate::relation::Relation;

impl TabularOperator for GetSchemaOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Loses,
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
    _node: &GetSchemaOperator,
    input: Relation,
    _binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    schema_rows(&input, span)
}

/// One row for each column of `input`.
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
