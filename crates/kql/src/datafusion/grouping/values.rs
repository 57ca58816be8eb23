//! Numbers for the distinct values of a key.

use std::hash::BuildHasher;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, StringViewArray};
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, exec_err};
use hashbrown::hash_table::{Entry, HashTable};
use hashbrown::{DefaultHashBuilder, HashMap};

/// The distinct values of a key, numbered in the order in which they are found.
#[derive(Debug)]
pub(super) enum Values {
    Texts(Texts),
    Others(Others),
}

/// Distinct texts.
#[derive(Debug, Default)]
pub(super) struct Texts {
    table: HashTable<u32>,
    texts: Vec<Option<Box<str>>>,
    hasher: DefaultHashBuilder,
    null: Option<u32>,
    bytes: usize,
}

/// Distinct values of another type.
#[derive(Debug, Default)]
pub(super) struct Others {
    numbers: HashMap<ScalarValue, u32>,
    values: Vec<ScalarValue>,
}

impl Values {
    /// No values, of this type.
    pub(super) fn new(kind: &DataType) -> Values {
        match kind {
            DataType::Utf8View => Values::Texts(Texts::default()),
            _ => Values::Others(Others::default()),
        }
    }

    /// The number of distinct values.
    pub(super) fn len(&self) -> usize {
        match self {
            Values::Texts(texts) => texts.texts.len(),
            Values::Others(others) => others.values.len(),
        }
    }

    /// Bytes.
    pub(super) fn size(&self) -> usize {
        match self {
            Values::Texts(texts) => {
                texts.bytes + texts.texts.capacity() * 16 + texts.table.capacity() * 8
            }
            Values::Others(others) => others.values.capacity() * 3 * size_of::<ScalarValue>(),
        }
    }

    /// The number of the value at `index` of an array.
    pub(super) fn number(&mut self, array: &ArrayRef, index: usize) -> Result<u32> {
        match self {
            Values::Texts(texts) => match array.as_string_view_opt() {
                Some(array) => texts.number(array.is_valid(index).then(|| array.value(index))),
                None => exec_err!("a key of type {} is no text", array.data_type()),
            },
            Values::Others(others) => others.number(ScalarValue::try_from_array(array, index)?),
        }
    }

    /// The values with these numbers.
    pub(super) fn array(&self, numbers: impl Iterator<Item = u32>) -> Result<ArrayRef> {
        Ok(match self {
            Values::Texts(texts) => {
                let text = |number: u32| texts.texts.get(number as usize)?.as_deref();
                Arc::new(numbers.map(text).collect::<StringViewArray>())
            }
            Values::Others(others) => {
                let value = |number: u32| others.values.get(number as usize).cloned();
                ScalarValue::iter_to_array(numbers.filter_map(value))?
            }
        })
    }
}

impl Texts {
    fn number(&mut self, text: Option<&str>) -> Result<u32> {
        let next = next_number(self.texts.len())?;
        let Some(text) = text else {
            let number = *self.null.get_or_insert(next);
            if number == next {
                self.texts.push(None);
            }
            return Ok(number);
        };
        let (texts, hasher) = (&self.texts, &self.hasher);
        let of = |number: &u32| texts.get(*number as usize).and_then(Option::as_deref);
        let entry = self.table.entry(
            hasher.hash_one(text),
            |number| of(number) == Some(text),
            |number| hasher.hash_one(of(number).unwrap_or_default()),
        );
        match entry {
            Entry::Occupied(found) => Ok(*found.get()),
            Entry::Vacant(place) => {
                place.insert(next);
                self.bytes += text.len();
                self.texts.push(Some(text.into()));
                Ok(next)
            }
        }
    }
}

impl Others {
    fn number(&mut self, value: ScalarValue) -> Result<u32> {
        let next = next_number(self.values.len())?;
        let number = *self.numbers.entry(value.clone()).or_insert(next);
        if number == next {
            self.values.push(value);
        }
        Ok(number)
    }
}

/// The starts of bins of time.
#[derive(Debug)]
pub(super) struct BinStarts {
    width: i64,
    numbers: HashMap<i64, u32>,
    starts: Vec<Option<i64>>,
    null: Option<u32>,
    /// The start of the bin of the latest time, and its number.
    latest: Option<(i64, u32)>,
}

impl BinStarts {
    /// No bins; `width` in ticks is positive.
    pub(super) fn new(width: i64) -> BinStarts {
        BinStarts {
            width,
            numbers: HashMap::new(),
            starts: Vec::new(),
            null: None,
            latest: None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn size(&self) -> usize {
        self.starts.capacity() * 48
    }

    /// The number of the bin of a time.
    pub(super) fn number(&mut self, time: i64) -> Result<u32> {
        self.bin(time).map(|(_, number)| number)
    }

    /// The number of the bin that all of these times have; `None` if they have several.
    pub(super) fn common(&mut self, times: &[i64]) -> Result<Option<u32>> {
        let (Some(first), Some(last)) = (times.first(), times.last()) else {
            return Ok(None);
        };
        let (start, number) = self.bin(*first)?;
        let width = self.width.unsigned_abs();
        let is_outside = |time: &i64| time.wrapping_sub(start) as u64 >= width;
        if is_outside(last) {
            return Ok(None);
        }
        let outside = times.iter().filter(|time| is_outside(time)).count();
        Ok((outside == 0).then_some(number))
    }

    /// The start of the bin of a time, and its number.
    #[inline]
    fn bin(&mut self, time: i64) -> Result<(i64, u32)> {
        match self.latest {
            // The difference is negative, and so far beyond the width, for an earlier bin.
            Some(latest) if (time.wrapping_sub(latest.0) as u64) < self.width.unsigned_abs() => {
                Ok(latest)
            }
            _ => self.find(time),
        }
    }

    fn find(&mut self, time: i64) -> Result<(i64, u32)> {
        let start = time.wrapping_sub(time.rem_euclid(self.width));
        let next = next_number(self.starts.len())?;
        let number = *self.numbers.entry(start).or_insert(next);
        if number == next {
            self.starts.push(Some(start));
        }
        Ok(*self.latest.insert((start, number)))
    }

    /// The number of null.
    pub(super) fn null(&mut self) -> Result<u32> {
        let next = next_number(self.starts.len())?;
        let number = *self.null.get_or_insert(next);
        if number == next {
            self.starts.push(None);
        }
        Ok(number)
    }

    /// The starts of the bins with these numbers.
    pub(super) fn array(&self, numbers: impl Iterator<Item = u32>) -> ArrayRef {
        let start = |number: u32| self.starts.get(number as usize).copied().flatten();
        Arc::new(numbers.map(start).collect::<Int64Array>())
    }
}

/// The next number; the largest is reserved.
fn next_number(count: usize) -> Result<u32> {
    match u32::try_from(count) {
        Ok(number) if number < u32::MAX => Ok(number),
        _ => exec_err!("too many distinct values of a key"),
    }
}
