//! The rows that a sort with a limit can return, found by their sort key before other columns are read.
//!
//! A sort that returns its first `n` rows reads every column of rows that it drops later, until it has met the `n` best. [`TopBound`]
//! finds the `n`-th best key first, from the sort column and the columns of the conditions alone. The partitions of a scan share the work
//! and the bound. Then they scan for the rows whose key is at least as good, which are few. Any set of rows that meet the conditions gives a
//! bound that keeps all rows of the result, so files whose columns do not fit into memory are counted as they are read, and no partition waits for
//! another one that still counts.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use arrow::array::{Array, AsArray, BooleanArray};
use arrow::buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow::datatypes::{DataType, Field, Float64Type, Int32Type, Int64Type};
use arrow::record_batch::RecordBatch;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::FileGroup;
use datafusion::error::Result;
use parking_lot::Mutex;

use super::coded::CachedColumn;
use super::read_ahead::ReadAhead;
use super::top_filter::TopFilter;
use crate::schema::TIMESTAMP;
use crate::segment::Segment;
use crate::time_range::TimeRange;

/// The most rows of a result for which a bound is computed.
const MAX_ROWS: usize = 10_000;

/// The order of a sort by one column of a scan, and how many of its first rows are returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopRows {
    /// The column, as an index of the output of the scan.
    pub column: usize,
    /// Large values come first.
    pub descending: bool,
    /// Nulls come first, and behind them the reals that are no numbers; otherwise both come last, nulls behind the others.
    pub nulls_first: bool,
    /// The number of rows.
    pub rows: usize,
}

/// The best keys that were counted, and the least key of a row that can be among the first rows.
///
/// A key is a number that orders rows as the sort does, the best rows by the largest numbers. Rows that the sort orders may have equal
/// keys, but no row has a smaller key than one that it comes before.
#[derive(Debug)]
pub(super) struct TopBound {
    /// The sort column, as an index of the table's schema.
    pub(super) column: usize,
    /// The sort column, as an index of the output of the scan.
    output: usize,
    descending: bool,
    nulls_first: bool,
    pub(super) rows: usize,
    /// Whether the sort column is the time of the rows.
    pub(super) by_time: bool,
    best: Mutex<BinaryHeap<Reverse<u64>>>,
    least: AtomicU64,
    /// The bound as a condition for the Parquet reader; `None` if the sort is by time, whose own condition also bounds files, or has no such condition.
    pub(super) filter: Option<TopFilter>,
    /// The files whose rows are counted, by [`file_key`]: no row may be counted twice.
    counted: Mutex<HashSet<FileKey>>,
    /// The files of the scan, those with the best times first.
    files: OnceLock<Vec<PartitionedFile>>,
    /// Downloads those that are counted next.
    ahead: OnceLock<ReadAhead>,
    /// The number of files that a partition counts or has counted.
    taken: AtomicUsize,
}

/// A file of a scan: its segment, and where its range of bytes and its slice begin. Two files with the same key have the same rows.
type FileKey = (i64, i64, i64);

fn file_key(file: &PartitionedFile, segment: &Segment) -> FileKey {
    let range = file.range.as_ref().map_or(0, |range| range.start);
    let slice = file.extension::<TimeRange>();
    let from = slice.map_or(i64::MIN, |slice| slice.from);
    (segment.record.id, range, from)
}

impl TopBound {
    /// The bound of a sort by the column `column` of the table, which is this field; `None` if the column is of a type without keys, or if
    /// too many rows are returned.
    pub(super) fn new(column: usize, field: &Field, top: &TopRows) -> Option<TopBound> {
        let has_keys = matches!(
            field.data_type(),
            DataType::Int64 | DataType::Int32 | DataType::Float64
        );
        let by_time = field.name() == TIMESTAMP;
        let filter = || TopFilter::new(field, column, top.descending, top.nulls_first);
        (has_keys && (1..=MAX_ROWS).contains(&top.rows)).then(|| TopBound {
            filter: if by_time { None } else { filter() },
            counted: Mutex::default(),
            output: top.column,
            column,
            descending: top.descending,
            nulls_first: top.nulls_first,
            rows: top.rows,
            by_time,
            best: Mutex::default(),
            least: AtomicU64::new(0),
            files: OnceLock::new(),
            ahead: OnceLock::new(),
            taken: AtomicUsize::new(0),
        })
    }

    /// The next file whose rows were not counted.
    pub(super) fn next_file(&self, groups: &[FileGroup]) -> Option<PartitionedFile> {
        let files = self.files.get_or_init(|| {
            let mut files: Vec<PartitionedFile> =
                groups.iter().flat_map(|g| g.files().to_vec()).collect();
            files.sort_by_key(|file| {
                let segment = file.extension::<Arc<Segment>>();
                Reverse(segment.map(|s| self.best_time(s.record.min_ts, s.record.max_ts)))
            });
            files
        });
        // The first rows by time are in the first files.
        if !self.by_time {
            self.ahead.get_or_init(|| ReadAhead::of(files));
        }
        files
            .get(self.taken.fetch_add(1, Ordering::Relaxed))
            .cloned()
    }

    /// Downloads the files that [`TopBound::next_file`] returns next.
    pub(super) fn ahead(&self) -> &ReadAhead {
        self.ahead.get_or_init(ReadAhead::default)
    }

    /// Whether the caller may count the rows of a file, all of them: it is the first one that asks.
    pub(super) fn may_count(&self, file: &PartitionedFile, segment: &Segment) -> bool {
        self.counted.lock().insert(file_key(file, segment))
    }

    /// Counts rows that the scan returns.
    pub(super) fn count_output(&self, batch: &RecordBatch) -> Result<()> {
        let column = CachedColumn::Plain(Arc::clone(batch.column(self.output)));
        self.count(&column, &(0..batch.num_rows()), None)
    }

    /// Whether a row with a time between these can be among the first rows.
    pub(super) fn may_have(&self, min_ts: i64, max_ts: i64) -> bool {
        !self.by_time || self.best_time(min_ts, max_ts) >= self.least.load(Ordering::Relaxed)
    }

    /// The best key that a row with a time between these can have, if the sort is by time.
    pub(super) fn best_time(&self, min_ts: i64, max_ts: i64) -> u64 {
        self.of_integer(if self.descending { max_ts } else { min_ts })
    }

    /// For each of consecutive rows whether it can be among the first rows, by the values of the sort column; `None` if each can.
    pub(super) fn candidates(
        &self,
        column: &CachedColumn,
        rows: &Range<usize>,
    ) -> Option<BooleanArray> {
        let least = self.least.load(Ordering::Relaxed);
        if least == 0 {
            return None;
        }
        let (values, nulls) = Values::of(column)?;
        let found = match values {
            Values::Long(values) => at_least(values, rows, least, |v| self.of_integer(v)),
            Values::Int(values) => at_least(values, rows, least, |v| self.of_integer(v.into())),
            Values::Real(values) => at_least(values, rows, least, |v| self.of_real(v)),
        };
        let valid = nulls.map(|nulls| nulls.inner().slice(rows.start, rows.len()));
        let found = match valid {
            Some(valid) if self.of_null() >= least => &found | &!&valid,
            Some(valid) => &found & &valid,
            None => found,
        };
        Some(BooleanArray::from(found))
    }

    /// Counts consecutive rows that meet the conditions, all of them or those that `selected` has a true for.
    pub(super) fn count(
        &self,
        column: &CachedColumn,
        rows: &Range<usize>,
        selected: Option<&BooleanArray>,
    ) -> Result<()> {
        let Some((values, nulls)) = Values::of(column) else {
            return Ok(());
        };
        let least = self.least.load(Ordering::Relaxed);
        let key = |row: usize| {
            if nulls.is_some_and(|nulls| nulls.is_null(row)) {
                return self.of_null();
            }
            let key = match values {
                Values::Long(values) => values.get(row).map(|v| self.of_integer(*v)),
                Values::Int(values) => values.get(row).map(|v| self.of_integer((*v).into())),
                Values::Real(values) => values.get(row).map(|v| self.of_real(*v)),
            };
            key.unwrap_or_default()
        };
        let keys: Vec<u64> = match selected {
            None => rows.clone().map(key).filter(|key| *key > least).collect(),
            Some(selected) => {
                let places = selected.values().set_indices();
                let keys = places.map(|place| key(rows.start + place));
                keys.filter(|key| *key > least).collect()
            }
        };
        let mut best = self.best.lock();
        for key in keys {
            if best.len() < self.rows {
                best.push(Reverse(key));
            } else if let Some(mut worst) = best.peek_mut()
                && worst.0 < key
            {
                *worst = Reverse(key);
            }
        }
        let worst = best.peek().map(|Reverse(worst)| *worst);
        let is_full = best.len() == self.rows;
        drop(best);
        if let Some(worst) = worst.filter(|_| is_full)
            && self.least.fetch_max(worst, Ordering::Relaxed) < worst
            && let Some(filter) = &self.filter
        {
            filter.update(worst)?;
        }
        Ok(())
    }

    fn of_integer(&self, value: i64) -> u64 {
        self.directed(value.cast_unsigned() ^ (1 << 63))
    }

    fn of_real(&self, value: f64) -> u64 {
        if value.is_nan() {
            return self.of_null();
        }
        // The bits of positive reals are in order, and those of negative ones in reverse. Both zeros are equal.
        let bits = (value + 0.0).to_bits();
        self.directed(if bits >> 63 == 0 {
            bits | 1 << 63
        } else {
            !bits
        })
    }

    fn of_null(&self) -> u64 {
        if self.nulls_first { u64::MAX } else { 0 }
    }

    /// The key of a number that ascends with the values.
    fn directed(&self, ascending: u64) -> u64 {
        if self.descending {
            ascending
        } else {
            !ascending
        }
    }
}

/// The values of a sort column.
#[derive(Clone, Copy)]
enum Values<'c> {
    Long(&'c [i64]),
    Int(&'c [i32]),
    Real(&'c [f64]),
}

impl<'c> Values<'c> {
    fn of(column: &'c CachedColumn) -> Option<(Values<'c>, Option<&'c NullBuffer>)> {
        let CachedColumn::Plain(array) = column else {
            return None;
        };
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        let values = match array.data_type() {
            DataType::Int64 => Values::Long(array.as_primitive_opt::<Int64Type>()?.values()),
            DataType::Int32 => Values::Int(array.as_primitive_opt::<Int32Type>()?.values()),
            DataType::Float64 => Values::Real(array.as_primitive_opt::<Float64Type>()?.values()),
            _ => return None,
        };
        Some((values, nulls))
    }
}

fn at_least<T: Copy>(
    values: &[T],
    rows: &Range<usize>,
    least: u64,
    key: impl Fn(T) -> u64,
) -> BooleanBuffer {
    let values = values.get(rows.clone()).unwrap_or_default();
    // Hardly any row is found, so most words are zero after one pass without branches.
    let word = |values: &[T]| {
        let is_found = |value: &T| key(*value) >= least;
        if !values
            .iter()
            .fold(false, |any, value| any | is_found(value))
        {
            return 0;
        }
        let bits = values.iter().enumerate();
        bits.fold(0_u64, |word, (bit, value)| {
            word | u64::from(is_found(value)) << bit
        })
    };
    let words: Vec<u64> = values.chunks(64).map(word).collect();
    BooleanBuffer::new(Buffer::from_vec(words), 0, values.len())
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, Float64Array, Int64Array};

    use super::*;

    fn bound(data_type: &DataType, descending: bool, nulls_first: bool, rows: usize) -> TopBound {
        let top = TopRows {
            column: 0,
            descending,
            nulls_first,
            rows,
        };
        let field = Field::new("key", data_type.clone(), true);
        TopBound::new(0, &field, &top).expect("a type with keys")
    }

    fn column(array: impl Array + 'static) -> CachedColumn {
        let array: ArrayRef = Arc::new(array);
        CachedColumn::Plain(array)
    }

    /// The rows that can be among the first, once those of the first half were counted.
    fn candidates(bound: &TopBound, column: &CachedColumn) -> Vec<usize> {
        let half = column.len() / 2;
        bound.count(column, &(0..half), None).expect("counted");
        let found = bound.candidates(column, &(0..column.len()));
        found.map_or_else(
            || (0..column.len()).collect(),
            |found| found.values().set_indices().collect(),
        )
    }

    #[test]
    fn rows_that_come_behind_as_many_as_are_returned_are_no_candidates() {
        let times = column(Int64Array::from(vec![5, i64::MIN, 7, 6, 4, 8, i64::MAX, 6]));
        let newest = bound(&DataType::Int64, true, false, 2);
        assert_eq!(candidates(&newest, &times), [2, 3, 5, 6, 7]);
        let oldest = bound(&DataType::Int64, false, true, 2);
        assert_eq!(candidates(&oldest, &times), [0, 1, 4]);
        let more = bound(&DataType::Int64, true, false, 5);
        assert_eq!(candidates(&more, &times).len(), times.len());
    }

    #[test]
    fn nulls_and_nan_are_at_the_end_that_the_sort_puts_them() {
        let nan = f64::NAN;
        let values = vec![
            Some(1.5),
            None,
            Some(-0.0),
            Some(nan),
            Some(-3.0),
            Some(0.0),
            Some(f64::INFINITY),
            None,
            Some(-nan),
            Some(2.5),
        ];
        let reals = column(Float64Array::from(values));
        let check = |descending, nulls_first, rows, expected: &[usize]| {
            let bound = bound(&DataType::Float64, descending, nulls_first, rows);
            assert_eq!(candidates(&bound, &reals), expected, "{bound:?}");
        };
        check(true, false, 1, &[0, 6, 9]);
        check(true, false, 2, &[0, 2, 5, 6, 9]);
        check(false, false, 1, &[4]);
        check(false, false, 2, &[2, 4, 5]);
        // Null and NaN have one key: the sort tells them apart.
        check(true, true, 1, &[1, 3, 7, 8]);
        check(false, true, 2, &[1, 3, 7, 8]);
        check(false, true, 3, &[1, 3, 4, 7, 8]);
    }

    #[test]
    fn rows_that_are_not_selected_are_not_counted() {
        let times = column(Int64Array::from(vec![9, 8, 3, 2]));
        let bound = bound(&DataType::Int64, true, false, 1);
        let selected = BooleanArray::from(vec![false, false, true, true]);
        let counted = bound.count(&times, &(0..4), Some(&selected));
        counted.expect("counted");
        let found = bound.candidates(&times, &(0..4)).expect("a bound");
        assert_eq!(found.values().set_indices().collect::<Vec<_>>(), [0, 1, 2]);
    }
}
