//! `funnel_sequence`: what ids did before and after a sequence of states (`docs/semantics.md §24`).
//!
//! An event completes the sequence if events of its id with the states before it lead to it, each later than the one before
//! by at most the step window. Of several such ways the latest events count. `prev` is the state of the last event before the
//! sequence that differs from the first state, `next` the state of the first event after it that differs from the last one.
//! Each window of the timeline is analysed on its own.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::interleave_record_batch;
use arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result, ScalarValue};
use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Call, Direction, Expr, Operator, OrderedExpr};
use hindsight_kql_types::ScalarType;

use super::args::Args;
use super::funnel_sequence_completion::{BEGINS, STEPS, flags, in_order, sequence_of, steps};
use super::timeline::Timeline;
use super::tree::{columns_of, name, named, of, run};
use super::windows::column;
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan::transform;
use crate::relation::{Column, Relation};
use crate::transform::{
    MAX_BATCH_ROWS, READS_ONE_STREAM, Reads, Transform, TransformMessage, TransformState,
    long_column,
};
use crate::value::null_scalar;

/// The maximum number of ids in a sample.
const MAX_SAMPLES: i64 = 128;

/// `funnel_sequence(id, axis, start, end, step window, bin, state, sequence)`: three results, by the states before and after,
/// by the state before, and by the state after.
pub(crate) fn bind(
    call: &Call,
    input: Bound,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Bound> {
    let rows = &input.relation;
    let mut args = Args::new(call);
    let timeline = Timeline::read(&mut args, rows, binder, span)?;
    let (_, window) = timeline.width(&mut args, "MaxSequenceStepWindow", binder, span)?;
    let (width, _) = timeline.width(&mut args, "Step", binder, span)?;
    let state = column(args.required("StateColumn", binder, span)?, rows, binder)?;
    let sequence = args.required("Sequence", binder, span)?;
    let sequence = sequence_of(sequence, &state, rows, binder)?;
    args.end(binder, span)?;

    let Timeline { id, axis, kind, .. } = &timeline;
    let mut events = timeline.windows(&width);
    events.push(Operator::extend(vec![named(
        STEPS,
        steps(&state, &sequence),
    )]));
    events.extend(in_order(id, axis, std::slice::from_ref(&state)));
    let mut kept = columns_of(&["$bin", id], &[]);
    let at = match kind {
        ScalarType::Int => of("tolong", axis),
        _ => name(axis),
    };
    kept.extend([named("$at", at), named("$state", name(&state))]);
    kept.extend(columns_of(&[BEGINS, STEPS], &[]));
    events.push(Operator::project(kept));
    let events = run(events, rows.clone(), binder, span)?.finish(span)?;
    let kind = rows.column(&state).map_or(ScalarType::String, |c| c.kind);
    let work = Around {
        steps: sequence.len(),
        window,
        missing: null_scalar(kind),
    };
    let mut columns: Vec<Column> = events.columns.iter().take(2).cloned().collect();
    columns.extend(["prev", "next"].map(|name| Column::visible(name, kind)));
    let found = transform(Arc::new(work), events.plan, columns, false, span)?;
    let found = binder.materialize(found, span)?;

    let table = |states: &[&str], binder: &mut dyn BindContext| -> BindResult<Relation> {
        run(counts(axis, id, states), found.clone(), binder, span)
    };
    let both = table(&["prev", "next"], binder)?;
    let before = table(&["prev"], binder)?;
    let after = table(&["next"], binder)?;
    let extra = [both, before].map(|rows| binder.result(None, rows, span));
    let mut bound = input.map(|_| Ok(after))?;
    for result in extra {
        bound.extra_results.push(result?);
    }
    Ok(bound)
}

/// The number of ids by the states `states`, with a sample of them; the most frequent first.
fn counts(axis: &str, id: &str, states: &[&str]) -> Vec<Operator> {
    let samples = Expr::call("make_set", [name(id), Expr::long(MAX_SAMPLES)]);
    let ascending = |column: &&str| OrderedExpr::new(name(column), Direction::Asc);
    let most = OrderedExpr::new(name("dcount"), Direction::Desc);
    let order = [ascending(&axis), most].into_iter();
    let order = order.chain(states.iter().map(ascending));
    let by: Vec<&str> = ["$bin"].iter().chain(states).copied().collect();
    let mut shown = vec![named(axis, name("$bin"))];
    shown.extend(columns_of(states, &[]));
    shown.extend(columns_of(&["dcount"], &[]));
    shown.push(named("samples", of("array_sort_asc", "samples")));
    vec![
        Operator::summarize(
            vec![
                named("dcount", of("count_distinct", id)),
                named("samples", samples),
            ],
            columns_of(&by, &[]),
        ),
        Operator::project(shown),
        Operator::sort(order.collect()),
    ]
}

/// Finds the sequences among the events and returns the states around each. The first two fields of the input are the window
/// and the id; the events are in the order of [`in_order`] and of their states.
#[derive(Debug, Clone)]
struct Around {
    steps: usize,
    /// The maximum time between two steps.
    window: i64,
    /// The state where there is no event.
    missing: ScalarValue,
}

impl Transform for Around {
    fn name(&self) -> &'static str {
        "FunnelSequence"
    }

    fn reads(&self) -> Reads {
        Reads::OneStream
    }

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        Err(READS_ONE_STREAM)
    }

    fn start(&self, _: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>> {
        Ok(Box::new(State {
            sequence: Sequence::new(self.clone()),
            schema: Arc::clone(output),
            last: None,
            found: Vec::new(),
            ready: None,
        }))
    }
}

/// The events of one id in one window, up to the current one.
struct Sequence {
    work: Around,
    at: i64,
    /// The last state before the current time that is not the first of the sequence.
    other: ScalarValue,
    /// The same up to the current event.
    other_now: ScalarValue,
    /// For each step, the last event before the current time that reached it, with the state before the sequence.
    earlier: Vec<Option<(i64, ScalarValue)>>,
    /// The same for events of the current time.
    now: Vec<Option<ScalarValue>>,
    /// The states before the sequences that ended before the current time and have no next state yet.
    open: HashSet<ScalarValue>,
    /// The same for sequences that end at the current time.
    open_now: HashSet<ScalarValue>,
}

impl Sequence {
    fn new(work: Around) -> Sequence {
        Sequence {
            at: 0,
            other: work.missing.clone(),
            other_now: work.missing.clone(),
            earlier: vec![None; work.steps],
            now: vec![None; work.steps],
            open: HashSet::new(),
            open_now: HashSet::new(),
            work,
        }
    }

    /// Ends the events of an id and window; returns the states before the sequences that nothing follows.
    fn begin(&mut self) -> Vec<ScalarValue> {
        let open = self.open.drain().chain(self.open_now.drain()).collect();
        *self = Sequence::new(self.work.clone());
        open
    }

    /// Adds an event; returns the states before the sequences that it is the next event of.
    fn event(&mut self, at: i64, state: &ScalarValue, steps: i64) -> Vec<ScalarValue> {
        if at != self.at {
            self.advance();
            self.at = at;
        }
        let reaches = |step: usize| steps >> step & 1 == 1;
        for step in (0..self.work.steps).filter(|step| reaches(*step)) {
            let before = match step.checked_sub(1).map(|before| self.earlier.get(before)) {
                None => Some(self.other.clone()),
                Some(before) => before
                    .and_then(Option::as_ref)
                    .filter(|(time, _)| at.saturating_sub(*time) <= self.work.window)
                    .map(|(_, before)| before.clone()),
            };
            let (Some(before), Some(now)) = (before, self.now.get_mut(step)) else {
                continue;
            };
            if step + 1 == self.work.steps {
                self.open_now.insert(before.clone());
            }
            *now = Some(before);
        }
        if !reaches(0) {
            self.other_now = state.clone();
        }
        if self.work.steps.checked_sub(1).is_some_and(reaches) {
            return Vec::new();
        }
        self.open.drain().collect()
    }

    /// What happened at the current time lies before the next event.
    fn advance(&mut self) {
        let at = self.at;
        for (earlier, now) in self.earlier.iter_mut().zip(&mut self.now) {
            if let Some(before) = now.take() {
                *earlier = Some((at, before));
            }
        }
        self.other = self.other_now.clone();
        self.open.extend(self.open_now.drain());
    }

    fn bytes(&self) -> usize {
        let open = self.open.iter().chain(&self.open_now);
        open.map(ScalarValue::size).sum()
    }
}

struct State {
    sequence: Sequence,
    schema: SchemaRef,
    /// The last row of the batch before.
    last: Option<RecordBatch>,
    found: Vec<Found>,
    ready: Option<RecordBatch>,
}

/// A sequence with the states around it.
struct Found {
    /// A row of its id and window: of the batch before, or of this batch.
    row: Option<usize>,
    prev: ScalarValue,
    next: ScalarValue,
}

impl State {
    fn add(&mut self, row: Option<usize>, sequences: Vec<ScalarValue>, next: &ScalarValue) {
        self.found.extend(sequences.into_iter().map(|prev| Found {
            row,
            prev,
            next: next.clone(),
        }));
    }

    /// Makes the rows of what was found in `batch`, and keeps its last row.
    fn show(&mut self, batch: RecordBatch) -> Result<()> {
        if !self.found.is_empty() {
            let found = std::mem::take(&mut self.found);
            // Without a batch before, no row is of it.
            let before = self.last.as_ref().unwrap_or(&batch);
            let places: Vec<(usize, usize)> = found
                .iter()
                .map(|found| found.row.map_or((0, 0), |row| (1, row)))
                .collect();
            let keys = interleave_record_batch(&[before, &batch], &places)?;
            let mut columns: Vec<ArrayRef> = keys.columns().iter().take(2).cloned().collect();
            let (prev, next): (Vec<_>, Vec<_>) =
                found.into_iter().map(|f| (f.prev, f.next)).unzip();
            columns.push(ScalarValue::iter_to_array(prev)?);
            columns.push(ScalarValue::iter_to_array(next)?);
            self.ready = Some(RecordBatch::try_new(Arc::clone(&self.schema), columns)?);
        }
        if let Some(last) = batch.num_rows().checked_sub(1) {
            self.last = Some(batch.slice(last, 1));
        }
        Ok(())
    }
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let begins = flags(&batch, BEGINS)?;
        let at = long_column(&batch, "$at")?;
        let steps = long_column(&batch, STEPS)?;
        let states = batch
            .column_by_name("$state")
            .ok_or_else(|| DataFusionError::Internal("no field '$state'".to_owned()))?;
        let missing = self.sequence.work.missing.clone();
        for row in 0..batch.num_rows() {
            if begins.value(row) {
                let ended = self.sequence.begin();
                self.add(row.checked_sub(1), ended, &missing);
            }
            let state = ScalarValue::try_from_array(states, row)?;
            let followed = self.sequence.event(at.value(row), &state, steps.value(row));
            self.add(Some(row), followed, &state);
        }
        self.show(batch)
    }

    fn finish(&mut self) -> Result<()> {
        let ended = self.sequence.begin();
        let missing = self.sequence.work.missing.clone();
        self.add(None, ended, &missing);
        match self.last.clone() {
            Some(last) => self.show(last),
            None => Ok(()),
        }
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        let Some(ready) = self.ready.take() else {
            return Ok(None);
        };
        let rows = ready.num_rows();
        if rows > MAX_BATCH_ROWS {
            self.ready = Some(ready.slice(MAX_BATCH_ROWS, rows - MAX_BATCH_ROWS));
        }
        Ok(Some(ready.slice(0, rows.min(MAX_BATCH_ROWS))))
    }

    fn memory(&self) -> usize {
        let ready = self
            .ready
            .as_ref()
            .map_or(0, RecordBatch::get_array_memory_size);
        self.sequence.bytes() + ready
    }
}
