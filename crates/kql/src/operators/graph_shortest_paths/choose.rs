//! Chooses the shortest of paths.

use std::collections::VecDeque;

use arrow::array::{BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use hashbrown::HashMap;

use crate::plan::hidden_name;
use crate::transform::{
    HeldBuffers, READS_ONE_STREAM, Reads, Transform, TransformMessage, TransformState, long_column,
};

/// The field with the number of the first node.
pub(super) const START: &str = "\0start";

/// The field with the number of the last node.
pub(super) const END: &str = "\0end";

/// The field with the number of edges of a step.
pub(super) fn length_field(step: usize) -> String {
    hidden_name(&format!("length.{step}"))
}

/// Keeps the shortest paths between each first and last node.
#[derive(Debug, Clone)]
pub(super) struct ChooseShortest {
    /// All of them, and not any.
    pub(super) all: bool,
    /// The number of steps, whose lengths are added.
    pub(super) steps: usize,
}

impl Transform for ChooseShortest {
    fn name(&self) -> &'static str {
        "ChooseShortest"
    }

    fn reads(&self) -> Reads {
        Reads::OneStream
    }

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        Err(READS_ONE_STREAM)
    }

    fn start(&self, _: &SchemaRef, _: &SchemaRef) -> Result<Box<dyn TransformState>> {
        Ok(Box::new(State {
            work: self.clone(),
            shortest: HashMap::new(),
            paths: VecDeque::new(),
            held: HeldBuffers::default(),
            ended: false,
        }))
    }
}

struct State {
    work: ChooseShortest,
    /// The length of the shortest path between two nodes; none once it was returned and no other is.
    shortest: HashMap<(i64, i64), Option<i64>>,
    paths: VecDeque<RecordBatch>,
    held: HeldBuffers,
    ended: bool,
}

/// The ends and the length of each path of a batch.
fn lengths(batch: &RecordBatch, steps: usize) -> Result<Vec<((i64, i64), i64)>> {
    let (start, end) = (long_column(batch, START)?, long_column(batch, END)?);
    let ends = start
        .values()
        .iter()
        .copied()
        .zip(end.values().iter().copied());
    let mut paths: Vec<((i64, i64), i64)> = ends.map(|ends| (ends, 0)).collect();
    for step in 0..steps {
        let of_step = long_column(batch, &length_field(step))?;
        for ((_, length), own) in paths.iter_mut().zip(of_step.values()) {
            *length += *own;
        }
    }
    Ok(paths)
}

impl TransformState for State {
    /// Keeps the paths that are not longer than the shortest so far.
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let keep = lengths(&batch, self.work.steps)?
            .into_iter()
            .map(|(ends, length)| {
                let shortest = self.shortest.entry(ends).or_insert(Some(length));
                let keep = shortest.is_none_or(|shortest| length <= shortest);
                if keep {
                    *shortest = Some(length);
                }
                Some(keep)
            });
        let kept = filter_record_batch(&batch, &keep.collect::<BooleanArray>())?;
        self.held.add(&kept);
        self.paths.push_back(kept);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.ended = true;
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        if !self.ended {
            return Ok(None);
        }
        let Some(batch) = self.paths.pop_front() else {
            return Ok(None);
        };
        self.held.remove(&batch);
        let keep = lengths(&batch, self.work.steps)?
            .into_iter()
            .map(|(ends, length)| {
                let Some(shortest) = self.shortest.get_mut(&ends) else {
                    return Some(false);
                };
                let keep = *shortest == Some(length);
                if keep && !self.work.all {
                    *shortest = None;
                }
                Some(keep)
            });
        let keep = keep.collect::<BooleanArray>();
        Ok(Some(filter_record_batch(&batch, &keep)?))
    }

    fn memory(&self) -> usize {
        self.held.bytes() + self.shortest.allocation_size()
    }
}
