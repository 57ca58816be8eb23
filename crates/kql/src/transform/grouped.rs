//! A transform over subtables: inside `mv-apply` and `partition` each subtable is a separate run.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::{concat_batches, interleave_record_batch};
use arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};

use super::row_groups::RowGroups;
use super::{
    HeldBuffers, MAX_BATCH_ROWS, READS_ONE_STREAM, Reads, Transform, TransformMessage,
    TransformState,
};
use crate::work::CancellationToken;

/// Runs `work` over the rows of each combination of the fields `keys`, in the order of their first rows, or over all rows if
/// there are no keys.
pub(crate) fn by_keys(work: Arc<dyn Transform>, keys: Vec<String>) -> Arc<dyn Transform> {
    if keys.is_empty() {
        work
    } else {
        Arc::new(Grouped { work, keys })
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

    fn keeps_rows(&self) -> bool {
        self.work.keeps_rows()
    }

    fn required_columns(&self) -> Option<Vec<String>> {
        let of_work = self.work.required_columns()?;
        Some(of_work.into_iter().chain(self.keys.clone()).collect())
    }

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        Err(READS_ONE_STREAM)
    }

    fn start(&self, input: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>> {
        let keys = self.keys.iter().map(|key| Ok(input.index_of(key)?));
        let keys = keys.collect::<Result<Vec<usize>>>()?;
        let kinds = keys.iter().map(|key| input.field(*key).data_type().clone());
        Ok(Box::new(State {
            work: Arc::clone(&self.work),
            groups: RowGroups::new(kinds)?,
            keys,
            input: Arc::clone(input),
            output: Arc::clone(output),
            rows: Rows::default(),
            cancellation: CancellationToken::current(),
            ended: false,
            waiting: 0,
            running: None,
        }))
    }
}

struct State {
    work: Arc<dyn Transform>,
    /// The subtable key fields.
    keys: Vec<usize>,
    input: SchemaRef,
    output: SchemaRef,
    rows: Rows,
    groups: RowGroups,
    cancellation: CancellationToken,
    /// The input has ended.
    ended: bool,
    /// The next subtable to run.
    waiting: usize,
    running: Option<Running>,
}

/// A running subtable.
struct Running {
    state: Box<dyn TransformState>,
    /// The next row; none if the input of the subtable has ended.
    next: Option<u32>,
    finished: bool,
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let keys = self.keys.iter().map(|key| Arc::clone(batch.column(*key)));
        self.groups.add(&keys.collect::<Vec<ArrayRef>>())?;
        self.rows.add(batch);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.ended = true;
        Ok(())
    }

    /// The output of small subtables is combined into one batch.
    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        let mut ready = Vec::new();
        let mut count = 0;
        while self.ended && count < MAX_BATCH_ROWS {
            let Some(batch) = self.next()? else {
                break;
            };
            count += batch.num_rows();
            ready.push(batch);
        }
        if ready.is_empty() {
            Ok(None)
        } else {
            Ok(Some(concat_batches(&self.output, &ready)?))
        }
    }

    fn memory(&self) -> usize {
        let running = self.running.as_ref().map_or(0, |run| run.state.memory());
        self.rows.held.bytes() + self.groups.bytes() + running
    }
}

impl State {
    /// The next batch of the running subtable, or of the first following subtable that returns one.
    fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            self.cancellation.check()?;
            let Some(run) = &mut self.running else {
                let Some(first) = self.groups.first(self.waiting) else {
                    return Ok(None);
                };
                self.waiting += 1;
                self.running = Some(Running {
                    state: self.work.start(&self.input, &self.output)?,
                    next: Some(first),
                    finished: false,
                });
                continue;
            };
            if let Some(batch) = run.state.pop()? {
                return Ok(Some(batch));
            }
            match run.next.filter(|_| !run.state.done()) {
                Some(row) => {
                    let (batch, next) = self.rows.of_group(&self.groups, row)?;
                    run.next = next;
                    run.state.push(batch)?;
                }
                None if !run.finished => {
                    run.finished = true;
                    run.state.finish()?;
                }
                None => self.running = None,
            }
        }
    }
}

/// All rows, numbered from 0.
#[derive(Default)]
struct Rows {
    batches: Vec<RecordBatch>,
    /// The number of the first row of each batch.
    starts: Vec<u32>,
    count: u32,
    held: HeldBuffers,
}

impl Rows {
    fn add(&mut self, batch: RecordBatch) {
        self.held.add(&batch);
        self.starts.push(self.count);
        // Each subtable has a group number.
        self.count += batch.num_rows() as u32;
        self.batches.push(batch);
    }

    /// Some rows of a group from `row` on, and the next row.
    fn of_group(&self, groups: &RowGroups, row: u32) -> Result<(RecordBatch, Option<u32>)> {
        let (mut batches, mut places) = (Vec::new(), Vec::new());
        let mut here = 0..0;
        let mut next = Some(row);
        while let Some(row) = next
            && places.len() < MAX_BATCH_ROWS
        {
            if !here.contains(&row) {
                let (start, batch) = self.batch_of(row)?;
                here = start..start + batch.num_rows() as u32;
                batches.push(batch);
            }
            places.push((batches.len() - 1, (row - here.start) as usize));
            next = groups.after(row);
        }
        Ok((interleave_record_batch(&batches, &places)?, next))
    }

    /// The batch that contains a row, and the number of its first row.
    fn batch_of(&self, row: u32) -> Result<(u32, &RecordBatch)> {
        let after = self.starts.partition_point(|start| *start <= row);
        let at = after.checked_sub(1);
        let found = at.and_then(|at| Some((*self.starts.get(at)?, self.batches.get(at)?)));
        found.ok_or_else(|| DataFusionError::Internal(format!("there is no row {row}")))
    }
}
