//! The row work of `make-graph`: numbers the nodes.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, BooleanArray, Int64Array, RecordBatch, RecordBatchOptions, StringViewArray,
    new_null_array,
};
use arrow::compute::filter;
use arrow::datatypes::{DataType, Field, SchemaRef};
use datafusion::common::{DataFusionError, Result};

use crate::graph::{FROM, ID, TO};
use crate::transform::{
    KeyNumbers, MAX_BATCH_ROWS, READS_ONE_STREAM, Reads, Transform, TransformMessage,
    TransformState,
};

/// The field that distinguishes the rows of edges from those of nodes.
pub(super) const EDGE: &str = "\0is_edge";

/// The field with the id of an edge's target.
pub(super) const TARGET: &str = "\0target";

/// Numbers the nodes of edges and node tables by their ids, and adds the fields [`FROM`] and [`TO`]. Of several rows of a
/// node the first is kept. A node that only edges have gets a row at the end.
#[derive(Debug)]
pub(super) struct NumberNodes {
    /// The field with the partition: ids of different partitions are different nodes.
    pub(super) partition: Option<String>,
    /// The properties that hold the id.
    pub(super) id_properties: Vec<String>,
    /// The properties that hold the partition.
    pub(super) partition_properties: Vec<String>,
}

impl Transform for NumberNodes {
    fn name(&self) -> &'static str {
        "NumberNodes"
    }

    fn reads(&self) -> Reads {
        Reads::OneStream
    }

    fn required_columns(&self) -> Option<Vec<String>> {
        let own = [EDGE, ID, TARGET].map(str::to_owned);
        Some(own.into_iter().chain(self.partition.clone()).collect())
    }

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        Err(READS_ONE_STREAM)
    }

    fn start(&self, input: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>> {
        let mut keys = Vec::new();
        for name in self.partition.as_deref().into_iter().chain([ID]) {
            keys.push(input.field_with_name(name)?.data_type().clone());
        }
        Ok(Box::new(State {
            partition: self.partition.clone(),
            id_properties: self.id_properties.clone(),
            partition_properties: self.partition_properties.clone(),
            numbers: KeyNumbers::new(keys.into_iter())?,
            has_row: Vec::new(),
            output: Arc::clone(output),
            ready: None,
            next: None,
        }))
    }
}

struct State {
    partition: Option<String>,
    id_properties: Vec<String>,
    partition_properties: Vec<String>,
    numbers: KeyNumbers,
    /// Whether a row of the node was output, by its number.
    has_row: Vec<bool>,
    output: SchemaRef,
    ready: Option<RecordBatch>,
    /// After the end of the input: the next node to check for a missing row.
    next: Option<usize>,
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let is_edge = column(&batch, EDGE)?.as_boolean().clone();
        let sources = self.encoded(&batch, ID)?;
        let targets = self.encoded(&batch, TARGET)?;
        let mut from = Vec::with_capacity(batch.num_rows());
        let mut to = Vec::with_capacity(batch.num_rows());
        let mut kept = Vec::with_capacity(batch.num_rows());
        for row in 0..batch.num_rows() {
            let source = self.numbers.number(sources.row(row).data())?;
            let target = if is_edge.value(row) {
                let target = self.numbers.number(targets.row(row).data())?;
                Some(i64::from(target))
            } else {
                None
            };
            let keeps = target.is_some() || self.is_first_row(source);
            if keeps {
                from.push(i64::from(source));
                to.push(target);
            }
            kept.push(keeps);
        }
        let kept = BooleanArray::from(kept);
        let columns = self.output.fields().iter().map(|field| {
            Ok(match field.name().as_str() {
                FROM => Arc::new(Int64Array::from(std::mem::take(&mut from))) as ArrayRef,
                TO => Arc::new(Int64Array::from(std::mem::take(&mut to))),
                name => filter(column(&batch, name)?, &kept)?,
            })
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        self.ready = Some(self.batch(columns, kept.true_count())?);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.next = Some(0);
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        match self.ready.take() {
            Some(batch) => Ok(Some(batch)),
            None => self.nodes_of_edges(),
        }
    }

    fn memory(&self) -> usize {
        self.numbers.bytes() + self.has_row.capacity()
    }
}

impl State {
    fn encoded(&self, batch: &RecordBatch, id: &str) -> Result<arrow::row::Rows> {
        let names = self.partition.as_deref().into_iter().chain([id]);
        let columns = names.map(|name| Ok(Arc::clone(column(batch, name)?)));
        self.numbers
            .encode(&columns.collect::<Result<Vec<ArrayRef>>>()?)
    }

    /// Whether a row of the node comes for the first time.
    fn is_first_row(&mut self, node: u32) -> bool {
        let node = node as usize;
        if self.has_row.len() <= node {
            self.has_row.resize(node + 1, false);
        }
        let seen = self.has_row.get_mut(node);
        seen.is_some_and(|seen| !std::mem::replace(seen, true))
    }

    /// Rows for the next nodes that no node table has.
    fn nodes_of_edges(&mut self) -> Result<Option<RecordBatch>> {
        let Some(mut next) = self.next else {
            return Ok(None);
        };
        let mut nodes: Vec<u32> = Vec::new();
        while next < self.numbers.len() && nodes.len() < MAX_BATCH_ROWS {
            if !self.has_row.get(next).copied().unwrap_or(false) {
                // There are fewer nodes than u32::MAX.
                nodes.push(next as u32);
            }
            next += 1;
        }
        self.next = Some(next);
        if nodes.is_empty() {
            return Ok(None);
        }
        let keys = self.numbers.columns(&nodes)?;
        let (id, partition) = match keys.as_slice() {
            [id] => (id, None),
            [partition, id] => (id, Some(partition)),
            _ => return Err(DataFusionError::Internal("a node without an id".to_owned())),
        };
        let rows = nodes.len();
        let columns = self.output.fields().iter().map(|field| {
            let name = field.name();
            match (name.as_str(), partition) {
                (FROM, _) => Arc::new(Int64Array::from_iter_values(
                    nodes.iter().map(|node| i64::from(*node)),
                )),
                (ID, _) => Arc::clone(id),
                (_, Some(key))
                    if Some(name) == self.partition.as_ref()
                        || self.partition_properties.contains(name) =>
                {
                    Arc::clone(key)
                }
                _ if self.id_properties.contains(name) => Arc::clone(id),
                _ => absent(field, rows),
            }
        });
        let columns: Vec<ArrayRef> = columns.collect();
        Ok(Some(self.batch(columns, rows)?))
    }

    fn batch(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = Arc::clone(&self.output);
        Ok(RecordBatch::try_new_with_options(
            schema, columns, &options,
        )?)
    }
}

fn column<'b>(batch: &'b RecordBatch, name: &str) -> Result<&'b ArrayRef> {
    batch
        .column_by_name(name)
        .ok_or_else(|| DataFusionError::Internal(format!("no field '{name}'")))
}

/// A column of nulls; of empty texts for text, which is never null.
fn absent(field: &Field, rows: usize) -> ArrayRef {
    match field.data_type() {
        DataType::Utf8View => Arc::new(StringViewArray::from_iter_values(std::iter::repeat_n(
            "", rows,
        ))),
        other => new_null_array(other, rows),
    }
}
