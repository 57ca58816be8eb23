//! The row work of `reduce`: collects all texts, then clusters them.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringViewArray, UInt32Array,
};
use arrow::compute::take;
use arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};

use super::clusters::{Clusters, Rule};
use crate::transform::{
    HeldBuffers, MAX_BATCH_ROWS, READS_ONE_STREAM, Reads, Transform, TransformMessage,
    TransformState, long_column,
};
use crate::work::CancellationToken;

/// The output of the operator.
#[derive(Debug, Clone)]
pub(crate) enum Shown {
    /// One row for each pattern. The input has one row for each distinct text, with its number of rows.
    Patterns {
        /// The field with the number of rows.
        weight: String,
        /// Fields that are constant over all rows; the result has them, too.
        groups: Vec<String>,
    },
    /// Every row with its pattern. The last field of the input is the text, which is dropped.
    Rows,
}

/// Clusters the texts of a field.
#[derive(Debug, Clone)]
pub(crate) struct ReduceRows {
    pub(crate) rule: Rule,
    pub(crate) text: String,
    pub(crate) shown: Shown,
}

impl Transform for ReduceRows {
    fn name(&self) -> &'static str {
        "ReduceRows"
    }

    fn reads(&self) -> Reads {
        Reads::OneStream
    }

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        Err(READS_ONE_STREAM)
    }

    fn start(&self, _: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>> {
        Ok(Box::new(State {
            work: self.clone(),
            schema: Arc::clone(output),
            batches: Vec::new(),
            held: HeldBuffers::default(),
            cancellation: CancellationToken::current(),
            clustered: None,
        }))
    }
}

struct State {
    work: ReduceRows,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    held: HeldBuffers,
    cancellation: CancellationToken,
    /// Set when the input has ended.
    clustered: Option<Clustered>,
}

/// The clusters as columns.
struct Clustered {
    columns: [ArrayRef; 3],
    /// The cluster of each row of the input.
    places: UInt32Array,
    /// The next batch or row of the output.
    next: usize,
    /// The next row of the input.
    row: usize,
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        self.held.add(&batch);
        self.batches.push(batch);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let texts = self.texts()?;
        let weights = self.weights()?;
        let weighted = texts.iter().enumerate().flat_map(|(batch, texts)| {
            let weights = weights.get(batch);
            (0..texts.len()).map(move |row| {
                let text = if texts.is_valid(row) {
                    texts.value(row)
                } else {
                    ""
                };
                (text, weights.map_or(1, |weights| weights.value(row)))
            })
        });
        let found = self.work.rule.clusters(weighted, &self.cancellation)?;
        self.clustered = Some(Clustered::new(found));
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        match &self.work.shown {
            Shown::Rows => self.next_rows(),
            Shown::Patterns { groups, .. } => {
                let groups = groups.clone();
                self.next_patterns(&groups)
            }
        }
    }

    fn memory(&self) -> usize {
        let clustered = self.clustered.as_ref().map_or(0, |clustered| {
            let columns = clustered.columns.iter();
            columns.map(|c| c.get_array_memory_size()).sum::<usize>()
                + clustered.places.get_array_memory_size()
        });
        self.held.bytes() + clustered
    }
}

impl State {
    fn texts(&self) -> Result<Vec<StringViewArray>> {
        let text = |batch: &RecordBatch| {
            batch
                .column_by_name(&self.work.text)
                .and_then(|array| array.as_string_view_opt().cloned())
                .ok_or_else(|| DataFusionError::Internal("the reduced field is no string".into()))
        };
        self.batches.iter().map(text).collect()
    }

    /// The number of rows that each row represents; none if each represents one.
    fn weights(&self) -> Result<Vec<Int64Array>> {
        match &self.work.shown {
            Shown::Rows => Ok(Vec::new()),
            Shown::Patterns { weight, .. } => {
                let weights = self.batches.iter().map(|batch| long_column(batch, weight));
                weights.collect()
            }
        }
    }

    /// The next batch of the input with the pattern columns of its rows.
    fn next_rows(&mut self) -> Result<Option<RecordBatch>> {
        let Some(clustered) = &mut self.clustered else {
            return Ok(None);
        };
        let Some(batch) = self.batches.get(clustered.next) else {
            return Ok(None);
        };
        let places = clustered.places.slice(clustered.row, batch.num_rows());
        clustered.next += 1;
        clustered.row += batch.num_rows();
        let mut columns = batch.columns().to_vec();
        columns.pop();
        for column in &clustered.columns {
            columns.push(take(column, &places, None)?);
        }
        let schema = Arc::clone(&self.schema);
        Ok(Some(RecordBatch::try_new(schema, columns)?))
    }

    /// The next patterns.
    fn next_patterns(&mut self, groups: &[String]) -> Result<Option<RecordBatch>> {
        let (Some(clustered), Some(first)) = (&mut self.clustered, self.batches.first()) else {
            return Ok(None);
        };
        let rows = clustered.columns[0].len() - clustered.next;
        if rows == 0 {
            return Ok(None);
        }
        let rows = rows.min(MAX_BATCH_ROWS);
        let same = UInt32Array::from(vec![0; rows]);
        let mut columns = Vec::with_capacity(groups.len() + 3);
        for group in groups {
            let field = first.schema().index_of(group)?;
            columns.push(take(first.column(field), &same, None)?);
        }
        columns.extend(
            clustered
                .columns
                .iter()
                .map(|c| c.slice(clustered.next, rows)),
        );
        clustered.next += rows;
        let schema = Arc::clone(&self.schema);
        Ok(Some(RecordBatch::try_new(schema, columns)?))
    }
}

impl Clustered {
    fn new(found: Clusters) -> Clustered {
        let clusters = found.clusters.iter();
        let texts = |text: StringViewArray| Arc::new(text) as ArrayRef;
        Clustered {
            columns: [
                texts(clusters.clone().map(|c| Some(c.pattern.as_str())).collect()),
                Arc::new(Int64Array::from_iter_values(
                    clusters.clone().map(|c| c.count),
                )),
                texts(clusters.map(|c| Some(c.representative.as_str())).collect()),
            ],
            places: UInt32Array::from(found.places),
            next: 0,
            row: 0,
        }
    }
}
