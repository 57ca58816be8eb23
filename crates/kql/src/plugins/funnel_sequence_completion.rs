//! `funnel_sequence_completion`: how many ids reach each step of a sequence of states within a period
//! (`docs/semantics.md §24`).
//!
//! An id reaches step `k` if it has events with the states 1 … `k`, each later than the one before. The period is the time
//! from the first of them to the last, and the shortest one counts. Each window of the timeline is analysed on its own.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, Int64Array, RecordBatch};
use arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};
use hindsight_kql_syntax::ast::{BinaryOp, Call, Direction, Expr, Operator, OrderedExpr};
use hindsight_kql_syntax::{Code, Diagnostic, Span};
use hindsight_kql_types::{DynamicRef, ScalarType, Value};

use super::args::Args;
use super::timeline::Timeline;
use super::tree::{columns_of, equal, greater, name, named, names, of, op, run};
use super::windows::{column, ticks};
use crate::context::BindContext;
use crate::error::BindResult;
use crate::plan::transform;
use crate::relation::{Column, Relation};
use crate::transform::{
    READS_ONE_STREAM, Reads, Transform, TransformMessage, TransformState, long_column,
};

/// The maximum number of steps: each is a bit of an integer.
pub(super) const MAX_STEPS: usize = 62;

/// The maximum number of periods.
const MAX_PERIODS: usize = 64;

/// The field that tells where the events of an id in a window begin.
pub(super) const BEGINS: &str = "$begins";

/// The field with a bit for each step whose state an event has.
pub(super) const STEPS: &str = "$steps";

/// `funnel_sequence_completion(id, axis, start, end, bin, state, sequence, periods)`
pub(crate) fn bind(
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut args = Args::new(call);
    let timeline = Timeline::read(&mut args, &input, binder, span)?;
    let (width, _) = timeline.width(&mut args, "BinSize", binder, span)?;
    let state = column(args.required("StateColumn", binder, span)?, &input, binder)?;
    let sequence = args.required("Sequence", binder, span)?;
    let sequence = sequence_of(sequence, &state, &input, binder)?;
    let periods_expr = args.required("MaxSequencePeriods", binder, span)?;
    args.end(binder, span)?;
    if !matches!(timeline.kind, ScalarType::DateTime | ScalarType::TimeSpan) {
        let message = "the timeline must be a datetime or a timespan, as the periods are timespans";
        return Err(binder.error(Code::Semantics, message, span));
    }
    let periods = elements(periods_expr, ScalarType::TimeSpan, binder)?;
    let periods: Vec<i64> = periods.iter().filter_map(ticks).collect();
    if periods.len() > MAX_PERIODS || periods.iter().any(|period| *period <= 0) {
        let message = format!("1 to {MAX_PERIODS} positive periods are expected");
        return Err(binder.error(Code::Semantics, message, periods_expr.span));
    }

    let Timeline { id, axis, .. } = &timeline;
    let mut events = timeline.windows(&width);
    events.push(Operator::extend(vec![named(
        STEPS,
        steps(&state, &sequence),
    )]));
    events.push(Operator::filter(greater(name(STEPS), Expr::long(0))));
    events.extend(in_order(id, axis, &[]));
    let mut kept = columns_of(&["$bin", id], &[]);
    kept.push(named("$at", name(axis)));
    kept.extend(columns_of(&[BEGINS, STEPS], &[]));
    events.push(Operator::project(kept));
    let events = run(events, input, binder, span)?.finish(span)?;
    let took = Took {
        steps: sequence.len(),
    };
    let mut columns: Vec<Column> = events.columns.clone();
    columns.extend((0..took.steps).map(|k| Column::visible(of_step(k), ScalarType::Long)));
    let took = transform(Arc::new(took), events.plan, columns, false, span)?;
    run(
        counts(axis, id, &state, &sequence, &periods),
        took,
        binder,
        span,
    )
}

/// The number of ids of each window, period and step, from the times that the events of an id took.
fn counts(
    axis: &str,
    id: &str,
    state: &str,
    sequence: &[String],
    periods: &[i64],
) -> Vec<Operator> {
    let shortest = |k| named(&of_step(k), of("min", &of_step(k)));
    let cells = || (0..periods.len()).flat_map(|p| (0..sequence.len()).map(move |k| (p, k)));
    let count = |(p, k): (usize, usize)| -> Option<_> {
        let within = Expr::call("tolong", [Expr::timespan(*periods.get(p)?)]);
        let reached = op(BinaryOp::LessOrEqual, name(&of_step(k)), within);
        Some(named(
            &format!("$count{p}_{k}"),
            Expr::call("countif", [reached]),
        ))
    };
    let states = cells().filter_map(|(_, k)| Some(Expr::string(sequence.get(k)?)));
    let within = cells().filter_map(|(p, _)| Some(Expr::timespan(*periods.get(p)?)));
    let dcounts = cells().map(|(p, k)| name(&format!("$count{p}_{k}")));
    let numbers = [Expr::long(0), Expr::long(cells().count() as i64 - 1)];
    vec![
        Operator::summarize(
            (0..sequence.len()).map(shortest).collect(),
            columns_of(&["$bin", id], &[]),
        ),
        Operator::summarize(
            cells().filter_map(count).collect(),
            columns_of(&["$bin"], &[]),
        ),
        Operator::mv_expand(
            named("$cell", Expr::call("range", numbers)),
            Some(ScalarType::Long),
        ),
        Operator::project(vec![
            named(axis, name("$bin")),
            named(state, chosen(states)),
            named("Period", chosen(within)),
            named("dcount", chosen(dcounts)),
        ]),
        Operator::filter(greater(name("dcount"), Expr::long(0))),
    ]
}

/// The value whose number is in the column `$cell`.
fn chosen(values: impl Iterator<Item = Expr>) -> Expr {
    let mut arguments: Vec<Expr> = Vec::new();
    for (number, value) in (0..).zip(values) {
        arguments.push(equal(name("$cell"), Expr::long(number)));
        arguments.push(value);
    }
    // The last value stands for all others and needs no condition.
    let last = arguments.pop();
    arguments.pop();
    match last {
        Some(last) if arguments.is_empty() => last,
        last => Expr::call("case", arguments.into_iter().chain(last)),
    }
}

/// The field with the time that an event took from the first step to step `k`.
fn of_step(k: usize) -> String {
    format!("$took{k}")
}

/// The events of each id and window in order of time, then of the columns `more`; [`BEGINS`] is added.
pub(super) fn in_order(id: &str, axis: &str, more: &[String]) -> [Operator; 2] {
    let keys = names(&[id, "$bin", axis], more).into_iter();
    let keys = keys.map(|key| OrderedExpr::new(key, Direction::Asc));
    let begins = Timeline::begins_group(names(&[id, "$bin"], &[]));
    [
        Operator::sort(keys.collect()),
        Operator::extend(vec![named(BEGINS, begins)]),
    ]
}

/// The bits of the steps whose state is that of the column `state`.
pub(super) fn steps(state: &str, sequence: &[String]) -> Expr {
    let bits = (0_u32..).zip(sequence).map(|(step, text)| {
        let is_state = equal(of("tostring", state), Expr::string(text));
        Expr::call("iff", [is_state, Expr::long(1 << step), Expr::long(0)])
    });
    bits.reduce(super::tree::add)
        .unwrap_or_else(|| Expr::long(0))
}

/// The states of a sequence, as texts of the column's type.
pub(super) fn sequence_of(
    expr: &Expr,
    state: &str,
    input: &Relation,
    binder: &mut dyn BindContext,
) -> BindResult<Vec<String>> {
    let kind = input.column(state).map_or(ScalarType::String, |c| c.kind);
    let sequence = elements(expr, kind, binder)?;
    if sequence.len() > MAX_STEPS {
        let message = format!("a sequence has at most {MAX_STEPS} steps");
        return Err(binder.error(Code::Semantics, message, expr.span));
    }
    Ok(sequence.iter().map(Value::to_text).collect())
}

/// The elements of an argument that must be a constant array of values of a type.
fn elements(expr: &Expr, kind: ScalarType, binder: &mut dyn BindContext) -> BindResult<Vec<Value>> {
    let no_array = |binder: &dyn BindContext| -> Diagnostic {
        let message = format!("an array of {kind} values is expected");
        binder.error(Code::Semantics, message, expr.span)
    };
    let Value::Dynamic(bytes) = binder.bind_constant(expr)? else {
        return Err(no_array(binder));
    };
    let elements = DynamicRef::new(&bytes).iter_array().map(|element| {
        let mut bytes = Vec::new();
        element.to_encoded(&mut bytes);
        Value::Dynamic(bytes).convert(kind)
    });
    let elements: Vec<Value> = elements.collect();
    if elements.is_empty() || elements.iter().any(Value::is_null) {
        return Err(no_array(binder));
    }
    Ok(elements)
}

/// Adds to each event, for each step that it reaches, the shortest time since the first step. The events are in the order of
/// [`in_order`].
#[derive(Debug, Clone)]
struct Took {
    steps: usize,
}

impl Transform for Took {
    fn name(&self) -> &'static str {
        "FunnelSequenceCompletion"
    }

    fn reads(&self) -> Reads {
        Reads::OneStream
    }

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        Err(READS_ONE_STREAM)
    }

    fn start(&self, _: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>> {
        Ok(Box::new(TookState {
            schema: Arc::clone(output),
            earlier: vec![None; self.steps],
            now: vec![None; self.steps],
            at: 0,
            ready: None,
        }))
    }
}

struct TookState {
    schema: SchemaRef,
    /// For each step that an earlier event reached, the latest beginning of the sequence. A later event that reaches the step
    /// has no earlier beginning, so the last event's is the latest.
    earlier: Vec<Option<i64>>,
    /// The same for events of the current time.
    now: Vec<Option<i64>>,
    /// The current time.
    at: i64,
    ready: Option<RecordBatch>,
}

impl TookState {
    /// The time that each step of `steps` took that an event reaches.
    fn event(&mut self, begins: bool, at: i64, steps: i64) -> Vec<Option<i64>> {
        if begins {
            self.earlier.fill(None);
            self.now.fill(None);
        } else if at != self.at {
            for (earlier, now) in self.earlier.iter_mut().zip(&mut self.now) {
                *earlier = now.take().or(*earlier);
            }
        }
        self.at = at;
        let before = std::iter::once(Some(at)).chain(self.earlier.iter().copied());
        let reached = (0_u32..).zip(before).zip(&mut self.now);
        let took = reached.map(|((step, beginning), now)| {
            let beginning = beginning.filter(|_| steps >> step & 1 == 1)?;
            *now = Some(now.map_or(beginning, |now| now.max(beginning)));
            Some(at - beginning)
        });
        took.collect()
    }
}

impl TransformState for TookState {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let begins = flags(&batch, BEGINS)?;
        let at = long_column(&batch, "$at")?;
        let steps = long_column(&batch, STEPS)?;
        let mut took: Vec<Vec<Option<i64>>> = vec![Vec::new(); self.earlier.len()];
        for row in 0..batch.num_rows() {
            let event = self.event(begins.value(row), at.value(row), steps.value(row));
            for (column, value) in took.iter_mut().zip(event) {
                column.push(value);
            }
        }
        let mut columns = batch.columns().to_vec();
        let took = took
            .into_iter()
            .map(|t| Arc::new(Int64Array::from(t)) as ArrayRef);
        columns.extend(took);
        self.ready = Some(RecordBatch::try_new(Arc::clone(&self.schema), columns)?);
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.ready.take())
    }
}

/// The boolean field named `name`.
pub(super) fn flags(batch: &RecordBatch, name: &str) -> Result<BooleanArray> {
    batch
        .column_by_name(name)
        .and_then(|array| array.as_boolean_opt().cloned())
        .ok_or_else(|| DataFusionError::Internal(format!("no boolean field '{name}'")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shortest times of the last step over events `(time, steps)` of one id.
    fn shortest(steps: usize, events: &[(i64, i64)]) -> Option<i64> {
        let mut state = TookState {
            schema: Arc::new(arrow::datatypes::Schema::empty()),
            earlier: vec![None; steps],
            now: vec![None; steps],
            at: 0,
            ready: None,
        };
        let took = events
            .iter()
            .enumerate()
            .map(|(row, (at, steps))| state.event(row == 0, *at, *steps).last().copied().flatten());
        took.flatten().min()
    }

    #[test]
    fn the_latest_beginning_counts() {
        assert_eq!(shortest(2, &[(0, 1), (5, 1), (7, 2), (9, 2)]), Some(2));
        assert_eq!(shortest(3, &[(0, 1), (1, 2), (5, 1), (6, 4)]), Some(6));
    }

    #[test]
    fn each_step_is_later_than_the_one_before() {
        assert_eq!(shortest(2, &[(3, 1), (3, 2)]), None);
        assert_eq!(shortest(2, &[(3, 1), (3, 2), (4, 2)]), Some(1));
        assert_eq!(shortest(2, &[(3, 2), (4, 1)]), None);
    }

    #[test]
    fn one_event_is_one_step() {
        assert_eq!(shortest(2, &[(3, 3)]), None);
        assert_eq!(shortest(2, &[(3, 3), (8, 3)]), Some(5));
    }
}
