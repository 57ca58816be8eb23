//! Groups rows by keys.

use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result};

use super::key_numbers::KeyNumbers;

/// The end of a list of rows.
const END: u32 = u32::MAX;

/// The rows of each combination of keys, by row number. It consists of a few flat tables, so that millions of groups are
/// dropped quickly.
pub(crate) struct RowGroups {
    keys: KeyNumbers,
    /// The first and the last row of each group; groups are ordered by first row.
    bounds: Vec<(u32, u32)>,
    /// The next row of the same group, for each row.
    next: Vec<u32>,
}

impl RowGroups {
    /// Creates an empty container for keys of these types.
    pub(crate) fn new(keys: impl Iterator<Item = DataType>) -> Result<RowGroups> {
        Ok(RowGroups {
            keys: KeyNumbers::new(keys)?,
            bounds: Vec::new(),
            next: Vec::new(),
        })
    }

    /// Adds the next rows, by their keys.
    ///
    /// # Errors
    /// The row numbers are exhausted.
    pub(crate) fn add(&mut self, keys: &[ArrayRef]) -> Result<()> {
        let rows = self.keys.encode(keys)?;
        for key in &rows {
            let row = u32::try_from(self.next.len()).unwrap_or(END);
            if row == END {
                let message = format!("one operator divides at most {END} rows into subtables");
                return Err(DataFusionError::ResourcesExhausted(message));
            }
            self.next.push(END);
            let group = self.keys.number(key.data())? as usize;
            let Some((_, last)) = self.bounds.get_mut(group) else {
                self.bounds.push((row, row));
                continue;
            };
            let before = std::mem::replace(last, row);
            if let Some(next) = self.next.get_mut(before as usize) {
                *next = row;
            }
        }
        Ok(())
    }

    /// The first row of a group.
    pub(crate) fn first(&self, group: usize) -> Option<u32> {
        self.bounds.get(group).map(|(first, _)| *first)
    }

    /// The next row of the group of `row`.
    pub(crate) fn after(&self, row: u32) -> Option<u32> {
        let next = self.next.get(row as usize).copied();
        next.filter(|next| *next != END)
    }

    /// The size of the tables in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.keys.bytes()
            + self.bounds.capacity() * size_of::<(u32, u32)>()
            + self.next.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Int64Array, StringViewArray};

    use super::*;

    fn rows(groups: &RowGroups, group: usize) -> Vec<u32> {
        std::iter::successors(groups.first(group), |row| groups.after(*row)).collect()
    }

    #[test]
    fn rows_of_the_same_keys_are_together_in_the_order_in_which_they_came() {
        let mut groups = RowGroups::new([DataType::Int64, DataType::Utf8View].into_iter())
            .expect("keys that can be compared");
        let mut add = |numbers: Vec<Option<i64>>, texts: Vec<&str>| {
            let keys: [ArrayRef; 2] = [
                Arc::new(Int64Array::from(numbers)),
                Arc::new(StringViewArray::from(texts)),
            ];
            groups.add(&keys)
        };
        assert!(add(vec![Some(1), None, Some(1)], vec!["a", "a", "a"]).is_ok());
        assert!(add(vec![None, Some(1)], vec!["a", "b"]).is_ok());
        assert_eq!(rows(&groups, 0), [0, 2]);
        assert_eq!(rows(&groups, 1), [1, 3]);
        assert_eq!(rows(&groups, 2), [4]);
        assert_eq!(groups.first(3), None);
        assert_eq!(groups.after(9), None);
    }

    #[test]
    fn thousands_of_groups_are_distinct() {
        let mut groups = RowGroups::new([DataType::Int64].into_iter()).expect("numbers compare");
        for _ in 0..2 {
            let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(0..5000));
            assert!(groups.add(&[keys]).is_ok());
        }
        assert_eq!(groups.first(5000), None);
        assert_eq!(rows(&groups, 4321), [4321, 9321]);
        assert!(groups.bytes() >= 5000 * 8 + 10_000 * 4);
    }
}
