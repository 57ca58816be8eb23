//! Picks one row per group: the row with the largest or smallest key, or the first row.
//!
//! The state keeps only the rows that win within a batch, as slices of the argument columns. When most of the kept rows have
//! been superseded, the winners are copied into a new batch, so memory is proportional to the winners.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, RecordBatch, RecordBatchOptions, StructArray,
    UInt64Array, new_null_array,
};
use arrow::compute::{interleave, take};
use arrow::datatypes::{
    DataType, Decimal128Type, Field, Fields, Float64Type, Int32Type, Int64Type, Schema,
};
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::EmitTo;

use super::groups::Groups;

/// The rule that picks a row of a group by the first argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// The row with the largest key; NaN is larger than every number, null is smaller than every value.
    Largest,
    /// The row with the smallest key; NaN precedes every number, null is picked last.
    Smallest,
    /// The first row whose key is not null, or the first row if every key is null.
    First,
}

/// A key in a form that can be compared across batches.
#[derive(Debug, Clone, PartialEq)]
enum Key {
    Null,
    Long(i64),
    Real(f64),
    Decimal(i128),
    Text(Box<str>),
}

/// The position of the best row of a group.
#[derive(Debug, Clone)]
struct Best {
    key: Key,
    batch: u32,
    row: u32,
}

/// The best row of each group.
pub struct PickedRows {
    pick: Pick,
    kinds: Vec<DataType>,
    best: Vec<Option<Best>>,
    /// The batches that `best` refers to; each holds all argument columns.
    batches: Vec<Vec<ArrayRef>>,
    kept_rows: usize,
    kept_bytes: usize,
    text_bytes: usize,
}

/// The minimum number of kept rows before the winners are compacted.
const GATHER_AT: usize = 64 * 1024;

impl PickedRows {
    /// Picks rows with columns of these types; the first column is the key.
    pub(crate) fn new(pick: Pick, kinds: Vec<DataType>) -> PickedRows {
        PickedRows {
            pick,
            kinds,
            best: Vec::new(),
            batches: Vec::new(),
            kept_rows: 0,
            kept_bytes: 0,
            text_bytes: 0,
        }
    }

    /// The names of the fields of the result.
    pub fn field_name(index: usize) -> String {
        format!("c{index}")
    }

    /// The type of the result: a struct of all columns.
    pub fn result(kinds: &[DataType]) -> DataType {
        DataType::Struct(fields(kinds))
    }

    fn beats(&self, key: &Key, best: &Key) -> bool {
        if *best == Key::Null {
            return *key != Key::Null;
        }
        match self.pick {
            Pick::First => false,
            Pick::Largest => order(key, best, Ordering::Greater),
            Pick::Smallest => order(key, best, Ordering::Less),
        }
    }

    fn add(
        &mut self,
        columns: &[ArrayRef],
        rows: impl Iterator<Item = (usize, usize)>,
    ) -> Result<()> {
        let Some(keys) = columns.first().map(Keys::of).transpose()? else {
            return Ok(());
        };
        let batch = u32::try_from(self.batches.len()).map_err(|_| too_many())?;
        // The rows of this batch that are currently best, in the numbering of `best`.
        let mut winners: Vec<u64> = Vec::new();
        for (row, group) in rows {
            let Some(slot) = self.best.get(group) else {
                continue;
            };
            if let Some(best) = slot
                && keys.loses(row, &best.key, self.pick)
            {
                continue;
            }
            let key = match self.pick {
                Pick::First if keys.is_null(row) => Key::Null,
                Pick::First => Key::Long(0),
                _ => keys.get(row),
            };
            if slot
                .as_ref()
                .is_some_and(|best| !self.beats(&key, &best.key))
            {
                continue;
            }
            self.text_bytes += key.heap();
            let at = match slot {
                Some(best) if best.batch == batch => best.row,
                _ => {
                    winners.push(0);
                    u32::try_from(winners.len() - 1).map_err(|_| too_many())?
                }
            };
            if let Some(winner) = winners.get_mut(at as usize) {
                *winner = row as u64;
            }
            if let Some(slot) = self.best.get_mut(group) {
                let beaten = slot.as_ref().map_or(0, |best| best.key.heap());
                self.text_bytes = self.text_bytes.saturating_sub(beaten);
                *slot = Some(Best {
                    key,
                    batch,
                    row: at,
                });
            }
        }
        self.keep(columns, winners)
    }

    fn keep(&mut self, columns: &[ArrayRef], winners: Vec<u64>) -> Result<()> {
        if winners.is_empty() {
            return Ok(());
        }
        let winners = UInt64Array::from(winners);
        let rows = columns
            .iter()
            .map(|column| compact(take(column, &winners, None)?))
            .collect::<Result<Vec<_>>>()?;
        self.kept_rows += winners.len();
        self.kept_bytes += rows
            .iter()
            .map(|r| r.get_array_memory_size())
            .sum::<usize>();
        self.batches.push(rows);
        if self.kept_rows > GATHER_AT.max(2 * self.best.len()) {
            self.gather_winners()?;
        }
        Ok(())
    }

    /// Compacts the kept batches to the winners.
    fn gather_winners(&mut self) -> Result<()> {
        let places: Vec<(usize, usize)> = self
            .best
            .iter()
            .flatten()
            .map(|best| (best.batch as usize, best.row as usize))
            .collect();
        let rows = self.gather(&places)?;
        for (row, best) in (0..).zip(self.best.iter_mut().flatten()) {
            best.batch = 0;
            best.row = row;
        }
        self.kept_rows = places.len();
        self.kept_bytes = rows.iter().map(|r| r.get_array_memory_size()).sum();
        self.batches = vec![rows];
        Ok(())
    }

    fn gather(&self, places: &[(usize, usize)]) -> Result<Vec<ArrayRef>> {
        (0..self.kinds.len())
            .map(|column| {
                let parts: Vec<&dyn Array> = self
                    .batches
                    .iter()
                    .filter_map(|rows| rows.get(column).map(|array| array.as_ref()))
                    .collect();
                compact(interleave(&parts, places)?)
            })
            .collect()
    }

    /// The picked rows of the groups selected by `emit`, and a mask of the groups that had a row.
    fn emit(&mut self, emit: EmitTo) -> Result<(Vec<ArrayRef>, BooleanArray)> {
        let best = emit.take_needed(&mut self.best);
        let nothing = self.batches.len();
        let nulls = self
            .kinds
            .iter()
            .map(|kind| new_null_array(kind, 1))
            .collect();
        self.batches.push(nulls);
        let places: Vec<(usize, usize)> = best
            .iter()
            .map(|best| match best {
                Some(best) => (best.batch as usize, best.row as usize),
                None => (nothing, 0),
            })
            .collect();
        let rows = self.gather(&places)?;
        self.batches.pop();
        let freed: usize = best.iter().flatten().map(|b| b.key.heap()).sum();
        self.text_bytes = self.text_bytes.saturating_sub(freed);
        if self.best.is_empty() {
            self.batches.clear();
            self.kept_rows = 0;
            self.kept_bytes = 0;
        } else {
            self.gather_winners()?;
        }
        let seen = BooleanArray::from_iter(best.iter().map(|best| Some(best.is_some())));
        Ok((rows, seen))
    }
}

fn too_many() -> DataFusionError {
    DataFusionError::Execution("too many batches in one aggregation".to_owned())
}

fn fields(kinds: &[DataType]) -> Fields {
    kinds
        .iter()
        .enumerate()
        .map(|(index, kind)| Field::new(PickedRows::field_name(index), kind.clone(), true))
        .collect()
}

/// Views refer to the buffers of whole batches: the used values are copied so that the buffers can be freed.
fn compact(array: ArrayRef) -> Result<ArrayRef> {
    Ok(match array.data_type() {
        DataType::Utf8View => Arc::new(array.as_string_view().gc()),
        DataType::BinaryView => Arc::new(array.as_binary_view().gc()),
        _ => array,
    })
}

fn order(key: &Key, best: &Key, expected: Ordering) -> bool {
    match (key, best) {
        (Key::Long(a), Key::Long(b)) => a.cmp(b) == expected,
        (Key::Decimal(a), Key::Decimal(b)) => a.cmp(b) == expected,
        (Key::Text(a), Key::Text(b)) => a.cmp(b) == expected,
        (Key::Real(a), Key::Real(b)) => {
            !b.is_nan() && (a.is_nan() || a.partial_cmp(b) == Some(expected))
        }
        _ => false,
    }
}

impl Key {
    fn heap(&self) -> usize {
        match self {
            Key::Text(text) => text.len(),
            _ => 0,
        }
    }
}

/// The key column of a batch.
enum Keys<'a> {
    Longs(&'a arrow::array::Int64Array),
    Ints(&'a arrow::array::Int32Array),
    Bools(&'a BooleanArray),
    Reals(&'a arrow::array::Float64Array),
    Decimals(&'a arrow::array::Decimal128Array),
    Texts(&'a arrow::array::StringViewArray),
    /// An unordered type: the key only distinguishes null from not null.
    Other(&'a ArrayRef),
}

impl<'a> Keys<'a> {
    fn of(array: &'a ArrayRef) -> Result<Keys<'a>> {
        Ok(match array.data_type() {
            DataType::Int64 => Keys::Longs(array.as_primitive::<Int64Type>()),
            DataType::Int32 => Keys::Ints(array.as_primitive::<Int32Type>()),
            DataType::Boolean => Keys::Bools(array.as_boolean()),
            DataType::Float64 => Keys::Reals(array.as_primitive::<Float64Type>()),
            DataType::Decimal128(_, _) => Keys::Decimals(array.as_primitive::<Decimal128Type>()),
            DataType::Utf8View => Keys::Texts(array.as_string_view()),
            _ => Keys::Other(array),
        })
    }

    fn is_null(&self, row: usize) -> bool {
        match self {
            Keys::Longs(a) => a.is_null(row),
            Keys::Ints(a) => a.is_null(row),
            Keys::Bools(a) => a.is_null(row),
            Keys::Reals(a) => a.is_null(row),
            Keys::Decimals(a) => a.is_null(row),
            Keys::Texts(a) => a.is_null(row),
            Keys::Other(a) => a.is_null(row),
        }
    }

    fn get(&self, row: usize) -> Key {
        if self.is_null(row) {
            return Key::Null;
        }
        match self {
            Keys::Longs(a) => Key::Long(a.value(row)),
            Keys::Ints(a) => Key::Long(i64::from(a.value(row))),
            Keys::Bools(a) => Key::Long(i64::from(a.value(row))),
            Keys::Reals(a) => Key::Real(a.value(row)),
            Keys::Decimals(a) => Key::Decimal(a.value(row)),
            Keys::Texts(a) => Key::Text(a.value(row).into()),
            Keys::Other(_) => Key::Long(0),
        }
    }

    /// Whether the row is certainly not picked, determined without copying a string.
    fn loses(&self, row: usize, best: &Key, pick: Pick) -> bool {
        match (self, best) {
            (Keys::Texts(a), Key::Text(best)) => match pick {
                Pick::Largest => a.value(row) <= best.as_ref(),
                Pick::Smallest => a.is_null(row) || a.value(row) >= best.as_ref(),
                Pick::First => true,
            },
            (Keys::Longs(a), Key::Long(best)) => match pick {
                Pick::Largest => a.is_null(row) || a.value(row) <= *best,
                Pick::Smallest => a.is_null(row) || a.value(row) >= *best,
                Pick::First => true,
            },
            _ => false,
        }
    }
}

impl Groups for PickedRows {
    fn grow(&mut self, total: usize) {
        self.best.resize(total, None);
    }

    fn update(&mut self, values: &[ArrayRef], groups: &[usize]) -> Result<()> {
        self.add(values, groups.iter().copied().enumerate())
    }

    fn merge(&mut self, states: &[ArrayRef], groups: &[usize]) -> Result<()> {
        let Some((seen, columns)) = states.split_last() else {
            return Ok(());
        };
        let seen = seen.as_boolean();
        let rows = groups.iter().copied().enumerate();
        self.add(columns, rows.filter(|(row, _)| seen.value(*row)))
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let (rows, _) = self.emit(emit)?;
        let count = rows.first().map_or(0, |r| r.len());
        // A record batch validates types and lengths, and is then converted to a struct.
        let batch = RecordBatch::try_new_with_options(
            Arc::new(Schema::new(fields(&self.kinds))),
            rows,
            &RecordBatchOptions::new().with_row_count(Some(count)),
        )?;
        Ok(Arc::new(StructArray::from(batch)))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        let (mut rows, seen) = self.emit(emit)?;
        rows.push(Arc::new(seen));
        Ok(rows)
    }

    fn size(&self) -> usize {
        self.best.capacity() * size_of::<Option<Best>>() + self.kept_bytes + self.text_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Float64Array, Int64Array, StringViewArray};

    fn check(pick: Pick, keys: ArrayRef, expected: &[&str]) {
        let names: ArrayRef = Arc::new(StringViewArray::from(vec!["a", "b", "c", "d", "e", "f"]));
        let kinds = vec![keys.data_type().clone(), DataType::Utf8View];
        let groups = [0, 0, 0, 1, 1, 1];
        let mut one = PickedRows::new(pick, kinds.clone());
        one.grow(2);
        one.update(&[Arc::clone(&keys), Arc::clone(&names)], &groups)
            .unwrap();
        // The same rows merged from partial states, one row at a time.
        let mut merged = PickedRows::new(pick, kinds.clone());
        merged.grow(2);
        for row in 0..6 {
            let mut part = PickedRows::new(pick, kinds.clone());
            part.grow(2);
            part.update(
                &[keys.slice(row, 1), names.slice(row, 1)],
                &groups[row..=row],
            )
            .unwrap();
            merged
                .merge(&part.state(EmitTo::All).unwrap(), &[0, 1])
                .unwrap();
        }
        for mut rows in [one, merged] {
            let result = rows.evaluate(EmitTo::All).unwrap();
            let picked = result.as_struct().column(1).as_string_view();
            let picked: Vec<&str> = picked.iter().map(|name| name.unwrap_or("null")).collect();
            assert_eq!(picked, expected);
        }
    }

    #[test]
    fn the_first_of_the_best_rows_is_picked() {
        let longs = || {
            Arc::new(Int64Array::from(vec![
                Some(2),
                Some(3),
                Some(3),
                None,
                Some(-1),
                None,
            ]))
        };
        check(Pick::Largest, longs(), &["b", "e"]);
        check(Pick::Smallest, longs(), &["a", "e"]);
        check(Pick::First, longs(), &["a", "e"]);
    }

    #[test]
    fn nan_wins_and_null_loses() {
        let reals = || {
            Arc::new(Float64Array::from(vec![
                Some(2.0),
                Some(f64::NAN),
                Some(9.0),
                None,
                None,
                None,
            ]))
        };
        check(Pick::Largest, reals(), &["b", "d"]);
        check(Pick::Smallest, reals(), &["b", "d"]);
    }

    #[test]
    fn texts_are_ordered_by_code_unit() {
        let texts = || Arc::new(StringViewArray::from(vec!["b", "B", "a", "", "x", "y"]));
        check(Pick::Largest, texts(), &["a", "f"]);
        check(Pick::Smallest, texts(), &["b", "d"]);
    }
}
