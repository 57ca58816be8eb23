//! The row work of [`crate::subtables::placeholders`]: placeholder rows of subtables without rows.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;
use arrow::row::{RowConverter, SortField};
use datafusion::common::Result;

use crate::transform::{Reads, Transform, TransformMessage, TransformState, message};

/// Adds a placeholder row for every subtable in a batch, and as last field a flag that is false for it. A subtable in several
/// batches gets several placeholder rows, which is harmless because they are never counted.
#[derive(Debug)]
pub(crate) struct WithPlaceholders {
    /// The subtable key fields.
    pub(crate) keys: Vec<String>,
    /// The order of the rows is significant.
    pub(crate) ordered: bool,
}

impl Transform for WithPlaceholders {
    fn name(&self) -> &'static str {
        "WithPlaceholders"
    }

    fn reads(&self) -> Reads {
        if self.ordered {
            Reads::OneStream
        } else {
            Reads::Partitions
        }
    }

    fn required_columns(&self) -> Option<Vec<String>> {
        Some(self.keys.clone())
    }

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        Ok(TransformMessage::Placeholders(message::Placeholders {
            keys: self.keys.clone(),
            ordered: self.ordered,
        }))
    }

    fn start(&self, input: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>> {
        let mut keys = Vec::with_capacity(self.keys.len());
        let mut fields = Vec::with_capacity(self.keys.len());
        for key in &self.keys {
            let index = input.index_of(key)?;
            fields.push(SortField::new(input.field(index).data_type().clone()));
            keys.push(index);
        }
        Ok(Box::new(State {
            keys,
            converter: RowConverter::new(fields)?,
            schema: Arc::clone(output),
            rows: None,
            placeholders: None,
        }))
    }
}

struct State {
    keys: Vec<usize>,
    converter: RowConverter,
    schema: SchemaRef,
    rows: Option<RecordBatch>,
    placeholders: Option<RecordBatch>,
}

impl State {
    /// The first row of each subtable in a batch.
    fn first_rows(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = self.keys.iter().map(|i| Arc::clone(batch.column(*i)));
        let columns: Vec<ArrayRef> = columns.collect();
        let keys = self.converter.convert_columns(&columns)?;
        let mut seen = HashSet::new();
        let first: BooleanArray = keys.iter().map(|key| Some(seen.insert(key))).collect();
        Ok(filter_record_batch(batch, &first)?)
    }

    fn flagged(&self, batch: &RecordBatch, flag: bool) -> Result<RecordBatch> {
        let mut columns = batch.columns().to_vec();
        columns.push(Arc::new(BooleanArray::from(vec![flag; batch.num_rows()])));
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        self.placeholders = Some(self.flagged(&self.first_rows(&batch)?, false)?);
        self.rows = Some(self.flagged(&batch, true)?);
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.rows.take().or_else(|| self.placeholders.take()))
    }
}
