//! The output of a scan with dictionaries: codes of columns in memory, and the other values.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, UInt32Array};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use datafusion::common::DataFusionError;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::utils::{collect_columns, reassign_expr_columns};

use super::batch::batch;
use super::dictionary::{AsDictionary, dictionary};

/// The output of a scan in which some columns are dictionaries.
#[derive(Debug)]
pub(super) struct CodedOutput {
    parts: Vec<Part>,
    /// The columns that the other outputs read, as indexes of the table's schema.
    read: Vec<usize>,
    schema: SchemaRef,
}

#[derive(Debug)]
enum Part {
    /// The values of an expression over the columns that are read.
    Values(Arc<dyn PhysicalExpr>),
    /// The codes of a column, whose distinct values are those of an expression over it.
    Codes(Codes),
}

#[derive(Debug)]
struct Codes {
    column: usize,
    text: Arc<dyn PhysicalExpr>,
    schema: SchemaRef,
}

impl CodedOutput {
    /// The output of a projection; `None` if it has no dictionary.
    pub(super) fn new(table: &Schema, projection: &ProjectionExprs) -> Result<Option<CodedOutput>> {
        let is_dictionary = |expr: &Arc<dyn PhysicalExpr>| expr.is::<AsDictionary>();
        if !projection.iter().any(|output| is_dictionary(&output.expr)) {
            return Ok(None);
        }
        let others = projection.iter().filter(|o| !is_dictionary(&o.expr));
        let read: BTreeSet<usize> = others
            .flat_map(|output| collect_columns(&output.expr))
            .map(|column| column.index())
            .collect();
        let read: Vec<usize> = read.into_iter().collect();
        let schema = Arc::new(table.project(&read)?);
        let mut parts = Vec::new();
        for output in projection.iter() {
            let expr = Arc::clone(&output.expr);
            parts.push(match expr.downcast_ref::<AsDictionary>() {
                None => Part::Values(reassign_expr_columns(expr, &schema)?),
                Some(coded) => match Codes::new(coded.text(), table)? {
                    Some(codes) => Part::Codes(codes),
                    None => return Ok(None),
                },
            });
        }
        Ok(Some(CodedOutput {
            parts,
            read,
            schema,
        }))
    }

    /// The distinct values of each dictionary, where `distinct` returns those of a column; `None` if a column has no codes, or if an
    /// expression fails: it may fail for a value that no selected row has.
    pub(super) fn dictionaries<'c>(
        &self,
        distinct: impl Fn(usize) -> Option<&'c ArrayRef>,
    ) -> Option<Vec<ArrayRef>> {
        let codes = self.parts.iter().filter_map(|part| match part {
            Part::Codes(codes) => Some(codes),
            Part::Values(_) => None,
        });
        codes
            .map(|codes| codes.values(distinct(codes.column)?))
            .collect()
    }

    /// The output for rows, of this schema; `codes` and `values` return the codes and the values of a column for them.
    pub(super) fn output(
        &self,
        schema: &SchemaRef,
        rows: usize,
        dictionaries: &[ArrayRef],
        codes: impl Fn(usize) -> Result<Option<UInt32Array>>,
        values: impl Fn(usize) -> Result<ArrayRef>,
    ) -> Result<RecordBatch> {
        let read = self.read.iter().map(|column| values(*column));
        let read = batch(Arc::clone(&self.schema), read.collect::<Result<_>>()?, rows)?;
        let mut dictionaries = dictionaries.iter();
        let columns = self.parts.iter().map(|part| match part {
            Part::Values(expr) => expr.evaluate(&read)?.into_array(rows),
            Part::Codes(part) => match (codes(part.column)?, dictionaries.next()) {
                (Some(codes), Some(values)) => dictionary(codes, Arc::clone(values)),
                _ => Err(DataFusionError::Internal(
                    "a column lost its codes".to_owned(),
                )),
            },
        });
        batch(Arc::clone(schema), columns.collect::<Result<_>>()?, rows)
    }
}

impl Codes {
    fn new(text: &Arc<dyn PhysicalExpr>, table: &Schema) -> Result<Option<Codes>> {
        let columns = collect_columns(text);
        let Some(column) = columns.iter().next().filter(|_| columns.len() == 1) else {
            return Ok(None);
        };
        let schema = Arc::new(table.project(&[column.index()])?);
        Ok(Some(Codes {
            column: column.index(),
            text: reassign_expr_columns(Arc::clone(text), &schema)?,
            schema,
        }))
    }

    /// The values of the expression for the distinct values of its column.
    fn values(&self, distinct: &ArrayRef) -> Option<ArrayRef> {
        if self.text.is::<Column>() {
            return Some(Arc::clone(distinct));
        }
        let rows = distinct.len();
        let read = batch(Arc::clone(&self.schema), vec![Arc::clone(distinct)], rows).ok()?;
        self.text.evaluate(&read).ok()?.into_array(rows).ok()
    }
}
