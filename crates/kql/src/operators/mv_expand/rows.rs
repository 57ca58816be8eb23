//! The row work of `mv-expand` and `mv-apply`: one row for each element (`docs/semantics.md §18.1`).

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, Int64Array, RecordBatch, RecordBatchOptions,
    UInt32Builder,
};
use arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};
use datafusion::physical_plan::ExecutionPlan;
use hindsight_kql_types::dynamic::{BagIter, Kind};
use hindsight_kql_types::{DynamicRef, Encoder, ScalarType};

use super::value::ElementBuilder;
use crate::aggregates::MAX_ELEMENTS;
use crate::encoder::{encoder, finished};
use crate::transform::{
    MAX_BATCH_BYTES, MAX_BATCH_ROWS, Reads, Transform, TransformMessage, TransformState, message,
    row_bytes, select_rows,
};

/// One expanded list.
#[derive(Debug, Clone)]
pub(crate) struct ExpandedList {
    /// The field of the input that holds the list.
    pub(crate) field: String,
    /// The type of its elements in the output.
    pub(crate) kind: ScalarType,
}

/// Expands lists in parallel. The output has the fields of the input except the lists, then one element field for each list,
/// then the element index from 0, then the row number of the input from 0 within the run.
#[derive(Debug, Clone)]
pub(crate) struct Expand {
    pub(crate) lists: Vec<ExpandedList>,
    /// Bags expand to `[key, value]` instead of `{key: value}`.
    pub(crate) bags_as_pairs: bool,
    /// The maximum number of elements of a list.
    pub(crate) limit: usize,
    /// The rows of the input are numbered as one stream.
    pub(crate) numbered: bool,
}

impl Transform for Expand {
    fn name(&self) -> &'static str {
        "Expand"
    }

    fn reads(&self) -> Reads {
        if self.numbered {
            Reads::OneStream
        } else {
            Reads::Partitions
        }
    }

    fn is_row_wise(&self) -> bool {
        !self.numbered
    }

    /// A predicate below the expansion would change the row numbers.
    fn allows_predicate_pushdown(&self) -> bool {
        !self.numbered
    }

    fn required_columns(&self) -> Option<Vec<String>> {
        Some(self.lists.iter().map(|list| list.field.clone()).collect())
    }

    /// Each list may have the maximum length.
    fn estimated_rows(&self, _: &Arc<dyn ExecutionPlan>, input_rows: usize) -> usize {
        input_rows.saturating_mul(self.limit.min(MAX_ELEMENTS))
    }

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        let lists = self.lists.iter().map(|list| message::ExpandedList {
            field: list.field.clone(),
            kind: list.kind.to_string(),
        });
        Ok(TransformMessage::Expand(message::Expand {
            lists: lists.collect(),
            bags_as_pairs: self.bags_as_pairs,
            limit: self.limit as u64,
            numbered: self.numbered,
        }))
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
            element: 0,
            first_row: 0,
            encoder: encoder(),
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
    /// The next element of the current row: a long list continues in the next batch.
    element: usize,
    first_row: i64,
    encoder: Encoder,
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
        let kept: Vec<ArrayRef> = self
            .kept
            .iter()
            .filter_map(|i| batch.columns().get(*i).cloned())
            .collect();
        let mut made = Made::default();
        while self.row < batch.num_rows() && !made.is_full() {
            self.expand_row(&lists, &kept, &mut made)?;
        }
        let mut columns = select_rows(&kept, &made.rows.finish())?;
        columns.extend(self.builders.iter_mut().map(ElementBuilder::finish));
        let options = RecordBatchOptions::new().with_row_count(Some(made.numbers.len()));
        columns.push(Arc::new(Int64Array::from(made.numbers)));
        columns.push(Arc::new(Int64Array::from(made.row_numbers)));
        Ok(Some(RecordBatch::try_new_with_options(
            Arc::clone(&self.schema),
            columns,
            &options,
        )?))
    }
}

/// The batch under construction, without its elements.
#[derive(Default)]
struct Made {
    rows: UInt32Builder,
    numbers: Vec<i64>,
    row_numbers: Vec<i64>,
    bytes: usize,
}

impl Made {
    fn is_full(&self) -> bool {
        self.numbers.len() >= MAX_BATCH_ROWS || self.bytes >= MAX_BATCH_BYTES
    }
}

impl State {
    /// Adds elements of the current row until the row has no more or the batch is full.
    fn expand_row(
        &mut self,
        lists: &[BinaryViewArray],
        kept: &[ArrayRef],
        made: &mut Made,
    ) -> Result<()> {
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
        let mut elements: Vec<Elements<'_>> = values
            .iter()
            .zip(lengths)
            .map(|(value, length)| Elements::of(*value, length, self.element))
            .collect();
        let shown = row_bytes(kept, self.row);
        while self.element < rows && !made.is_full() {
            for (elements, builder) in elements.iter_mut().zip(&mut self.builders) {
                made.bytes += match elements.next(self.element) {
                    None => builder.push(None)?,
                    Some(Element::Value(value)) => builder.push(Some(value))?,
                    Some(Element::Property(key, value)) => {
                        bag_element(&mut self.encoder, key, value, self.work.bags_as_pairs);
                        let value = finished(&mut self.encoder, "mv-expand")?;
                        builder.push(Some(DynamicRef::new(&value)))?
                    }
                };
            }
            made.rows.append_value(self.row as u32);
            made.numbers.push(self.element as i64);
            made.row_numbers.push(self.first_row + self.row as i64);
            made.bytes += shown;
            self.element += 1;
        }
        if self.element >= rows {
            self.element = 0;
            self.row += 1;
        }
        Ok(())
    }
}

/// The elements of a list from an index on.
enum Elements<'a> {
    Array(DynamicRef<'a>, usize),
    Bag(std::iter::Take<BagIter<'a>>),
    /// Null and scalars are lists of one element.
    One(DynamicRef<'a>, usize),
    Nothing,
}

enum Element<'a> {
    Value(DynamicRef<'a>),
    Property(&'a str, DynamicRef<'a>),
}

impl<'a> Elements<'a> {
    /// The first `length` elements of `value`; `start` of them are consumed already.
    fn of(value: Option<DynamicRef<'a>>, length: usize, start: usize) -> Elements<'a> {
        let Some(value) = value else {
            return Elements::Nothing;
        };
        match value.kind() {
            Kind::Array => Elements::Array(value, length),
            Kind::Bag => {
                let mut properties = value.iter_bag();
                if start > 0 {
                    properties.nth(start - 1);
                }
                Elements::Bag(properties.take(length.saturating_sub(start)))
            }
            _ => Elements::One(value, length),
        }
    }

    /// The element at the index `number`. Each call passes the next index.
    fn next(&mut self, number: usize) -> Option<Element<'a>> {
        match self {
            Elements::Array(array, length) if number < *length => {
                let element = array.get_index(i64::try_from(number).ok()?);
                // A truncated array still reports its full number of elements.
                Some(Element::Value(element.unwrap_or(DynamicRef::NULL)))
            }
            Elements::Bag(properties) => {
                let (key, value) = properties.next()?;
                Some(Element::Property(key, value))
            }
            Elements::One(value, length) if number < (*length).min(1) => {
                Some(Element::Value(*value))
            }
            _ => None,
        }
    }
}

fn bag_element(encoder: &mut Encoder, key: &str, element: DynamicRef<'_>, as_pair: bool) {
    encoder.clear();
    if as_pair {
        encoder.begin_array();
        encoder.string(key);
    } else {
        encoder.begin_bag();
        encoder.key(key);
    }
    encoder.dynamic(element);
    encoder.end();
}

/// Null and scalars are lists of one element.
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
