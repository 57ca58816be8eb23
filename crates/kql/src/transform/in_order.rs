//! A transform that passes its rows through unchanged and requires the order of its input.

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;

use super::{Reads, Transform, TransformMessage, TransformState};

/// Passes its input through as one stream, in the order that the input defines.
#[derive(Debug)]
pub(crate) struct InOrder;

impl Transform for InOrder {
    fn name(&self) -> &'static str {
        "InOrder"
    }

    fn reads(&self) -> Reads {
        Reads::OneStream
    }

    fn keeps_rows(&self) -> bool {
        true
    }

    fn required_columns(&self) -> Option<Vec<String>> {
        Some(Vec::new())
    }

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        Ok(TransformMessage::InOrder(()))
    }

    fn start(&self, _: &SchemaRef, _: &SchemaRef) -> Result<Box<dyn TransformState>> {
        Ok(Box::new(Passing(None)))
    }
}

struct Passing(Option<RecordBatch>);

impl TransformState for Passing {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        self.0 = Some(batch);
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.0.take())
    }
}
