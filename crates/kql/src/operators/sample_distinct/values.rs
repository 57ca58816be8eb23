//! The values that `sample-distinct` keeps.

use std::collections::BTreeSet;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use arrow::row::{RowConverter, SortField};
use datafusion::common::Result;
use rand::Rng;
use xxhash_rust::xxh64::xxh64;

use crate::random::RandomSource;
use crate::transform::{
    KeyNumbers, MAX_BATCH_BYTES, MAX_BATCH_ROWS, READS_ONE_STREAM, Reads, Transform,
    TransformMessage, TransformState,
};

/// At most `count` random distinct rows of each combination of the fields `keys`, or of all rows if there are no keys.
///
/// The priority of a row is its hash with a random seed, so equal rows have the same priority, and the distinct rows with the
/// lowest priorities are kept (a bottom-k sketch; E. Cohen and H. Kaplan, "Summarizing Data using Bottom-k Sketches"). How often
/// and when a value occurs does not change its priority, so every set of `count` distinct values is equally likely, as far as the
/// hash with a random seed is a random function. The state holds `count` values, however many distinct values there are.
#[derive(Debug)]
pub(super) struct SampleDistinct {
    pub(super) keys: Vec<String>,
    pub(super) count: usize,
    pub(super) random: RandomSource,
}

impl Transform for SampleDistinct {
    fn name(&self) -> &'static str {
        "SampleDistinct"
    }

    fn reads(&self) -> Reads {
        Reads::OneStream
    }

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        Err(READS_ONE_STREAM)
    }

    fn start(&self, input: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>> {
        let keys = self.keys.iter().map(|key| Ok(input.index_of(key)?));
        let keys = keys.collect::<Result<Vec<usize>>>()?;
        let kinds = keys.iter().map(|key| input.field(*key).data_type().clone());
        let fields = input.fields().iter();
        let fields = fields.map(|field| SortField::new(field.data_type().clone()));
        Ok(Box::new(State {
            groups: KeyNumbers::new(kinds)?,
            keys,
            converter: RowConverter::new(fields.collect())?,
            output: output.clone(),
            count: self.count,
            seed: self.random.generator().random(),
            kept: Vec::new(),
            bytes: 0,
            ended: false,
        }))
    }
}

struct State {
    /// The key fields.
    keys: Vec<usize>,
    groups: KeyNumbers,
    converter: RowConverter,
    output: SchemaRef,
    count: usize,
    seed: u64,
    /// The distinct rows of each group with the lowest priorities.
    kept: Vec<BTreeSet<Kept>>,
    /// The memory of the kept rows.
    bytes: usize,
    /// The input has ended; `kept` are the rows that the output has not returned yet.
    ended: bool,
}

/// The priority of a row, and the row as [`RowConverter`] encodes it. Rows of equal priorities are ordered by their bytes.
type Kept = (u64, Box<[u8]>);

/// The memory of a kept row beside its bytes: the entry and its part of the tree.
const ENTRY_BYTES: usize = 2 * size_of::<Kept>();

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let groups = self.groups_of(&batch)?;
        let rows = self.converter.convert_columns(batch.columns())?;
        for (number, row) in rows.iter().enumerate() {
            let group = groups.get(number).copied().unwrap_or(0);
            if self.kept.len() <= group {
                self.kept.resize_with(group + 1, BTreeSet::new);
            }
            if let Some(kept) = self.kept.get_mut(group) {
                self.bytes += offer(kept, self.count, row.data(), self.seed);
                while kept.len() > self.count
                    && let Some((_, last)) = kept.pop_last()
                {
                    self.bytes -= last.len() + ENTRY_BYTES;
                }
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.ended = true;
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        let mut part: Vec<Kept> = Vec::new();
        let mut bytes = 0;
        while self.ended
            && part.len() < MAX_BATCH_ROWS
            && bytes < MAX_BATCH_BYTES
            && let Some(group) = self.kept.last_mut()
        {
            let Some(row) = group.pop_first() else {
                self.kept.pop();
                continue;
            };
            bytes += row.1.len() + ENTRY_BYTES;
            part.push(row);
        }
        if part.is_empty() {
            return Ok(None);
        }
        self.bytes = self.bytes.saturating_sub(bytes);
        let parser = self.converter.parser();
        let columns = self
            .converter
            .convert_rows(part.iter().map(|(_, row)| parser.parse(row)))?;
        Ok(Some(RecordBatch::try_new(self.output.clone(), columns)?))
    }

    fn memory(&self) -> usize {
        self.bytes + self.groups.bytes() + self.kept.capacity() * size_of::<BTreeSet<Kept>>()
    }

    fn done(&self) -> bool {
        self.count == 0
    }
}

impl State {
    /// The number of the group of each row; none without keys, where all rows have the number 0.
    fn groups_of(&mut self, batch: &RecordBatch) -> Result<Vec<usize>> {
        if self.keys.is_empty() {
            return Ok(Vec::new());
        }
        let keys = self.keys.iter().map(|key| batch.column(*key).clone());
        let keys = self.groups.encode(&keys.collect::<Vec<ArrayRef>>())?;
        keys.iter()
            .map(|key| Ok(self.groups.number(key.data())? as usize))
            .collect()
    }
}

/// Keeps a row if its priority is among the lowest `count`; returns the bytes that it adds.
fn offer(kept: &mut BTreeSet<Kept>, count: usize, row: &[u8], seed: u64) -> usize {
    let priority = xxh64(row, seed);
    let is_full = kept.len() >= count;
    if is_full && kept.last().is_none_or(|(highest, _)| priority > *highest) {
        return 0;
    }
    if kept.insert((priority, row.into())) {
        row.len() + ENTRY_BYTES
    } else {
        0
    }
}
