//! The row work of `scan`.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use datafusion::common::{Result, ScalarValue};
use datafusion::physical_plan::PhysicalExpr;

use crate::transform::{Reads, Transform, TransformState};
use crate::work::CancellationToken;

/// Which of the rows that match a step come out.
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
    /// The declared column's number and its value.
    pub(crate) assignments: Vec<(usize, Arc<dyn PhysicalExpr>)>,
    pub(crate) output: Output,
}

/// Matches rows against steps. Expressions read the row's fields, the declared columns, and for each step the same
/// fields as the step holds them.
#[derive(Debug, Clone)]
pub(crate) struct Scan {
    /// What the expressions read.
    pub(crate) schema: SchemaRef,
    pub(crate) steps: Vec<Step>,
    /// What a step holds of the row's fields before it matched.
    pub(crate) nulls: Vec<ScalarValue>,
    /// The declared columns' defaults.
    pub(crate) defaults: Vec<ScalarValue>,
    /// The match's number is the last field of the output.
    pub(crate) match_id: bool,
}

impl Transform for Scan {
    fn name(&self) -> &'static str {
        "Scan"
    }

    fn reads(&self) -> Reads {
        Reads::OneStream
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

/// The rows that a running match holds: one for each step so far.
#[derive(Clone)]
struct Sequence {
    rows: Vec<Vec<ArrayRef>>,
    id: i64,
    /// The row that comes out when the run ends.
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
            // From the last step to the first, so that a row does not run through all steps at once.
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
        // The match of the step before goes on here.
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

    /// The row becomes what step `index` holds, and comes out.
    fn enter(
        &mut self,
        index: usize,
        step: &Step,
        row: &[ArrayRef],
        scene: &RecordBatch,
        mut sequence: Sequence,
    ) -> Result<()> {
        let mut declared = self.defaults.clone();
        for (column, expr) in &step.assignments {
            if let Some(place) = declared.get_mut(*column) {
                *place = expr.evaluate(scene)?.into_array(1)?;
            }
        }
        let mut held = row.to_vec();
        held.extend(declared);
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

    /// What the expressions read.
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
