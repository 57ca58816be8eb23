//! Texts as dictionaries, of which a scan returns the codes of a column in memory.

use std::fmt::{self, Display, Formatter};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::{ArrayRef, DictionaryArray, UInt32Array};
use arrow::datatypes::{DataType, Schema, UInt32Type};
use arrow::record_batch::RecordBatch;
use datafusion::common::DataFusionError;
use datafusion::error::Result;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;

/// The values of a text expression as a dictionary of `UInt32` codes.
///
/// Evaluated over an array, each row has a code of its own; a scan of the column cache returns the codes of the cache instead.
#[derive(Debug)]
pub(super) struct AsDictionary {
    text: Arc<dyn PhysicalExpr>,
}

impl AsDictionary {
    /// The dictionary of a text expression.
    pub(super) fn new(text: Arc<dyn PhysicalExpr>) -> AsDictionary {
        AsDictionary { text }
    }

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
