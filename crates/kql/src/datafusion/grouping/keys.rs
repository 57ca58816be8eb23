//! The number of each row's value of a key.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType, Int64Type};
use arrow::record_batch::RecordBatch;
use datafusion::common::{Result, exec_err};

use super::dictionary::{CodedValues, dictionary_of};
use super::plan::Key;
use super::values::{BinStarts, Values};

/// A value that was not numbered.
const UNKNOWN: u32 = u32::MAX;

/// Numbers the values of a key.
#[derive(Debug)]
pub(super) enum KeyNumbers {
    Coded(CodedNumbers),
    Bins { column: usize, starts: BinStarts },
}

/// Numbers the values of an expression over a dictionary.
#[derive(Debug)]
pub(super) struct CodedNumbers {
    coded: CodedValues,
    values: Values,
    /// The number for each code of the latest dictionary.
    of_codes: Vec<u32>,
}

/// The numbers of the rows of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbers {
    /// All rows have this one.
    Same(u32),
    /// Each row has one of its own.
    Rows,
}

impl KeyNumbers {
    /// The numbers of a key with values of this type.
    pub(super) fn new(key: &Key, kind: &DataType) -> KeyNumbers {
        match key {
            Key::Coded(coded) => KeyNumbers::Coded(CodedNumbers {
                coded: CodedValues::new(coded.clone()),
                values: Values::new(kind),
                of_codes: Vec::new(),
            }),
            Key::Bins { column, width } => KeyNumbers::Bins {
                column: *column,
                starts: BinStarts::new(*width),
            },
        }
    }

    /// The number of distinct values.
    pub(super) fn len(&self) -> usize {
        match self {
            KeyNumbers::Coded(coded) => coded.values.len(),
            KeyNumbers::Bins { starts, .. } => starts.len(),
        }
    }

    /// Bytes.
    pub(super) fn size(&self) -> usize {
        match self {
            KeyNumbers::Coded(coded) => coded.values.size() + coded.of_codes.capacity() * 4,
            KeyNumbers::Bins { starts, .. } => starts.size(),
        }
    }

    /// The numbers of the rows of a batch, in `rows` unless all are the same.
    pub(super) fn of(&mut self, batch: &RecordBatch, rows: &mut Vec<u32>) -> Result<Numbers> {
        rows.clear();
        match self {
            KeyNumbers::Coded(coded) => coded.of(batch, rows),
            KeyNumbers::Bins { column, starts } => bins(batch, *column, starts, rows),
        }
    }

    /// The values with these numbers.
    pub(super) fn array(&self, numbers: impl Iterator<Item = u32>) -> Result<ArrayRef> {
        match self {
            KeyNumbers::Coded(coded) => coded.values.array(numbers),
            KeyNumbers::Bins { starts, .. } => Ok(starts.array(numbers)),
        }
    }
}

impl CodedNumbers {
    fn of(&mut self, batch: &RecordBatch, rows: &mut Vec<u32>) -> Result<Numbers> {
        let dictionary = dictionary_of(batch, self.coded.column())?;
        let (values, is_new) = self.coded.of(dictionary.values());
        let Some(values) = values else {
            let values = self.coded.of_rows(dictionary)?;
            for row in 0..values.len() {
                rows.push(self.values.number(&values, row)?);
            }
            return Ok(Numbers::Rows);
        };
        if is_new {
            self.of_codes.clear();
            self.of_codes.resize(values.len(), UNKNOWN);
        }
        let codes = dictionary.keys().values();
        let known = |code: &u32| self.of_codes.get(*code as usize).copied();
        rows.extend(codes.iter().map(|code| known(code).unwrap_or(UNKNOWN)));
        if rows.contains(&UNKNOWN) {
            for (row, code) in rows.iter_mut().zip(codes) {
                if let Some(number) = self.of_codes.get_mut(*code as usize) {
                    if *number == UNKNOWN {
                        *number = self.values.number(values, *code as usize)?;
                    }
                    *row = *number;
                }
            }
        }
        Ok(Numbers::Rows)
    }
}

fn bins(
    batch: &RecordBatch,
    column: usize,
    starts: &mut BinStarts,
    rows: &mut Vec<u32>,
) -> Result<Numbers> {
    let Some(times) = batch
        .columns()
        .get(column)
        .and_then(|c| c.as_primitive_opt::<Int64Type>())
    else {
        return exec_err!("column {column} has no times");
    };
    if times.null_count() > 0 {
        for time in times {
            rows.push(match time {
                Some(time) => starts.number(time)?,
                None => starts.null()?,
            });
        }
        return Ok(Numbers::Rows);
    }
    if let Some(number) = starts.common(times.values())? {
        return Ok(Numbers::Same(number));
    }
    for time in times.values() {
        rows.push(starts.number(*time)?);
    }
    Ok(Numbers::Rows)
}
