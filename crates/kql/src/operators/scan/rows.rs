//! The row work of `scan`.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use datafusion::common::{Result, ScalarValue};
use datafusion::physical_plan::PhysicalExpr;

use crate::transform::{READS_ONE_STREAM, Reads, Transform, TransformMessage, TransformState};
use crate::work::CancellationToken;

/// Which of the rows that match a step are output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// All.
    All,
    /// The last of a run.
    Last,
    /// None.
    None,
}

/// One step.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) condition: Arc<dyn PhysicalExpr>,
    /// The index of a column, those of the row before the declared ones, and its value.
    pub(crate) assignments: Vec<(usize, Arc<dyn PhysicalExpr>)>,
    pub(crate) output: Output,
}

/// Matches rows against steps. Expressions read the fields of the row, the declared columns, and for each step the same
/// fields of the step's state.
#[derive(Debug, Clone)]
pub(crate) struct Scan {
    /// The schema that the expressions read.
    pub(crate) schema: SchemaRef,
    pub(crate) steps: Vec<Step>,
    /// The fields of a step's state before it matches.
    pub(crate) nulls: Vec<ScalarValue>,
    /// The defaults of the declared columns.
    pub(crate) defaults: Vec<ScalarValue>,
    /// The last field of the output is the match id.
    pub(crate) match_id: bool,
}

impl Transform for Scan {
    fn name(&self) -> &'static str {
        "Scan"
    }

    fn reads(&self) -> Reads {
        Reads::OneStream
    }

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        Err(READS_ONE_STREAM)
    }

    fn start(&self, _: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>> {
        let arrays = |values: &[ScalarValue]| {
            values
                .iter()
                .map(|v| v.to_array_of_size(1))
                .collect::<Result<Vec<ArrayRef>>>()
        };
        let defaults = arrays(&self.defaults)?;
        let mut blank = arrays(&self.nulls)?;
        blank.extend(defaults.iter().cloned());
        Ok(Box::new(State {
            sequences: self.steps.iter().map(|_| None).collect(),
            work: self.clone(),
            output: Arc::clone(output),
            blank,
            defaults,
            next_id: 0,
            rows: Vec::new(),
            ready: None,
        }))
    }
}

/// The state of an active match: one row for each step so far.
#[derive(Clone)]
struct Sequence {
    rows: Vec<Vec<ArrayRef>>,
    id: i64,
    /// The row that is output when the run of a step ends.
    last: Option<RecordBatch>,
}

struct State {
    work: Scan,
    output: SchemaRef,
    blank: Vec<ArrayRef>,
    defaults: Vec<ArrayRef>,
    sequences: Vec<Option<Sequence>>,
    next_id: i64,
    rows: Vec<RecordBatch>,
    ready: Option<RecordBatch>,
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let cancellation = CancellationToken::current();
        for row in 0..batch.num_rows() {
            cancellation.check()?;
            let row: Vec<ArrayRef> = batch.columns().iter().map(|c| c.slice(row, 1)).collect();
            // Steps are tried from last to first, so that a row does not advance through all steps at once.
            for step in (0..self.work.steps.len()).rev() {
                self.try_step(step, &row)?;
            }
        }
        self.flush()
    }

    fn finish(&mut self) -> Result<()> {
        for sequence in &mut self.sequences {
            self.rows.extend(sequence.take().and_then(|s| s.last));
        }
        self.flush()
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.ready.take())
    }
}

impl State {
    fn flush(&mut self) -> Result<()> {
        if !self.rows.is_empty() {
            self.ready = Some(concat_batches(&self.output, &self.rows)?);
            self.rows.clear();
        }
        Ok(())
    }

    fn try_step(&mut self, index: usize, row: &[ArrayRef]) -> Result<()> {
        let Some(step) = self.work.steps.get(index).cloned() else {
            return Ok(());
        };
        // The match of the previous step continues in this step.
        if let Some(before) = index.checked_sub(1)
            && let Some(Some(sequence)) = self.sequences.get(before).cloned()
        {
            let scene = self.scene(row, &sequence.rows)?;
            if holds(&step, &scene)? {
                let ended = self.sequences.get_mut(before).and_then(Option::take);
                self.rows.extend(ended.and_then(|s| s.last));
                let replaced = self.sequences.get_mut(index).and_then(Option::take);
                self.rows.extend(replaced.and_then(|s| s.last));
                return self.enter(index, &step, row, &scene, sequence);
            }
        }
        let own = self.sequences.get(index).cloned().flatten();
        let sequence = match own {
            Some(sequence) => sequence,
            None if index == 0 => Sequence {
                rows: Vec::new(),
                id: self.next_id,
                last: None,
            },
            None => return Ok(()),
        };
        let scene = self.scene(row, &sequence.rows)?;
        if !holds(&step, &scene)? {
            return Ok(());
        }
        if sequence.rows.is_empty() {
            self.next_id += 1;
        }
        self.enter(index, &step, row, &scene, sequence)
    }

    /// The row replaces the state of step `index`, and is output.
    fn enter(
        &mut self,
        index: usize,
        step: &Step,
        row: &[ArrayRef],
        scene: &RecordBatch,
        mut sequence: Sequence,
    ) -> Result<()> {
        let mut held = row.to_vec();
        held.extend(self.defaults.iter().cloned());
        for (column, expr) in &step.assignments {
            if let Some(place) = held.get_mut(*column) {
                *place = expr.evaluate(scene)?.into_array(1)?;
            }
        }
        sequence.rows.truncate(index);
        sequence.rows.push(held.clone());
        if self.work.match_id {
            held.push(Arc::new(Int64Array::from(vec![sequence.id])));
        }
        let result = RecordBatch::try_new(Arc::clone(&self.output), held)?;
        sequence.last = None;
        match step.output {
            Output::All => self.rows.push(result),
            Output::Last => sequence.last = Some(result),
            Output::None => {}
        }
        if let Some(place) = self.sequences.get_mut(index) {
            *place = Some(sequence);
        }
        Ok(())
    }

    /// The values that the expressions read.
    fn scene(&self, row: &[ArrayRef], held: &[Vec<ArrayRef>]) -> Result<RecordBatch> {
        let mut columns = row.to_vec();
        columns.extend(self.defaults.iter().cloned());
        for step in 0..self.work.steps.len() {
            columns.extend(held.get(step).unwrap_or(&self.blank).iter().cloned());
        }
        Ok(RecordBatch::try_new(
            Arc::clone(&self.work.schema),
            columns,
        )?)
    }
}

fn holds(step: &Step, scene: &RecordBatch) -> Result<bool> {
    let result = step.condition.evaluate(scene)?.into_array(1)?;
    Ok(result
        .as_boolean_opt()
        .is_some_and(|b| b.iter().next().flatten() == Some(true)))
}
