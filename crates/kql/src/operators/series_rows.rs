//! The row work of `make-series`: the bins of each key as arrays.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BinaryViewBuilder, RecordBatch, UInt32Array};
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use hindsight_kql_types::{Encoder, ScalarType, Value};

use crate::bind::value_from_scalar;
use crate::exec::{Reads, Slicer, Transform, TransformState, long_column, select_rows};

/// The most bins of a series (`semantics.md §19`).
const MAX_BINS: i64 = 1_048_576;

/// One series.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) kind: ScalarType,
    /// The value of bins without rows.
    pub(crate) default: Value,
}

/// The axis and its bounds.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    pub(crate) kind: ScalarType,
    pub(crate) from: Option<Value>,
    pub(crate) to: Option<Value>,
    pub(crate) step: Value,
    pub(crate) inclusive: bool,
}

/// Turns a row for each key and bin into a row for each key.
#[derive(Debug, Clone)]
pub(crate) struct SeriesRows {
    pub(crate) keys: Vec<String>,
    pub(crate) bin: String,
    pub(crate) axis: Axis,
    pub(crate) nonempty: bool,
    pub(crate) series: Vec<Series>,
}

impl Transform for SeriesRows {
    fn name(&self) -> &'static str {
        "SeriesRows"
    }

    fn reads(&self) -> Reads {
        Reads::OneStream
    }

    fn start(&self, input: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>> {
        Ok(Box::new(State {
            work: self.clone(),
            input: Arc::clone(input),
            output: Arc::clone(output),
            batches: Vec::new(),
            bytes: 0,
            ready: Slicer::default(),
        }))
    }
}

struct State {
    work: SeriesRows,
    input: SchemaRef,
    output: SchemaRef,
    batches: Vec<RecordBatch>,
    bytes: usize,
    ready: Slicer,
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        self.bytes += batch.get_array_memory_size();
        self.batches.push(batch);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let rows = concat_batches(&self.input, &self.batches)?;
        self.batches.clear();
        let bins = long_column(&rows, &self.work.bin)?;
        let known = || bins.iter().flatten();
        let Some((first, count)) = self.work.axis.bins(known().min(), known().max())? else {
            return Ok(());
        };
        if rows.num_rows() == 0 && !self.work.nonempty {
            return Ok(());
        }
        let groups = self.groups(&rows, bins.values(), first, count)?;
        let firsts: UInt32Array = groups.iter().map(|g| g.first).collect();
        let keys: Vec<ArrayRef> = self.columns(&rows, &self.work.keys)?;
        let mut arrays = select_rows(&keys, &firsts)?;
        let mut encoder = Encoder::new();
        for series in &self.work.series {
            let values = rows
                .column_by_name(&series.name)
                .ok_or_else(|| DataFusionError::Internal("a series is missing".to_owned()))?;
            arrays.push(series_array(series, values, &groups, &mut encoder)?);
        }
        let axis = self.work.axis.values(first, count, &mut encoder);
        let mut axes = BinaryViewBuilder::new();
        for _ in &groups {
            axes.append_value(&axis);
        }
        arrays.push(Arc::new(axes.finish()));
        self.bytes = 0;
        self.ready.set(&self.output, arrays, groups.len())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.ready.pop())
    }

    fn memory(&self) -> usize {
        self.bytes + self.ready.memory()
    }
}

/// The rows of one key: its first row, and the row of each bin.
struct Group {
    first: u32,
    rows: Vec<Option<usize>>,
}

impl State {
    fn columns(&self, rows: &RecordBatch, names: &[String]) -> Result<Vec<ArrayRef>> {
        names
            .iter()
            .map(|name| {
                rows.column_by_name(name)
                    .cloned()
                    .ok_or_else(|| DataFusionError::Internal(format!("no field '{name}'")))
            })
            .collect()
    }

    fn groups(
        &self,
        rows: &RecordBatch,
        bins: &[i64],
        first: i64,
        count: usize,
    ) -> Result<Vec<Group>> {
        let empty = |row: usize| Group {
            first: row as u32,
            rows: vec![None; count],
        };
        let keys = self.columns(rows, &self.work.keys)?;
        if keys.is_empty() {
            let mut group = empty(0);
            for (row, bin) in bins.iter().enumerate() {
                group.set(bin - first, row);
            }
            return Ok(vec![group]);
        }
        let fields = keys
            .iter()
            .map(|k| SortField::new(k.data_type().clone()))
            .collect();
        let converted = RowConverter::new(fields)?.convert_columns(&keys)?;
        let mut groups: Vec<Group> = Vec::new();
        let mut places: HashMap<OwnedRow, usize> = HashMap::new();
        for ((row, key), bin) in converted.iter().enumerate().zip(bins) {
            let place = *places.entry(key.owned()).or_insert_with(|| {
                groups.push(empty(row));
                groups.len() - 1
            });
            if let Some(group) = groups.get_mut(place) {
                group.set(bin - first, row);
            }
        }
        Ok(groups)
    }
}

impl Group {
    fn set(&mut self, bin: i64, row: usize) {
        if let Some(place) = usize::try_from(bin)
            .ok()
            .and_then(|bin| self.rows.get_mut(bin))
        {
            *place = Some(row);
        }
    }
}

fn series_array(
    series: &Series,
    values: &ArrayRef,
    groups: &[Group],
    encoder: &mut Encoder,
) -> Result<ArrayRef> {
    let mut out = BinaryViewBuilder::new();
    let mut buffer = Vec::new();
    for group in groups {
        encoder.clear();
        encoder.begin_array();
        for row in &group.rows {
            match row {
                None => series.default.pack(encoder),
                Some(row) => {
                    let scalar = ScalarValue::try_from_array(values.as_ref(), *row)?;
                    value_from_scalar(&scalar, series.kind)
                        .unwrap_or_else(|| Value::null(series.kind))
                        .pack(encoder);
                }
            }
        }
        encoder.end();
        buffer.clear();
        encoder.finish_into(&mut buffer);
        out.append_value(&buffer);
    }
    Ok(Arc::new(out.finish()))
}

impl Axis {
    /// The number of the first bin and how many there are; none where the bounds are the wrong way round.
    fn bins(&self, least: Option<i64>, greatest: Option<i64>) -> Result<Option<(i64, usize)>> {
        let first = match self.from {
            Some(_) => 0,
            None => match least {
                Some(least) => least,
                None => return Ok(None),
            },
        };
        let end = match &self.to {
            Some(to) => self.end(to),
            None => match greatest {
                Some(greatest) => greatest.saturating_add(1),
                None => return Ok(None),
            },
        };
        let count = end.saturating_sub(first);
        if count > MAX_BINS {
            return Err(DataFusionError::Execution(format!(
                "make-series: the series would have {count} bins; at most {MAX_BINS} are allowed"
            )));
        }
        Ok(usize::try_from(count)
            .ok()
            .filter(|c| *c > 0)
            .map(|c| (first, c)))
    }

    /// One past the number of the last bin.
    fn end(&self, to: &Value) -> i64 {
        if self.kind == ScalarType::Real {
            let bins = (real(Some(to)) - real(self.from.as_ref())) / real(Some(&self.step));
            return if self.inclusive {
                bins.floor() as i64 + 1
            } else {
                bins.ceil() as i64
            };
        }
        let distance = long(Some(to)).saturating_sub(long(self.from.as_ref()));
        let step = long(Some(&self.step)).max(1);
        let whole = distance.div_euclid(step);
        match self.inclusive || distance.rem_euclid(step) != 0 {
            true => whole + 1,
            false => whole,
        }
    }

    /// The array of the bins' starts.
    fn values(&self, first: i64, count: usize, encoder: &mut Encoder) -> Vec<u8> {
        encoder.clear();
        encoder.begin_array();
        for number in (first..).take(count) {
            match self.kind {
                ScalarType::Real => {
                    encoder.real(real(self.from.as_ref()) + number as f64 * real(Some(&self.step)))
                }
                kind => {
                    let value = long(self.from.as_ref())
                        .wrapping_add(number.wrapping_mul(long(Some(&self.step))));
                    match kind {
                        ScalarType::DateTime => Value::DateTime(value).pack(encoder),
                        ScalarType::TimeSpan => Value::TimeSpan(value).pack(encoder),
                        _ => encoder.long(value),
                    }
                }
            }
        }
        encoder.end();
        encoder.finish()
    }
}

fn long(value: Option<&Value>) -> i64 {
    match value {
        Some(Value::Long(v) | Value::DateTime(v) | Value::TimeSpan(v)) => *v,
        _ => 0,
    }
}

fn real(value: Option<&Value>) -> f64 {
    match value {
        Some(Value::Real(v)) => *v,
        _ => 0.0,
    }
}
