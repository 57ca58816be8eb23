//! A column of dictionaries, each of which belongs to the rows of many batches.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray};
use arrow::datatypes::UInt32Type;
use arrow::record_batch::RecordBatch;
use datafusion::common::{DataFusionError, Result};

use super::plan::CodedExpr;

/// The dictionary of a column of a batch.
pub(super) fn dictionary_of(
    batch: &RecordBatch,
    column: usize,
) -> Result<&DictionaryArray<UInt32Type>> {
    let array = batch.columns().get(column);
    let dictionary = array.and_then(|array| array.as_dictionary_opt::<UInt32Type>());
    // The keys of rows are never null: a null text is one of the values.
    dictionary
        .filter(|dictionary| dictionary.keys().null_count() == 0)
        .ok_or_else(|| DataFusionError::Internal(format!("column {column} is no dictionary")))
}

/// The values of an expression for the values of the latest dictionary of its column.
#[derive(Debug)]
pub(super) struct CodedValues {
    expr: CodedExpr,
    latest: Option<Evaluated>,
}

#[derive(Debug)]
struct Evaluated {
    dictionary: ArrayRef,
    /// `None` if the expression fails for a value of the dictionary, which perhaps no row has.
    values: Option<ArrayRef>,
}

impl CodedValues {
    pub(super) fn new(expr: CodedExpr) -> CodedValues {
        CodedValues { expr, latest: None }
    }

    pub(super) fn column(&self) -> usize {
        self.expr.column
    }

    /// The values of the expression for those of a dictionary, and whether it is another dictionary than before. `None` if they must be
    /// computed for the rows.
    pub(super) fn of(&mut self, dictionary: &ArrayRef) -> (Option<&ArrayRef>, bool) {
        let known = self
            .latest
            .take()
            .filter(|latest| Arc::ptr_eq(&latest.dictionary, dictionary));
        let is_new = known.is_none();
        let evaluated = known.unwrap_or_else(|| Evaluated {
            dictionary: Arc::clone(dictionary),
            values: self.expr.evaluate(dictionary).ok(),
        });
        (self.latest.insert(evaluated).values.as_ref(), is_new)
    }

    /// The values of the expression for rows.
    pub(super) fn of_rows(&self, rows: &DictionaryArray<UInt32Type>) -> Result<ArrayRef> {
        let texts = arrow::compute::take(rows.values(), rows.keys(), None)?;
        self.expr.evaluate(&texts)
    }
}

impl CodedExpr {
    fn evaluate(&self, texts: &ArrayRef) -> Result<ArrayRef> {
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), vec![Arc::clone(texts)])?;
        self.expr.evaluate(&batch)?.into_array(texts.len())
    }
}
