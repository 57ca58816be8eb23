//! Numbers distinct keys.

use std::hash::BuildHasher;
use std::ops::Range;

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use arrow::row::{RowConverter, Rows, SortField};
use datafusion::common::{DataFusionError, Result};
use hashbrown::{DefaultHashBuilder, HashTable};

/// The numbers of distinct keys, from 0 in the order in which they came. It consists of a few flat tables, so that millions
/// of keys are dropped quickly. Nulls are equal to one another.
pub(crate) struct KeyNumbers {
    converter: RowConverter,
    /// The numbers, by the hash of their keys.
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
    /// All keys in one buffer, and the end of each.
    keys: Vec<u8>,
    ends: Vec<usize>,
}

impl KeyNumbers {
    /// Creates an empty container for keys of these types.
    pub(crate) fn new(kinds: impl Iterator<Item = DataType>) -> Result<KeyNumbers> {
        Ok(KeyNumbers {
            converter: RowConverter::new(kinds.map(SortField::new).collect())?,
            table: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
            keys: Vec::new(),
            ends: Vec::new(),
        })
    }

    /// The keys of rows, in the form that [`KeyNumbers::number`] takes.
    pub(crate) fn encode(&self, columns: &[ArrayRef]) -> Result<Rows> {
        Ok(self.converter.convert_columns(columns)?)
    }

    /// The number of a key.
    ///
    /// # Errors
    /// The numbers are exhausted.
    pub(crate) fn number(&mut self, key: &[u8]) -> Result<u32> {
        let hash = self.hasher.hash_one(key);
        let (keys, ends, hasher) = (&self.keys, &self.ends, &self.hasher);
        let same = |number: &u32| key_of(keys, ends, *number) == key;
        if let Some(number) = self.table.find(hash, same) {
            return Ok(*number);
        }
        let number = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        if number == u32::MAX {
            let message = format!("one operator distinguishes at most {} keys", u32::MAX);
            return Err(DataFusionError::ResourcesExhausted(message));
        }
        let rehash = |number: &u32| hasher.hash_one(key_of(keys, ends, *number));
        self.table.insert_unique(hash, number, rehash);
        self.keys.extend_from_slice(key);
        self.ends.push(self.keys.len());
        Ok(number)
    }

    /// The number of keys.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The keys with these numbers as columns.
    pub(crate) fn columns(&self, numbers: &[u32]) -> Result<Vec<ArrayRef>> {
        let parser = self.converter.parser();
        let keys = numbers.iter();
        let keys = keys.map(|number| parser.parse(key_of(&self.keys, &self.ends, *number)));
        Ok(self.converter.convert_rows(keys)?)
    }

    /// The size of the tables in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.table.allocation_size()
            + self.keys.capacity()
            + self.ends.capacity() * size_of::<usize>()
    }
}

/// The key with this number.
fn key_of<'k>(keys: &'k [u8], ends: &[usize], number: u32) -> &'k [u8] {
    keys.get(range_of(ends, number)).unwrap_or_default()
}

fn range_of(ends: &[usize], number: u32) -> Range<usize> {
    let number = number as usize;
    let start = number.checked_sub(1).and_then(|before| ends.get(before));
    start.copied().unwrap_or(0)..ends.get(number).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Array, AsArray, Int64Array};
    use arrow::datatypes::Int64Type;

    use super::*;

    #[test]
    fn equal_keys_have_one_number_and_are_read_back() {
        let mut numbers = KeyNumbers::new([DataType::Int64].into_iter()).expect("numbers compare");
        let column: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), None, Some(7), Some(1)]));
        let keys = numbers.encode(&[column]).expect("they can be encoded");
        let found: Vec<u32> = keys
            .iter()
            .map(|key| numbers.number(key.data()).expect("there are numbers left"))
            .collect();
        assert_eq!(found, [0, 1, 0, 2]);
        assert_eq!(numbers.len(), 3);
        let columns = numbers.columns(&[2, 1]).expect("they can be decoded");
        let column = columns[0].as_primitive::<Int64Type>();
        assert_eq!(column.value(0), 1);
        assert!(column.is_null(1));
    }
}
