//! The row work of `make-series`: collects the bins of each key into arrays.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BinaryViewBuilder, RecordBatch};
use arrow::buffer::Buffer;
use arrow::compute::{interleave, max, min};
use arrow::datatypes::SchemaRef;
use arrow::row::{OwnedRow, Row, RowConverter, SortField};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use hindsight_kql_types::{Encoder, ScalarType, Value};

use crate::encoder::{encoder, finished};
use crate::kernel::KernelError;
use crate::transform::{
    HeldBuffers, MAX_BATCH_BYTES, MAX_BATCH_ROWS, READS_ONE_STREAM, Reads, Transform,
    TransformMessage, TransformState, long_column,
};
use crate::value::value_from_scalar;

/// The maximum number of bins of a series (`docs/semantics.md §19`).
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

/// Turns one row for each key and bin into one row for each key.
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

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        Err(READS_ONE_STREAM)
    }

    fn start(&self, input: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>> {
        let keys = indices(input, self.keys.iter())?;
        let fields = keys
            .iter()
            .filter_map(|i| input.fields().get(*i))
            .map(|field| SortField::new(field.data_type().clone()))
            .collect();
        Ok(Box::new(State {
            series: indices(input, self.series.iter().map(|s| &s.name))?,
            converter: RowConverter::new(fields)?,
            keys,
            work: self.clone(),
            output: Arc::clone(output),
            batches: Vec::new(),
            held: HeldBuffers::default(),
            least: None,
            greatest: None,
            groups: Vec::new(),
            places: HashMap::new(),
            bytes: 0,
            bins: None,
            next: 0,
            encoder: encoder(),
        }))
    }
}

fn indices<'n>(schema: &SchemaRef, names: impl Iterator<Item = &'n String>) -> Result<Vec<usize>> {
    names.map(|name| Ok(schema.index_of(name)?)).collect()
}

/// A row of the input: the index of its batch, and its index in the batch.
type Place = (usize, usize);

/// The rows of one key: its first row, and the row of each bin that is not empty.
struct Group {
    first: Place,
    rows: Vec<(i64, Place)>,
}

/// The bins of every series.
struct Bins {
    first: i64,
    count: usize,
    /// The starts of the bins, encoded as one array.
    axis: Buffer,
}

struct State {
    work: SeriesRows,
    output: SchemaRef,
    keys: Vec<usize>,
    series: Vec<usize>,
    converter: RowConverter,
    batches: Vec<RecordBatch>,
    held: HeldBuffers,
    /// The numbers of the first and the last non-empty bin.
    least: Option<i64>,
    greatest: Option<i64>,
    groups: Vec<Group>,
    places: HashMap<OwnedRow, usize>,
    /// The size of the groups in bytes.
    bytes: usize,
    /// Set when the input has ended.
    bins: Option<Bins>,
    next: usize,
    encoder: Encoder,
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let bins = long_column(&batch, &self.work.bin)?;
        self.least = [self.least, min(&bins)].into_iter().flatten().min();
        self.greatest = self.greatest.max(max(&bins));
        let number = self.batches.len();
        let keys = columns(&batch, &self.keys);
        let keys = if keys.is_empty() {
            None
        } else {
            Some(self.converter.convert_columns(&keys)?)
        };
        for row in 0..batch.num_rows() {
            let place = (number, row);
            let group = match &keys {
                Some(keys) => self.group(keys.row(row), place),
                None => self.only_group(),
            };
            if bins.is_valid(row)
                && let Some(group) = self.groups.get_mut(group)
            {
                group.rows.push((bins.value(row), place));
                self.bytes += size_of::<(i64, Place)>();
            }
        }
        self.held.add(&batch);
        self.batches.push(batch);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        if self.batches.is_empty() && !self.work.nonempty {
            return Ok(());
        }
        let Some((first, count)) = self.work.axis.bins(self.least, self.greatest)? else {
            return Ok(());
        };
        if self.keys.is_empty() {
            self.only_group();
        }
        self.work.axis.write(first, count, &mut self.encoder);
        let axis = Buffer::from_vec(finished(&mut self.encoder, "make-series")?);
        self.bins = Some(Bins { first, count, axis });
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        let Some(bins) = &self.bins else {
            return Ok(None);
        };
        let mut outputs: Vec<BinaryViewBuilder> = Vec::new();
        outputs.resize_with(self.series.len(), BinaryViewBuilder::new);
        let (mut places, mut bytes) = (Vec::new(), 0);
        while places.len() < MAX_BATCH_ROWS && bytes < MAX_BATCH_BYTES {
            let Some(group) = self.groups.get_mut(self.next) else {
                break;
            };
            self.next += 1;
            places.push(group.first);
            group.rows.sort_by_key(|(bin, _)| *bin);
            for (position, output) in outputs.iter_mut().enumerate() {
                let encoder = &mut self.encoder;
                let (series, column) = (&self.work.series, &self.series);
                if let (Some(series), Some(column)) = (series.get(position), column.get(position)) {
                    write_series(series, *column, bins, group, &self.batches, encoder)?;
                }
                let array = finished(encoder, "make-series")?;
                bytes += array.len();
                output.append_value(&array);
            }
        }
        if places.is_empty() {
            return Ok(None);
        }
        let mut arrays = self.key_arrays(&places)?;
        let series = outputs.iter_mut().map(|o| Arc::new(o.finish()) as ArrayRef);
        arrays.extend(series);
        arrays.push(axes(&bins.axis, places.len())?);
        let batch = RecordBatch::try_new(Arc::clone(&self.output), arrays)?;
        Ok(Some(batch))
    }

    fn memory(&self) -> usize {
        self.held.bytes() + self.bytes
    }
}

fn columns(batch: &RecordBatch, indices: &[usize]) -> Vec<ArrayRef> {
    let column = |index: &usize| batch.columns().get(*index).cloned();
    indices.iter().filter_map(column).collect()
}

fn failed(message: String) -> DataFusionError {
    DataFusionError::External(Box::new(KernelError::Failed(message)))
}

/// The array of bin starts, repeated this many times; the views share its bytes.
fn axes(axis: &Buffer, rows: usize) -> Result<ArrayRef> {
    let mut out = BinaryViewBuilder::with_capacity(rows);
    let length = u32::try_from(axis.len()).unwrap_or(u32::MAX);
    let block = out.append_block(axis.clone());
    for _ in 0..rows {
        out.try_append_view(block, 0, length)?;
    }
    Ok(Arc::new(out.finish()))
}

impl State {
    /// Returns the group of a key.
    fn group(&mut self, key: Row<'_>, place: Place) -> usize {
        *self.places.entry(key.owned()).or_insert_with(|| {
            self.bytes += key.as_ref().len() + size_of::<(OwnedRow, usize)>() + size_of::<Group>();
            self.groups.push(Group {
                first: place,
                rows: Vec::new(),
            });
            self.groups.len() - 1
        })
    }

    /// Returns the group of all rows.
    fn only_group(&mut self) -> usize {
        if self.groups.is_empty() {
            self.groups.push(Group {
                first: (0, 0),
                rows: Vec::new(),
            });
        }
        0
    }

    /// The keys of these rows.
    fn key_arrays(&self, places: &[Place]) -> Result<Vec<ArrayRef>> {
        let key = |index: &usize| {
            let parts: Vec<&dyn Array> = self
                .batches
                .iter()
                .filter_map(|batch| batch.columns().get(*index).map(AsRef::as_ref))
                .collect();
            Ok(interleave(&parts, places)?)
        };
        self.keys.iter().map(key).collect()
    }
}

/// Writes the values of all bins as an array. If several rows have the same bin, the last one is used.
fn write_series(
    series: &Series,
    column: usize,
    bins: &Bins,
    group: &Group,
    batches: &[RecordBatch],
    encoder: &mut Encoder,
) -> Result<()> {
    let mut rows = group.rows.iter().peekable();
    encoder.begin_array();
    for bin in (bins.first..).take(bins.count) {
        let mut found = None;
        while let Some((at, place)) = rows.next_if(|(at, _)| *at <= bin) {
            // Values before the first bin belong to no bin.
            found = (*at == bin).then_some(*place);
        }
        let Some((batch, row)) = found else {
            series.default.pack(encoder);
            continue;
        };
        let array = batches.get(batch).and_then(|b| b.columns().get(column));
        let array =
            array.ok_or_else(|| DataFusionError::Internal("a series is missing".to_owned()))?;
        let scalar = ScalarValue::try_from_array(array, row)?;
        value_from_scalar(&scalar, series.kind)
            .unwrap_or_else(|| Value::null(series.kind))
            .pack(encoder);
    }
    encoder.end();
    Ok(())
}

impl Axis {
    /// The number of the first bin and the number of bins; none if the bounds are reversed.
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
            return Err(failed(format!(
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
        let distance = units(Some(to)).saturating_sub(units(self.from.as_ref()));
        let step = units(Some(&self.step)).max(1);
        let whole = distance.div_euclid(step);
        let part = self.inclusive || distance.rem_euclid(step) != 0;
        let end = whole.saturating_add(i128::from(part));
        i64::try_from(end).unwrap_or(if end < 0 { i64::MIN } else { i64::MAX })
    }

    /// Writes the array of bin starts.
    fn write(&self, first: i64, count: usize, encoder: &mut Encoder) {
        encoder.clear();
        encoder.begin_array();
        for number in (first..).take(count) {
            match self.kind {
                ScalarType::Real => {
                    encoder.real(real(self.from.as_ref()) + number as f64 * real(Some(&self.step)))
                }
                kind => {
                    let step = i128::from(number).saturating_mul(units(Some(&self.step)));
                    let value = units(self.from.as_ref()).saturating_add(step);
                    match kind {
                        ScalarType::Decimal => Value::Decimal(value).pack(encoder),
                        ScalarType::DateTime => Value::DateTime(value as i64).pack(encoder),
                        ScalarType::TimeSpan => Value::TimeSpan(value as i64).pack(encoder),
                        _ => encoder.long(value as i64),
                    }
                }
            }
        }
        encoder.end();
    }
}

/// The value of an exact axis in its smallest unit: an integer, ticks, or a decimal as it is stored.
fn units(value: Option<&Value>) -> i128 {
    match value {
        Some(Value::Long(v) | Value::DateTime(v) | Value::TimeSpan(v)) => i128::from(*v),
        Some(Value::Decimal(v)) => *v,
        _ => 0,
    }
}

fn real(value: Option<&Value>) -> f64 {
    match value {
        Some(Value::Real(v)) => *v,
        _ => 0.0,
    }
}
