//! A transform over subtables: inside `mv-apply` and `partition` each subtable is a run of its own.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, UInt32Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::SchemaRef;
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::common::Result;

use super::support::is_hidden;
use crate::exec::{HeldBuffers, Reads, Transform, TransformState};
use crate::relation::Column;
use crate::work::Watch;

/// Every so many rows the work is asked whether it is still wanted.
const ASKED_EVERY: u32 = 8192;

/// About how many rows of small subtables go out together.
const BATCH_ROWS: usize = 8192;

/// `work` over all rows, or over those of each subtable where some of `columns` tell subtables apart.
pub(crate) fn by_group(work: Arc<dyn Transform>, columns: &[Column]) -> Arc<dyn Transform> {
    let keys = columns.iter().filter(|c| is_hidden(c));
    by_keys(work, keys.map(|c| c.field.clone()).collect())
}

/// `work` over the rows of each combination of the fields `keys`, in the order of their first rows; over all rows
/// where there are no keys.
pub(crate) fn by_keys(work: Arc<dyn Transform>, keys: Vec<String>) -> Arc<dyn Transform> {
    match keys.is_empty() {
        true => work,
        false => Arc::new(Grouped { work, keys }),
    }
}

#[derive(Debug)]
struct Grouped {
    work: Arc<dyn Transform>,
    keys: Vec<String>,
}

impl Transform for Grouped {
    fn name(&self) -> &'static str {
        "Grouped"
    }

    fn reads(&self) -> Reads {
        Reads::OneStream
    }

    fn start(&self, input: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>> {
        Ok(Box::new(State {
            work: Arc::clone(&self.work),
            keys: self.keys.clone(),
            input: Arc::clone(input),
            output: Arc::clone(output),
            batches: Vec::new(),
            held: HeldBuffers::default(),
            watch: Watch::current(),
            rows: None,
            waiting: VecDeque::new(),
            running: None,
        }))
    }
}

struct State {
    work: Arc<dyn Transform>,
    keys: Vec<String>,
    input: SchemaRef,
    output: SchemaRef,
    /// What has come so far.
    batches: Vec<RecordBatch>,
    held: HeldBuffers,
    watch: Watch,
    /// All rows, once they are known.
    rows: Option<RecordBatch>,
    /// The rows of the subtables that have not run yet.
    waiting: VecDeque<Vec<u32>>,
    running: Option<Box<dyn TransformState>>,
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        self.held.add(&batch);
        self.batches.push(batch);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let rows = concat_batches(&self.input, &self.batches)?;
        self.batches.clear();
        self.held = HeldBuffers::default();
        self.held.add(&rows);
        let keys = self
            .keys
            .iter()
            .map(|key| Ok(Arc::clone(rows.column(self.input.index_of(key)?))))
            .collect::<Result<Vec<ArrayRef>>>()?;
        let fields = keys
            .iter()
            .map(|key| SortField::new(key.data_type().clone()))
            .collect();
        let keys = RowConverter::new(fields)?.convert_columns(&keys)?;
        let mut places: HashMap<OwnedRow, usize> = HashMap::new();
        for (row, key) in (0_u32..).zip(&keys) {
            if row % ASKED_EVERY == 0 {
                self.watch.check()?;
            }
            let next = self.waiting.len();
            let place = *places.entry(key.owned()).or_insert(next);
            match self.waiting.get_mut(place) {
                Some(group) => group.push(row),
                None => self.waiting.push_back(vec![row]),
            }
        }
        self.rows = Some(rows);
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        let mut ready = Vec::new();
        let mut count = 0;
        while count < BATCH_ROWS {
            let Some(batch) = self.next()? else {
                break;
            };
            count += batch.num_rows();
            ready.push(batch);
        }
        match ready.is_empty() {
            true => Ok(None),
            false => Ok(Some(concat_batches(&self.output, &ready)?)),
        }
    }

    fn memory(&self) -> usize {
        let running = self.running.as_ref().map_or(0, |run| run.memory());
        match &self.rows {
            // At the end the rows are there twice for a moment, and their keys.
            None => 2 * self.held.bytes(),
            Some(rows) => self.held.bytes() + rows.num_rows() * size_of::<u32>() + running,
        }
    }
}

impl State {
    /// The next batch of the subtable that runs, or of the first one after it that gives any.
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            self.watch.check()?;
            if let Some(run) = &mut self.running
                && let Some(batch) = run.pop()?
            {
                return Ok(Some(batch));
            }
            let (Some(rows), Some(group)) = (&self.rows, self.waiting.pop_front()) else {
                self.running = None;
                return Ok(None);
            };
            let batch = take_record_batch(rows, &UInt32Array::from(group))?;
            let mut run = self.work.start(&self.input, &self.output)?;
            run.push(batch)?;
            run.finish()?;
            self.running = Some(run);
        }
    }
}
