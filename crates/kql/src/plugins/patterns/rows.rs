//! The row work of the mining plug-ins: numbers the values of all columns, mines the patterns and returns them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, Float64Array, RecordBatch};
use arrow::compute::interleave;
use arrow::datatypes::SchemaRef;
use arrow::row::{OwnedRow, RowConverter, SortField};
use datafusion::common::{DataFusionError, Result, cast::as_float64_array};

use super::mining::{Found, Table};
use super::rule::Rule;
use crate::transform::{
    HeldBuffers, MAX_BATCH_ROWS, READS_ONE_STREAM, Reads, Transform, TransformMessage,
    TransformState, long_column,
};
use crate::work::CancellationToken;

/// Mines patterns. The fields of the input are the attributes, then the weight (a real) and the set (0 or 1) of each row.
/// The fields of the output are the weights of the rows of a pattern and of all rows, in both sets, then for each attribute
/// its value and whether the pattern has one.
#[derive(Debug, Clone)]
pub(super) struct Mine {
    pub(super) rule: Rule,
    /// The number of attributes.
    pub(super) width: usize,
}

/// The field of the input with the weight of a row.
pub(super) const WEIGHT: &str = "$weight";

/// The field of the input with the set of a row.
pub(super) const SIDE: &str = "$side";

/// The fields of the output before the attributes.
pub(super) const WEIGHTS: [&str; 4] = ["$weight0", "$weight1", "$total0", "$total1"];

impl Transform for Mine {
    fn name(&self) -> &'static str {
        "MinePatterns"
    }

    fn reads(&self) -> Reads {
        Reads::OneStream
    }

    fn message(&self) -> std::result::Result<TransformMessage, &'static str> {
        Err(READS_ONE_STREAM)
    }

    fn start(&self, input: &SchemaRef, output: &SchemaRef) -> Result<Box<dyn TransformState>> {
        let columns = input.fields().iter().take(self.width).map(|field| {
            let sort = SortField::new(field.data_type().clone());
            Ok(Values {
                converter: RowConverter::new(vec![sort])?,
                numbers: HashMap::new(),
                places: Vec::new(),
                bytes: 0,
            })
        });
        Ok(Box::new(State {
            rule: self.rule,
            schema: Arc::clone(output),
            values: columns.collect::<Result<_>>()?,
            table: Table {
                width: self.width,
                ..Table::default()
            },
            batches: Vec::new(),
            held: HeldBuffers::default(),
            cancellation: CancellationToken::current(),
            ready: Vec::new().into_iter(),
        }))
    }
}

/// The distinct values of a column.
struct Values {
    converter: RowConverter,
    /// The number of each value.
    numbers: HashMap<OwnedRow, u32>,
    /// A batch and a row with each value.
    places: Vec<(usize, usize)>,
    bytes: usize,
}

struct State {
    rule: Rule,
    schema: SchemaRef,
    values: Vec<Values>,
    table: Table,
    batches: Vec<RecordBatch>,
    held: HeldBuffers,
    cancellation: CancellationToken,
    ready: std::vec::IntoIter<RecordBatch>,
}

impl Values {
    /// The numbers of the values of `column` in the batch `batch`.
    fn number(&mut self, column: &ArrayRef, batch: usize) -> Result<Vec<u32>> {
        let rows = self.converter.convert_columns(&[Arc::clone(column)])?;
        let mut numbers = Vec::with_capacity(rows.num_rows());
        for (index, row) in rows.iter().enumerate() {
            let row = row.owned();
            let next = self.places.len() as u32;
            let number = *self.numbers.entry(row).or_insert(next);
            if number == next {
                self.places.push((batch, index));
                self.bytes += size_of::<(OwnedRow, u32)>() + rows.row(index).data().len();
            }
            numbers.push(number);
        }
        Ok(numbers)
    }
}

impl TransformState for State {
    fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let weights = batch
            .column_by_name(WEIGHT)
            .ok_or_else(|| DataFusionError::Internal("no weights".to_owned()))?;
        self.table.weights.extend(
            as_float64_array(weights)?
                .iter()
                .map(Option::unwrap_or_default),
        );
        let sides = long_column(&batch, SIDE)?;
        self.table
            .sides
            .extend(sides.iter().map(|side| usize::from(side == Some(1))));
        let number = self.batches.len();
        let columns = batch.columns().iter().zip(&mut self.values);
        let columns = columns.map(|(column, values)| values.number(column, number));
        let columns = columns.collect::<Result<Vec<Vec<u32>>>>()?;
        for row in 0..batch.num_rows() {
            let cells = columns.iter().filter_map(|column| column.get(row));
            self.table.cells.extend(cells);
        }
        self.held.add(&batch);
        self.batches.push(batch);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.number_by_value();
        let found = self.rule.patterns(&self.table, &self.cancellation)?;
        let totals = self.table.weigh(&self.table.rows());
        let batches = found
            .chunks(MAX_BATCH_ROWS)
            .map(|found| self.shown(found, totals));
        self.ready = batches.collect::<Result<Vec<_>>>()?.into_iter();
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<RecordBatch>> {
        Ok(self.ready.next())
    }

    fn memory(&self) -> usize {
        let values: usize = self.values.iter().map(|values| values.bytes).sum();
        let cells = self.table.cells.len() * size_of::<u32>();
        // The search makes three more lists of rows at most.
        let rows = self.table.weights.len() * (size_of::<f64>() + 4 * size_of::<usize>());
        self.held.bytes() + values + cells + rows
    }
}

impl State {
    /// Numbers the values of each column in their order, so that the order of the rows does not matter.
    fn number_by_value(&mut self) {
        for (column, values) in self.values.iter_mut().enumerate() {
            let mut sorted: Vec<(OwnedRow, u32)> = values.numbers.drain().collect();
            sorted.sort();
            let mut ranks = vec![0_u32; sorted.len()];
            for (rank, (_, number)) in (0..).zip(&sorted) {
                if let Some(place) = ranks.get_mut(*number as usize) {
                    *place = rank;
                }
            }
            let places = sorted
                .iter()
                .filter_map(|(_, n)| values.places.get(*n as usize));
            values.places = places.copied().collect();
            let cells = self.table.cells.iter_mut().skip(column);
            for cell in cells.step_by(self.table.width) {
                *cell = ranks.get(*cell as usize).copied().unwrap_or_default();
            }
        }
    }

    fn shown(&self, found: &[Found], totals: [f64; 2]) -> Result<RecordBatch> {
        let reals = |value: &dyn Fn(&Found) -> f64| -> ArrayRef {
            Arc::new(Float64Array::from_iter_values(found.iter().map(value)))
        };
        let mut columns: Vec<ArrayRef> = vec![
            reals(&|found| found.weights[0]),
            reals(&|found| found.weights[1]),
            reals(&|_| totals[0]),
            reals(&|_| totals[1]),
        ];
        for (index, values) in self.values.iter().enumerate() {
            let numbers = || {
                found
                    .iter()
                    .map(|f| f.pattern.get(index).copied().flatten())
            };
            columns.push(self.cells(index, values, numbers())?);
            let has = numbers().map(|number| Some(number.is_some()));
            columns.push(Arc::new(has.collect::<BooleanArray>()));
        }
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }

    /// The values of a column by their numbers. Where there is none, any value stands.
    fn cells(
        &self,
        column: usize,
        values: &Values,
        numbers: impl Iterator<Item = Option<u32>>,
    ) -> Result<ArrayRef> {
        let arrays: Vec<&dyn Array> = self
            .batches
            .iter()
            .map(|batch| batch.column(column).as_ref())
            .collect();
        let place = |number: Option<u32>| values.places.get(number.unwrap_or(0) as usize).copied();
        let places: Vec<(usize, usize)> = numbers.map(|n| place(n).unwrap_or((0, 0))).collect();
        Ok(interleave(&arrays, &places)?)
    }
}
