//! The latest rows of groups: a scan under an aggregation that needs no other rows returns few others.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, BooleanBufferBuilder, Int64Array};
use arrow::datatypes::{Int64Type, Schema};
use datafusion::error::Result;
use parking_lot::Mutex;

use super::coded::{CachedColumn, Columns};

/// Combinations of distinct values of a row group beyond which its rows are not tested.
const MAX_COMBINATIONS: usize = 16_384;

/// One text for each key; `None` for null.
type Texts = Box<[Option<Box<str>>]>;

/// The latest rows by keys: a scan leaves out rows that are no later than a row with the same texts that it returned before.
#[derive(Debug)]
pub(super) struct Latest {
    /// The names of the text columns that are the keys, and that of the times, none of which is null.
    keys: Vec<String>,
    time: String,
    found: Mutex<Found>,
    /// The partitions that were opened. One that is opened again belongs to another run of the plan, which has no such rows before it.
    opened: Mutex<HashSet<usize>>,
}

/// The latest time that was found for each combination of texts, and how often one changed.
#[derive(Debug, Default)]
struct Found {
    times: HashMap<Texts, i64>,
    changes: u64,
}

/// Latest rows in the terms of a scan.
#[derive(Debug)]
pub(super) struct LatestPlan {
    latest: Arc<Latest>,
    /// The columns, as indexes of the table's schema.
    pub(super) keys: Vec<usize>,
    pub(super) time: usize,
}

/// Tests the rows of one row group.
#[derive(Debug)]
pub(super) struct LatestTest {
    latest: Arc<Latest>,
    keys: Vec<Key>,
    times: Int64Array,
    /// The latest time that was found for each combination of codes, after this many changes.
    best: Vec<i64>,
    changes: u64,
    has_begun: bool,
}

#[derive(Debug)]
struct Key {
    column: Arc<CachedColumn>,
    values: ArrayRef,
}

impl Latest {
    pub(super) fn new(keys: Vec<String>, time: String) -> Latest {
        Latest {
            keys,
            time,
            found: Mutex::default(),
            opened: Mutex::default(),
        }
    }

    /// The columns in the schema of the table; `None` if the partition was opened before.
    pub(super) fn open(self: &Arc<Latest>, partition: usize, table: &Schema) -> Option<LatestPlan> {
        if !self.opened.lock().insert(partition) {
            return None;
        }
        let place = |name: &String| table.index_of(name).ok();
        Some(LatestPlan {
            keys: self.keys.iter().map(place).collect::<Option<_>>()?,
            time: place(&self.time)?,
            latest: Arc::clone(self),
        })
    }
}

impl LatestPlan {
    /// All columns.
    pub(super) fn columns(&self) -> impl Iterator<Item = usize> {
        self.keys.iter().copied().chain([self.time])
    }

    /// The test of a row group; `None` if its columns are not in memory, if a key has no codes, or if there are too many combinations
    /// of them.
    pub(super) fn test(&self, columns: &Columns) -> Option<LatestTest> {
        let CachedColumn::Plain(times) = columns.get(&self.time)?.as_ref() else {
            return None;
        };
        let times = times.as_primitive_opt::<Int64Type>()?;
        let key = |key: &usize| {
            let column = columns.get(key)?;
            Some(Key {
                values: Arc::clone(column.distinct()?),
                column: Arc::clone(column),
            })
        };
        let keys: Vec<Key> = self.keys.iter().map(key).collect::<Option<_>>()?;
        let sizes = keys.iter().map(|key| key.values.len());
        let combinations = sizes.fold(1, usize::saturating_mul);
        if times.null_count() > 0 || combinations > MAX_COMBINATIONS {
            return None;
        }
        let mut test = LatestTest {
            latest: Arc::clone(&self.latest),
            keys,
            times: times.clone(),
            best: vec![i64::MIN; combinations],
            changes: 0,
            has_begun: false,
        };
        test.read();
        Some(test)
    }
}

impl LatestTest {
    /// Reads what all scans have found, if that has changed.
    fn read(&mut self) {
        let found = self.latest.found.lock();
        if self.changes == found.changes {
            return;
        }
        let best = |combination| {
            let known = found.times.get(&self.texts(combination));
            known.copied().unwrap_or(i64::MIN)
        };
        let best = (0..self.best.len()).map(best).collect();
        let changes = found.changes;
        drop(found);
        (self.best, self.changes) = (best, changes);
    }

    /// Whether a row at this time or before may be later than what was found.
    pub(super) fn may_have(&self, time: i64) -> bool {
        self.best.iter().any(|best| time > *best)
    }

    /// The rows among the selected ones that are later than all before them with the same texts.
    pub(super) fn select(
        &mut self,
        rows: &Range<usize>,
        selected: Option<&BooleanArray>,
    ) -> Result<BooleanArray> {
        // The test may have been made while another segment was read.
        if !mem::replace(&mut self.has_begun, true) {
            self.read();
        }
        let mut combinations = vec![0_usize; rows.len()];
        for key in &self.keys {
            let Some(codes) = key.column.codes(rows, None)? else {
                continue;
            };
            for (combination, code) in combinations.iter_mut().zip(codes.values()) {
                *combination = *combination * key.values.len() + *code as usize;
            }
        }
        let times = self.times.values().get(rows.clone()).unwrap_or_default();
        let mut later = BooleanBufferBuilder::new(rows.len());
        let mut changed = HashSet::new();
        for (row, (time, combination)) in times.iter().zip(combinations).enumerate() {
            let is_later = match self.best.get_mut(combination) {
                Some(best) if *time <= *best => false,
                Some(best) if selected.is_none_or(|selected| selected.value(row)) => {
                    *best = *time;
                    changed.insert(combination);
                    true
                }
                _ => false,
            };
            later.append(is_later);
        }
        self.publish(changed);
        Ok(BooleanArray::from(later.finish()))
    }

    fn publish(&self, changed: HashSet<usize>) {
        if changed.is_empty() {
            return;
        }
        let mut found = self.latest.found.lock();
        found.changes += 1;
        for combination in changed {
            let Some(best) = self.best.get(combination) else {
                continue;
            };
            let known = found.times.entry(self.texts(combination));
            let known = known.or_insert(i64::MIN);
            *known = (*known).max(*best);
        }
    }

    /// The texts of a combination of codes.
    fn texts(&self, mut combination: usize) -> Texts {
        let texts = self.keys.iter().rev().map(|key| {
            let code = combination % key.values.len().max(1);
            combination /= key.values.len().max(1);
            let values = key.values.as_string_view_opt()?;
            values.is_valid(code).then(|| values.value(code).into())
        });
        texts.collect()
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::StringViewArray;
    use arrow::datatypes::{DataType, Field};

    use super::*;

    const ROWS: Range<usize> = 0..4;

    /// The rows of a row group with a key and a time; each of two keys has two rows.
    fn columns(times: [i64; 4]) -> Columns {
        let keys: ArrayRef = Arc::new(StringViewArray::from(vec!["a", "b", "a", "b"]));
        let times: ArrayRef = Arc::new(Int64Array::from(times.to_vec()));
        let column = |array: &ArrayRef| Arc::new(CachedColumn::of(array).unwrap().0);
        Columns::from([(0, column(&keys)), (1, column(&times))])
    }

    fn selected(test: &mut LatestTest) -> Vec<bool> {
        let rows = test.select(&ROWS, None).unwrap();
        rows.values().iter().collect()
    }

    #[test]
    fn a_test_that_is_made_early_knows_what_is_found_before_it_begins() {
        let schema = Schema::new(vec![
            Field::new("key", DataType::Utf8View, false),
            Field::new("time", DataType::Int64, false),
        ]);
        let latest = Arc::new(Latest::new(vec!["key".to_owned()], "time".to_owned()));
        let plan = latest.open(0, &schema).unwrap();
        let mut first = plan.test(&columns([5, 8, 6, 7])).unwrap();
        let mut second = plan.test(&columns([6, 8, 3, 9])).unwrap();
        assert!(second.may_have(9));
        assert_eq!(selected(&mut first), [true, true, true, false]);
        assert_eq!(selected(&mut second), [false, false, false, true]);
        let third = plan.test(&columns([1, 2, 3, 4])).unwrap();
        assert!(third.may_have(7));
        assert!(!third.may_have(6));
    }
}
