//! Rows that are known during binding.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, new_empty_array};
use arrow::datatypes::{Field, Schema};
use datafusion::common::{Column as PlanColumn, DFSchema, ScalarValue};
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::logical_expr::{EmptyRelation, Expr as PlanExpr, LogicalPlan, LogicalPlanBuilder};
use hindsight_kql_syntax::Span;
use hindsight_kql_types::{ScalarType, Value};

use crate::error::{BindResult, plan_error};
use crate::relation::{Column, Relation};
use crate::value::value_to_scalar;

/// No rows.
pub(crate) fn no_rows(columns: Vec<Column>, span: Span) -> BindResult<Relation> {
    let fields = columns
        .iter()
        .map(|c| Field::new(&c.name, c.kind.arrow(), true))
        .collect::<Vec<_>>();
    let schema = DFSchema::try_from(Schema::new(fields)).map_err(|e| plan_error(e, span))?;
    Ok(Relation {
        plan: LogicalPlan::EmptyRelation(EmptyRelation {
            produce_one_row: false,
            schema: Arc::new(schema),
        }),
        columns,
        serialized: false,
    })
}

/// Rows that are known during binding; `rows` holds a value of the column's type for each column.
pub(crate) fn fixed_rows(
    columns: &[(String, ScalarType)],
    rows: &[Vec<Value>],
    span: Span,
) -> BindResult<Relation> {
    if rows.is_empty() || columns.is_empty() {
        let columns = columns.iter().cloned().map(Column::from).collect();
        return no_rows(columns, span);
    }
    let arrays = columns
        .iter()
        .enumerate()
        .map(|(index, (_, kind))| array_of(rows.iter().filter_map(|row| row.get(index)), *kind))
        .collect::<datafusion::common::Result<Vec<ArrayRef>>>()
        .map_err(|e| plan_error(e, span))?;
    let schema = Arc::new(schema_of(columns));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays)
        .map_err(|e| plan_error(e.into(), span))?;
    let table = MemTable::try_new(schema, vec![vec![batch]]).map_err(|e| plan_error(e, span))?;
    let plan = LogicalPlanBuilder::scan("rows", provider_as_source(Arc::new(table)), None)
        .and_then(LogicalPlanBuilder::build)
        .map_err(|e| plan_error(e, span))?;
    let outputs = columns
        .iter()
        .map(|(name, kind)| {
            let column = PlanExpr::Column(PlanColumn::new(Some("rows"), name));
            (name.clone(), *kind, column.alias(name))
        })
        .collect::<Vec<_>>();
    let scan = Relation {
        plan,
        columns: Vec::new(),
        serialized: false,
    };
    scan.project(outputs, span)
}

/// The array of values of one type.
pub(crate) fn array_of<'v>(
    values: impl Iterator<Item = &'v Value>,
    kind: ScalarType,
) -> datafusion::common::Result<ArrayRef> {
    let mut scalars = values.map(value_to_scalar).peekable();
    match scalars.peek() {
        Some(_) => ScalarValue::iter_to_array(scalars),
        None => Ok(new_empty_array(&kind.arrow())),
    }
}

/// The Arrow schema of columns.
pub(crate) fn schema_of(columns: &[(String, ScalarType)]) -> Schema {
    Schema::new(
        columns
            .iter()
            .map(|(name, kind)| Field::new(name, kind.arrow(), true))
            .collect::<Vec<_>>(),
    )
}
