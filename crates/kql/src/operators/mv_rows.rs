//! The row work of `mv-expand` and `mv-apply`: a row for each element (`semantics.md §18.1`).

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, Int64Array, RecordBatch, RecordBatchOptions,
    UInt32Builder,
};
use arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};
use hindsight_kql_types::dynamic::Kind;
use hindsight_kql_types::{DynamicRef, Encoder, ScalarType};

use super::mv_value::ElementBuilder;
use crate::exec::{Reads, Transform, TransformState, select_rows};

/// How many rows are made at once.
const BATCH_ROWS: usize = 8192;

/// One list that is expanded.
#[derive(Debug, Clone)]
pub(crate) struct ExpandedList {
    /// The field of the input with the list.
    pub(crate) field: String,
    /// The type of its elements in the output.
    pub(crate) kind: ScalarType,
}

/// Expands lists side by side. The output has the input's fields but for the lists, then a field for each list's
/// elements, then the element's number from 0, then the input row's number from 0 within the run.
#[derive(Debug, Clone)]
pub(crate) struct Expand {
    pub(crate) lists: Vec<ExpandedList>,
    /// Bags give `[key, value]` in place of `{key: value}`.
    pub(crate) bags_as_pairs: bool,
    /// Elements of a list that count at most.
    pub(crate) limit: usize,
    /// The rows of the input are numbered as one stream.
    pub(crate) numbered: bool,
}

impl Transform for Expand {
    fn name(&self) -> &'static str {
        "Expand"
    }

    fn reads(&self) -> Reads {
        match self.numbered {
            true => Reads::OneStream,
            false => Reads::Partitions,
        }
    }

    fn start(&self, input: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>> {
        let lists = self
            .lists
            .iter()
            .map(|list| Ok(input.index_of(&list.field)?))
            .collect::<Result<Vec<usize>>>()?;
        let kept = (0..input.fields().len())
            .filter(|i| !lists.contains(i))
            .collect();
        Ok(Box::new(State {
            builders: self
                .lists
                .iter()
                .map(|l| ElementBuilder::new(l.kind))
                .collect(),
            work: self.clone(),
            schema: Arc::clone(output),
            lists,
            kept,
            batch: None,
            row: 0,
            first_row: 0,
            encoder: Encoder::new(),
            buffer: Vec::new(),
        }))
    }
}

struct State {
    work: Expand,
    schema: SchemaRef,
    lists: Vec<usize>,
    kept: Vec<usize>,
    builders: Vec<ElementBuilder>,
    batch: Option<RecordBatch>,
    row: usize,
    first_row: i64,
    encoder: Encoder,
    buffer: Vec<u8>,
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        if let Some(before) = &self.batch {
            self.first_row += before.num_rows() as i64;
        }
        self.batch = Some(batch);
        self.row = 0;
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        let Some(batch) = self.batch.clone() else {
            return Ok(None);
        };
        if self.row >= batch.num_rows() {
            return Ok(None);
        }
        let lists = self
            .lists
            .iter()
            .map(|index| dynamic_column(&batch, *index))
            .collect::<Result<Vec<_>>>()?;
        let mut rows = UInt32Builder::new();
        let mut numbers: Vec<i64> = Vec::new();
        let mut row_numbers: Vec<i64> = Vec::new();
        while self.row < batch.num_rows() && numbers.len() < BATCH_ROWS {
            let count = self.expand_row(&lists)?;
            for number in 0..count {
                rows.append_value(self.row as u32);
                numbers.push(number as i64);
                row_numbers.push(self.first_row + self.row as i64);
            }
            self.row += 1;
        }
        let kept: Vec<ArrayRef> = self
            .kept
            .iter()
            .filter_map(|i| batch.columns().get(*i).cloned())
            .collect();
        let mut columns = select_rows(&kept, &rows.finish())?;
        columns.extend(self.builders.iter_mut().map(ElementBuilder::finish));
        let options = RecordBatchOptions::new().with_row_count(Some(numbers.len()));
        columns.push(Arc::new(Int64Array::from(numbers)));
        columns.push(Arc::new(Int64Array::from(row_numbers)));
        Ok(Some(RecordBatch::try_new_with_options(
            Arc::clone(&self.schema),
            columns,
            &options,
        )?))
    }
}

impl State {
    /// Adds the elements of the current row to the builders; says how many rows that makes.
    fn expand_row(&mut self, lists: &[BinaryViewArray]) -> Result<usize> {
        let values: Vec<Option<DynamicRef<'_>>> = lists
            .iter()
            .map(|list| {
                list.is_valid(self.row)
                    .then(|| DynamicRef::new(list.value(self.row)))
            })
            .collect();
        let limit = self.work.limit;
        let lengths: Vec<usize> = values.iter().map(|v| length(*v).min(limit)).collect();
        let rows = lengths.iter().copied().max().unwrap_or(0);
        for ((value, length), builder) in values.iter().zip(lengths).zip(&mut self.builders) {
            let mut added = 0;
            if let Some(value) = value {
                match value.kind() {
                    Kind::Array => {
                        for element in value.iter_array().take(length) {
                            builder.push(Some(element))?;
                            added += 1;
                        }
                    }
                    Kind::Bag => {
                        for (key, element) in value.iter_bag().take(length) {
                            bag_element(&mut self.encoder, key, element, self.work.bags_as_pairs);
                            self.buffer.clear();
                            self.encoder.finish_into(&mut self.buffer);
                            builder.push(Some(DynamicRef::new(&self.buffer)))?;
                            added += 1;
                        }
                    }
                    _ if length > 0 => {
                        builder.push(Some(*value))?;
                        added = 1;
                    }
                    _ => {}
                }
            }
            for _ in added..rows {
                builder.push(None)?;
            }
        }
        Ok(rows)
    }
}

fn bag_element(encoder: &mut Encoder, key: &str, element: DynamicRef<'_>, as_pair: bool) {
    encoder.clear();
    match as_pair {
        true => {
            encoder.begin_array();
            encoder.string(key);
        }
        false => {
            encoder.begin_bag();
            encoder.key(key);
        }
    }
    encoder.dynamic(element);
    encoder.end();
}

/// Null and scalars are lists of one.
fn length(value: Option<DynamicRef<'_>>) -> usize {
    match value {
        Some(value) if matches!(value.kind(), Kind::Array | Kind::Bag) => value.len(),
        _ => 1,
    }
}

fn dynamic_column(batch: &RecordBatch, index: usize) -> Result<BinaryViewArray> {
    batch
        .columns()
        .get(index)
        .and_then(|array| array.as_binary_view_opt())
        .cloned()
        .ok_or_else(|| DataFusionError::Internal("the expanded field is not dynamic".to_owned()))
}
