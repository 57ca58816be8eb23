//! Texts as dictionaries: a scan returns the codes of a column in memory, so that an aggregation groups rows by code.

use std::fmt::{self, Display, Formatter};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{ArrayRef, DictionaryArray, UInt32Array};
use arrow::datatypes::{DataType, Schema, UInt32Type};
use arrow::record_batch::RecordBatch;
use datafusion::common::DataFusionError;
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::projection::{ProjectionExpr, ProjectionExprs};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr_common::physical_expr::is_volatile;
use datafusion::physical_plan::ExecutionPlan;

use super::source::SegmentSource;
use crate::segment::Segment;

/// The values of a text expression as a dictionary of `UInt32` codes.
///
/// Evaluated over an array, each row has a code of its own; a scan of the column cache returns the codes of the cache instead.
#[derive(Debug)]
pub(super) struct AsDictionary {
    text: Arc<dyn PhysicalExpr>,
}

impl AsDictionary {
    /// The expression of the texts.
    pub(super) fn text(&self) -> &Arc<dyn PhysicalExpr> {
        &self.text
    }
}

// Written out because the derived ones move out of the trait object.
impl PartialEq for AsDictionary {
    fn eq(&self, other: &AsDictionary) -> bool {
        self.text.eq(&other.text)
    }
}

impl Eq for AsDictionary {}

impl Hash for AsDictionary {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl Display for AsDictionary {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "dictionary({})", self.text)
    }
}

impl PhysicalExpr for AsDictionary {
    fn data_type(&self, schema: &Schema) -> Result<DataType> {
        let values = self.text.data_type(schema)?;
        Ok(DataType::Dictionary(
            Box::new(DataType::UInt32),
            Box::new(values),
        ))
    }

    fn nullable(&self, schema: &Schema) -> Result<bool> {
        self.text.nullable(schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let rows = batch.num_rows();
        let texts = self.text.evaluate(batch)?.into_array(rows)?;
        let codes = u32::try_from(rows).map(|rows| UInt32Array::from_iter_values(0..rows));
        let codes = codes.map_err(|error| DataFusionError::External(Box::new(error)))?;
        Ok(ColumnarValue::Array(dictionary(codes, texts)?))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.text]
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let text = children
            .pop()
            .ok_or_else(|| DataFusionError::Internal("a dictionary lost its texts".to_owned()))?;
        Ok(Arc::new(AsDictionary { text }))
    }

    fn fmt_sql(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

/// A dictionary array of these codes into these values.
pub(super) fn dictionary(codes: UInt32Array, values: ArrayRef) -> Result<ArrayRef> {
    Ok(Arc::new(DictionaryArray::<UInt32Type>::try_new(
        codes, values,
    )?))
}

/// `scan` with dictionaries (`Dictionary(UInt32, Utf8View)`) in place of these columns of its output. `None` if it is no scan of segments, if one of
/// these columns is no text that depends on a single column of the table, or if the column cache does not hold the codes of that column for most rows
/// of the segments: the other rows have a code each.
///
/// # Errors
/// DataFusion cannot push the projection into the scan.
pub fn with_dictionaries(
    scan: &Arc<dyn ExecutionPlan>,
    columns: &[usize],
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(exec) = scan.downcast_ref::<DataSourceExec>() else {
        return Ok(None);
    };
    let Some(config) = exec.data_source().downcast_ref::<FileScanConfig>() else {
        return Ok(None);
    };
    let Some(source) = config.file_source().downcast_ref::<SegmentSource>() else {
        return Ok(None);
    };
    let Some(projection) = config.file_source().projection() else {
        return Ok(None);
    };
    let files = config.file_groups.iter().flat_map(|group| group.files());
    let segments: Vec<&Segment> = files
        .filter_map(|file| file.extension::<Arc<Segment>>())
        .map(Arc::as_ref)
        .collect();
    let outputs = projection.as_ref();
    for column in columns {
        let Some(output) = outputs.get(*column) else {
            return Ok(None);
        };
        let read = collect_columns(&output.expr);
        let mut read = read.iter();
        let (Some(only), None) = (read.next(), read.next()) else {
            return Ok(None);
        };
        if is_volatile(&output.expr) || !source.has_codes(&segments, only.name()) {
            return Ok(None);
        }
    }
    let schema = scan.schema();
    let outputs = schema.fields().iter().enumerate().map(|(index, field)| {
        let value = Arc::new(datafusion::physical_expr::expressions::Column::new(
            field.name(),
            index,
        ));
        let is_coded = columns.contains(&index);
        let expr: Arc<dyn PhysicalExpr> = if is_coded {
            Arc::new(AsDictionary { text: value })
        } else {
            value
        };
        (
            is_coded.then(|| field.data_type().clone()),
            ProjectionExpr {
                expr,
                alias: field.name().clone(),
            },
        )
    });
    let (kinds, outputs): (Vec<_>, Vec<_>) = outputs.unzip();
    if kinds
        .into_iter()
        .flatten()
        .any(|kind| kind != DataType::Utf8View)
    {
        return Ok(None);
    }
    let projection = ProjectionExprs::new(outputs);
    let Some(pushed) = config.file_source().try_pushdown_projection(&projection)? else {
        return Ok(None);
    };
    let mut config = config.clone();
    config.file_source = pushed;
    Ok(Some(DataSourceExec::from_data_source(config)))
}
