//! The row work of window functions: one pass over the ordered rows.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Decimal128Array, Float64Array, Int32Array, Int64Array,
    RecordBatch, new_empty_array,
};
use arrow::compute::concat;
use arrow::datatypes::{Decimal128Type, Float64Type, Int32Type, Int64Type, SchemaRef};
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::common::{DataFusionError, Result};
use hindsight_kql_types::{DECIMAL_SCALE, ScalarType, Value};

use crate::kernel::KernelError;
use crate::transform::{
    HeldBuffers, READS_ONE_STREAM, Reads, Transform, TransformMessage, TransformState,
};
use crate::value::value_to_scalar;

/// A window function with its constant arguments.
#[derive(Debug, Clone)]
pub(crate) enum WindowFunction {
    /// `row_number`
    RowNumber { start: i64 },
    /// `prev`
    Prev { distance: usize, default: Value },
    /// `next`
    Next { distance: usize, default: Value },
    /// `row_cumsum`
    CumulativeSum,
    /// `row_rank_dense`, `row_rank_min`
    Rank { dense: bool },
    /// `row_window_session`, in ticks
    Session { from_first: i64, between: i64 },
}

/// One call: its fields in the input, and the type of its result.
#[derive(Debug, Clone)]
pub(crate) struct WindowSpec {
    pub(crate) function: WindowFunction,
    pub(crate) args: Vec<String>,
    pub(crate) kind: ScalarType,
}

/// Adds a field for each call, in order, after the input's fields.
#[derive(Debug, Clone)]
pub(crate) struct WindowRows {
    pub(crate) specs: Vec<WindowSpec>,
}

impl Transform for WindowRows {
    fn name(&self) -> &'static str {
        "WindowRows"
    }

    fn reads(&self) -> Reads {
        Reads::OneStream
    }

    fn keeps_rows(&self) -> bool {
        true
    }

    fn required_columns(&self) -> Option<Vec<String>> {
        let args = self.specs.iter().flat_map(|spec| &spec.args);
        Some(args.cloned().collect())
    }

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        Err(READS_ONE_STREAM)
    }

    fn start(&self, _: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>> {
        let ahead = self
            .specs
            .iter()
            .map(|s| match s.function {
                WindowFunction::Next { distance, .. } => distance,
                _ => 0,
            })
            .max()
            .unwrap_or(0);
        Ok(Box::new(State {
            schema: Arc::clone(output),
            calls: self.specs.iter().map(Call::new).collect(),
            ahead,
            waiting: VecDeque::new(),
            held: HeldBuffers::default(),
            ended: false,
        }))
    }
}

struct State {
    schema: SchemaRef,
    calls: Vec<Call>,
    /// The number of rows after a batch that must be known before the batch can be returned.
    ahead: usize,
    waiting: VecDeque<RecordBatch>,
    held: HeldBuffers,
    ended: bool,
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        self.held.add(&batch);
        self.waiting.push_back(batch);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.ended = true;
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        let known: usize = self.waiting.iter().skip(1).map(RecordBatch::num_rows).sum();
        if !self.ended && known < self.ahead {
            return Ok(None);
        }
        let Some(batch) = self.waiting.pop_front() else {
            return Ok(None);
        };
        self.held.remove(&batch);
        let mut columns = batch.columns().to_vec();
        for call in &mut self.calls {
            columns.push(call.compute(&batch, &self.waiting)?);
        }
        Ok(Some(RecordBatch::try_new(
            Arc::clone(&self.schema),
            columns,
        )?))
    }

    fn memory(&self) -> usize {
        self.held.bytes() + self.calls.iter().map(Call::memory).sum::<usize>()
    }
}

/// A call and its state from the preceding rows.
struct Call {
    spec: WindowSpec,
    memory: Memory,
}

enum Memory {
    Number(Option<i64>),
    /// The values before the batch, oldest first, at most as many as the distance.
    Rows {
        before: VecDeque<ArrayRef>,
        held: HeldBuffers,
    },
    Int(i32),
    Long(i64),
    Real(f64),
    Decimal(i128),
    Rank {
        last: Option<OwnedRow>,
        rank: i64,
        row: i64,
    },
    Session {
        first: Option<i64>,
        last: Option<i64>,
    },
    Nothing,
}

impl Call {
    fn new(spec: &WindowSpec) -> Call {
        let memory = match (&spec.function, spec.kind) {
            (WindowFunction::RowNumber { .. }, _) => Memory::Number(None),
            (WindowFunction::Prev { .. }, _) => Memory::Rows {
                before: VecDeque::new(),
                held: HeldBuffers::default(),
            },
            (WindowFunction::Next { .. }, _) => Memory::Nothing,
            (WindowFunction::CumulativeSum, ScalarType::Int) => Memory::Int(0),
            (WindowFunction::CumulativeSum, ScalarType::Real) => Memory::Real(0.0),
            (WindowFunction::CumulativeSum, ScalarType::Decimal) => Memory::Decimal(0),
            (WindowFunction::CumulativeSum, _) => Memory::Long(0),
            (WindowFunction::Rank { .. }, _) => Memory::Rank {
                last: None,
                rank: 0,
                row: 0,
            },
            (WindowFunction::Session { .. }, _) => Memory::Session {
                first: None,
                last: None,
            },
        };
        Call {
            spec: spec.clone(),
            memory,
        }
    }

    fn compute(&mut self, batch: &RecordBatch, later: &VecDeque<RecordBatch>) -> Result<ArrayRef> {
        match self.spec.function.clone() {
            WindowFunction::RowNumber { start } => {
                let restart = self.restart(batch, 0)?;
                Ok(self.row_number(batch.num_rows(), start, restart.as_ref()))
            }
            WindowFunction::Prev { distance, default } => self.prev(batch, distance, &default),
            WindowFunction::Next { distance, default } => {
                self.next(batch, later, distance, &default)
            }
            WindowFunction::CumulativeSum => self.cumulative_sum(batch),
            WindowFunction::Rank { dense } => self.rank(batch, dense),
            WindowFunction::Session {
                from_first,
                between,
            } => self.session(batch, from_first, between),
        }
    }

    fn argument<'b>(&self, batch: &'b RecordBatch, index: usize) -> Result<&'b ArrayRef> {
        self.spec
            .args
            .get(index)
            .and_then(|name| batch.column_by_name(name))
            .ok_or_else(|| DataFusionError::Internal("a window argument is missing".to_owned()))
    }

    fn restart(&self, batch: &RecordBatch, index: usize) -> Result<Option<BooleanArray>> {
        if self.spec.args.len() > index {
            Ok(self.argument(batch, index)?.as_boolean_opt().cloned())
        } else {
            Ok(None)
        }
    }

    fn row_number(&mut self, rows: usize, start: i64, restart: Option<&BooleanArray>) -> ArrayRef {
        let mut last = match &self.memory {
            Memory::Number(last) => *last,
            _ => None,
        };
        let numbers = (0..rows)
            .map(|row| {
                let number = match last {
                    Some(last) if !is_true(restart, row) => last.wrapping_add(1),
                    _ => start,
                };
                last = Some(number);
                number
            })
            .collect::<Vec<i64>>();
        self.memory = Memory::Number(last);
        Arc::new(Int64Array::from(numbers))
    }

    /// The values before the batch, default values if there are none, followed by the values of the batch.
    fn prev(&mut self, batch: &RecordBatch, distance: usize, default: &Value) -> Result<ArrayRef> {
        let values = Arc::clone(self.argument(batch, 0)?);
        let Memory::Rows { before, held } = &mut self.memory else {
            return Err(DataFusionError::Internal("prev without rows".to_owned()));
        };
        let rows = values.len();
        held.add_array(&values);
        before.push_back(values);
        let known: usize = before.iter().map(|part| part.len()).sum();
        // At the start of the table, only as many default values are created as the batch needs.
        let missing = (distance + rows).saturating_sub(known).min(rows);
        let mut parts = vec![value_to_scalar(default).to_array_of_size(missing)?];
        let mut needed = rows - missing;
        while let Some(part) = before.front_mut().filter(|_| needed > 0) {
            let taken = part.len().min(needed);
            parts.push(part.slice(0, taken));
            *part = part.slice(taken, part.len() - taken);
            needed -= taken;
            if part.is_empty() {
                held.remove_array(part);
                before.pop_front();
            }
        }
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        Ok(concat(&parts)?)
    }

    /// The retained bytes of the preceding rows.
    fn memory(&self) -> usize {
        match &self.memory {
            Memory::Rows { held, .. } => held.bytes(),
            _ => 0,
        }
    }

    fn next(
        &self,
        batch: &RecordBatch,
        later: &VecDeque<RecordBatch>,
        distance: usize,
        default: &Value,
    ) -> Result<ArrayRef> {
        let values = self.argument(batch, 0)?;
        let rows = values.len();
        let mut parts = vec![if distance < rows {
            values.slice(distance, rows - distance)
        } else {
            new_empty_array(values.data_type())
        }];
        let mut skip = distance.saturating_sub(rows);
        let mut missing = rows.min(distance);
        for batch in later {
            let values = self.argument(batch, 0)?;
            let from = skip.min(values.len());
            let taken = (values.len() - from).min(missing);
            parts.push(values.slice(from, taken));
            skip -= from;
            missing -= taken;
        }
        parts.push(value_to_scalar(default).to_array_of_size(missing)?);
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        Ok(concat(&parts)?)
    }

    fn cumulative_sum(&mut self, batch: &RecordBatch) -> Result<ArrayRef> {
        let values = Arc::clone(self.argument(batch, 0)?);
        let restart = self.restart(batch, 1)?;
        let rows = 0..values.len();
        match &mut self.memory {
            Memory::Real(sum) => {
                let values = values.as_primitive::<Float64Type>();
                let sums = rows.map(|row| {
                    if is_true(restart.as_ref(), row) {
                        *sum = 0.0;
                    }
                    if values.is_valid(row) {
                        *sum += values.value(row);
                    }
                    *sum
                });
                Ok(Arc::new(Float64Array::from_iter_values(sums)))
            }
            Memory::Decimal(sum) => {
                let values = values.as_primitive::<Decimal128Type>();
                let sums = rows.map(|row| {
                    if is_true(restart.as_ref(), row) {
                        *sum = 0;
                    }
                    if values.is_valid(row) {
                        *sum = sum.wrapping_add(values.value(row));
                    }
                    *sum
                });
                let sums = Decimal128Array::from_iter_values(sums);
                Ok(Arc::new(sums.with_precision_and_scale(38, DECIMAL_SCALE)?))
            }
            Memory::Int(sum) => {
                let values = values.as_primitive::<Int32Type>();
                let sums = rows.map(|row| {
                    if is_true(restart.as_ref(), row) {
                        *sum = 0;
                    }
                    if values.is_valid(row) {
                        *sum = sum.checked_add(values.value(row)).ok_or_else(|| {
                            failed("row_cumsum: the sum is outside the range of int")
                        })?;
                    }
                    Ok(*sum)
                });
                let sums: Result<Vec<i32>> = sums.collect();
                Ok(Arc::new(Int32Array::from(sums?)))
            }
            Memory::Long(sum) => {
                let values = values.as_primitive::<Int64Type>();
                let sums = rows.map(|row| {
                    if is_true(restart.as_ref(), row) {
                        *sum = 0;
                    }
                    if values.is_valid(row) {
                        *sum = sum.wrapping_add(values.value(row));
                    }
                    *sum
                });
                Ok(Arc::new(Int64Array::from_iter_values(sums)))
            }
            _ => Err(DataFusionError::Internal(
                "row_cumsum without a sum".to_owned(),
            )),
        }
    }

    fn rank(&mut self, batch: &RecordBatch, dense: bool) -> Result<ArrayRef> {
        let values = Arc::clone(self.argument(batch, 0)?);
        let restart = self.restart(batch, 1)?;
        let converter = RowConverter::new(vec![SortField::new(values.data_type().clone())])?;
        let keys = converter.convert_columns(&[values])?;
        let Memory::Rank { last, rank, row } = &mut self.memory else {
            return Err(DataFusionError::Internal(
                "a rank without memory".to_owned(),
            ));
        };
        let mut ranks = Vec::with_capacity(keys.num_rows());
        for (index, key) in keys.iter().enumerate() {
            if is_true(restart.as_ref(), index) {
                (*last, *rank, *row) = (None, 0, 0);
            }
            *row += 1;
            if last.as_ref().is_none_or(|last| last.row() != key) {
                *rank = if dense { *rank + 1 } else { *row };
                *last = Some(key.owned());
            }
            ranks.push(*rank);
        }
        Ok(Arc::new(Int64Array::from(ranks)))
    }

    fn session(&mut self, batch: &RecordBatch, from_first: i64, between: i64) -> Result<ArrayRef> {
        let restart = self.restart(batch, 1)?;
        let times = self.argument(batch, 0)?.as_primitive::<Int64Type>().clone();
        let Memory::Session { first, last } = &mut self.memory else {
            return Err(DataFusionError::Internal(
                "a session without memory".to_owned(),
            ));
        };
        let starts: Int64Array = (0..times.len())
            .map(|row| {
                if times.is_null(row) {
                    // The value after a null begins a session.
                    (*first, *last) = (None, None);
                    return None;
                }
                let time = times.value(row);
                let starts_anew = match (*first, *last) {
                    (Some(first), Some(last)) => {
                        time.saturating_sub(first) >= from_first
                            || time.saturating_sub(last) >= between
                            || is_true(restart.as_ref(), row)
                    }
                    _ => true,
                };
                if starts_anew {
                    *first = Some(time);
                }
                *last = Some(time);
                *first
            })
            .collect();
        Ok(Arc::new(starts))
    }
}

/// An error of the query that the reply describes.
fn failed(message: &str) -> DataFusionError {
    DataFusionError::External(Box::new(KernelError::Failed(message.to_owned())))
}

fn is_true(array: Option<&BooleanArray>, row: usize) -> bool {
    array.is_some_and(|a| a.is_valid(row) && a.value(row))
}
