//! The cache of decoded columns, bounded in bytes.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use arrow::datatypes::{DataType, Field};
use parking_lot::Mutex;

use super::bounds::Bounds;
use super::coded::CachedColumn;
use crate::segment::Segment;

/// The rounds of [`ColumnCache::forget_unused`] after which a column that was not used is forgotten.
const UNUSED_ROUNDS: u64 = 10;

/// The part of the cache that the large columns of one scan may take.
const LARGE_SHARE: u64 = 8;

/// One row group of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowGroup {
    pub(super) rows: usize,
    /// The offset of its first column in the file: a scan of a range of bytes reads the row groups that begin in the range.
    pub(super) offset: u64,
    /// The bounds of its timestamps.
    pub(super) min_ts: i64,
    pub(super) max_ts: i64,
}

/// What the cache knows of a column of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// Nothing: it was not decoded.
    Nothing,
    /// Its decoded row groups were kept, or will be.
    Fits,
    /// It takes too much memory: it is decoded whenever it is read.
    TooLarge,
    /// The file has no such column, or one of another type.
    Absent,
}

/// A column of a segment's file.
#[derive(Debug)]
pub(super) struct FileColumn {
    pub(super) name: String,
    pub(super) data_type: DataType,
    /// Whether it takes too much memory, by its size in the file.
    pub(super) too_large: bool,
    /// Bytes in the file, before compression.
    pub(super) bytes: u64,
}

/// The columns that were used last, up to a number of bytes. Those of segments that are gone are forgotten with the next column that is
/// kept.
#[derive(Debug)]
pub(crate) struct ColumnCache {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    segments: HashMap<i64, SegmentColumns>,
    bytes: usize,
    clock: u64,
    /// The number of calls of [`ColumnCache::forget_unused`].
    round: u64,
}

#[derive(Debug)]
struct SegmentColumns {
    alive: Weak<()>,
    groups: Arc<[RowGroup]>,
    columns: HashMap<String, SegmentColumn>,
}

#[derive(Debug)]
struct SegmentColumn {
    data_type: DataType,
    too_large: bool,
    bytes: u64,
    groups: HashMap<usize, Kept>,
}

#[derive(Debug)]
struct Kept {
    column: Arc<CachedColumn>,
    bytes: usize,
    used: u64,
    /// The round of the last use.
    round: u64,
}

impl ColumnCache {
    /// A cache of at most `limit` bytes; none of 0 bytes is ever used.
    pub(crate) fn new(limit: usize) -> ColumnCache {
        ColumnCache {
            limit,
            state: Mutex::default(),
        }
    }

    /// Whether scans use the cache.
    pub(crate) fn is_on(&self) -> bool {
        self.limit > 0
    }

    /// Whether a scan of this number of bytes of decoded columns may fill the cache. One that does not fit would displace all columns
    /// and find none of its own again.
    pub(super) fn admits(&self, bytes: usize) -> bool {
        bytes <= self.limit
    }

    /// The row groups of a segment, and what is known of some of its columns; `None` if no column of the segment was read.
    pub(super) fn known(&self, segment: i64, columns: &[&Field]) -> Option<Vec<Known>> {
        let state = self.state.lock();
        let entry = state.segments.get(&segment)?;
        let known = |field: &&Field| match entry.columns.get(field.name()) {
            None => Known::Absent,
            Some(column) if column.data_type != *field.data_type() => Known::Absent,
            Some(column) if column.groups.len() == entry.groups.len() => Known::Fits,
            Some(column) if column.too_large => Known::TooLarge,
            Some(_) => Known::Nothing,
        };
        Some(columns.iter().map(known).collect())
    }

    /// Whether the large ones among these columns of segments are so small together, in the row groups within bounds of time that a query
    /// reads, that they displace little. Those of a segment that was not opened are not.
    pub(super) fn admits_large(
        &self,
        segments: &[i64],
        columns: &[&Field],
        bounds: Bounds,
    ) -> bool {
        let state = self.state.lock();
        let large = |column: &SegmentColumn| u64::from(column.too_large) * column.bytes;
        let of_segment = |segment: &i64| {
            let entry = state.segments.get(segment)?;
            let columns = columns
                .iter()
                .filter_map(|field| entry.columns.get(field.name()));
            let bytes = columns.map(large).sum::<u64>();
            let rows = |group: &RowGroup| group.rows as u64;
            let read = entry.groups.iter();
            let read = read.filter(|group| bounds.overlap(group.min_ts, group.max_ts));
            let (read, all) = (
                read.map(rows).sum::<u64>(),
                entry.groups.iter().map(rows).sum::<u64>(),
            );
            // The row groups of a column take about equally many bytes for each row.
            Some(bytes.saturating_mul(read) / all.max(1))
        };
        let bytes = segments.iter().map(of_segment).sum::<Option<u64>>();
        bytes.is_some_and(|bytes| bytes <= self.limit as u64 / LARGE_SHARE)
    }

    /// Whether codes are kept for a column of a segment.
    pub(super) fn has_codes(&self, segment: i64, column: &str) -> bool {
        let state = self.state.lock();
        let column = state
            .segments
            .get(&segment)
            .and_then(|entry| entry.columns.get(column));
        column.is_some_and(|column| {
            let mut kept = column.groups.values();
            kept.any(|kept| matches!(*kept.column, CachedColumn::Coded { .. }))
        })
    }

    /// The row groups of a segment, if one of its columns was read.
    pub(super) fn groups(&self, segment: i64) -> Option<Arc<[RowGroup]>> {
        let state = self.state.lock();
        Some(state.segments.get(&segment)?.groups.clone())
    }

    /// Remembers the row groups and columns of a segment.
    pub(super) fn put_groups(
        &self,
        segment: &Segment,
        groups: Arc<[RowGroup]>,
        columns: Vec<FileColumn>,
    ) {
        let column = |column: FileColumn| {
            let kept = SegmentColumn {
                data_type: column.data_type,
                too_large: column.too_large,
                bytes: column.bytes,
                groups: HashMap::new(),
            };
            (column.name, kept)
        };
        let mut state = self.state.lock();
        state
            .segments
            .entry(segment.record.id)
            .or_insert_with(|| SegmentColumns {
                alive: segment.alive(),
                groups,
                columns: columns.into_iter().map(column).collect(),
            });
    }

    /// Columns of a row group, in the order of their names; `None` for each that is not kept.
    pub(super) fn get(
        &self,
        segment: i64,
        group: usize,
        columns: &[&str],
    ) -> Vec<Option<Arc<CachedColumn>>> {
        let mut state = self.state.lock();
        state.clock += 1;
        let (now, round) = (state.clock, state.round);
        let Some(entry) = state.segments.get_mut(&segment) else {
            return vec![None; columns.len()];
        };
        let found = columns.iter().map(|name| {
            let kept = entry.columns.get_mut(*name)?.groups.get_mut(&group)?;
            (kept.used, kept.round) = (now, round);
            Some(Arc::clone(&kept.column))
        });
        found.collect()
    }

    /// Keeps a column of a row group, or remembers that it is too large.
    pub(super) fn put(
        &self,
        segment: i64,
        group: usize,
        name: &str,
        column: &Arc<CachedColumn>,
        keep: bool,
    ) {
        let mut state = self.state.lock();
        state.clock += 1;
        let (used, round) = (state.clock, state.round);
        let entry = state.segments.get_mut(&segment);
        let Some(place) = entry.and_then(|entry| entry.columns.get_mut(name)) else {
            return;
        };
        if !keep {
            place.too_large = true;
            let freed: usize = place.groups.drain().map(|(_, kept)| kept.bytes).sum();
            state.bytes -= freed;
            return;
        }
        let bytes = column.bytes();
        let kept = Kept {
            column: Arc::clone(column),
            bytes,
            used,
            round,
        };
        let before = place.groups.insert(group, kept).map_or(0, |old| old.bytes);
        state.bytes = state.bytes + bytes - before;
        if state.bytes > self.limit {
            state.evict(self.limit);
        }
    }
}

impl ColumnCache {
    /// Forgets segments that are gone, and columns that were not used in the last rounds of calls: the memory of a server that answers no
    /// queries is free again.
    pub(crate) fn forget_unused(&self) {
        let mut state = self.state.lock();
        state.round += 1;
        let round = state.round;
        state.forget_gone();
        state.retain(|kept| kept.round + UNUSED_ROUNDS > round);
    }
}

impl State {
    /// Forgets the segments that are gone, then the columns that were not used longest, until a tenth of the limit is free.
    fn evict(&mut self, limit: usize) {
        self.forget_gone();
        let mut kept: Vec<(u64, usize)> = self.kept().map(|k| (k.used, k.bytes)).collect();
        self.bytes = kept.iter().map(|(_, bytes)| bytes).sum();
        kept.sort_unstable();
        let goal = limit - limit / 10;
        let mut oldest = 0;
        for (used, bytes) in kept {
            if self.bytes <= goal {
                break;
            }
            self.bytes -= bytes;
            oldest = used;
        }
        self.retain(|kept| kept.used > oldest);
    }

    fn forget_gone(&mut self) {
        self.segments
            .retain(|_, segment| segment.alive.strong_count() > 0);
    }

    fn retain(&mut self, stays: impl Fn(&Kept) -> bool) {
        let columns = self.segments.values_mut();
        for column in columns.flat_map(|segment| segment.columns.values_mut()) {
            column.groups.retain(|_, kept| stays(kept));
        }
        self.bytes = self.kept().map(|kept| kept.bytes).sum();
    }

    fn kept(&self) -> impl Iterator<Item = &Kept> {
        let columns = self.segments.values().flat_map(|s| s.columns.values());
        columns.flat_map(|column| column.groups.values())
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, Int64Array};

    use super::*;

    fn column(rows: usize) -> Arc<CachedColumn> {
        let array: ArrayRef = Arc::new(Int64Array::from(vec![0; rows]));
        Arc::new(CachedColumn::Plain(array))
    }

    /// A segment with columns `a` to `d`, of one row group.
    fn enter(cache: &ColumnCache, segment: i64, alive: &Arc<()>) {
        let group = RowGroup {
            rows: 100,
            offset: 4,
            min_ts: 0,
            max_ts: 1,
        };
        let column = |name: &str| {
            let column = SegmentColumn {
                data_type: DataType::Int64,
                too_large: false,
                bytes: 800,
                groups: HashMap::new(),
            };
            (name.to_owned(), column)
        };
        let entry = SegmentColumns {
            alive: Arc::downgrade(alive),
            groups: Arc::new([group]),
            columns: ["a", "b", "c", "d"].into_iter().map(column).collect(),
        };
        cache.state.lock().segments.insert(segment, entry);
    }

    fn known(cache: &ColumnCache, segment: i64, names: &[&str]) -> Option<Vec<Known>> {
        let fields = names
            .iter()
            .map(|name| Field::new(*name, DataType::Int64, true));
        let fields: Vec<Field> = fields.collect();
        cache.known(segment, &fields.iter().collect::<Vec<_>>())
    }

    #[test]
    fn beyond_the_limit_the_columns_that_were_not_used_longest_are_forgotten() {
        let size = column(100).bytes();
        let cache = ColumnCache::new(3 * size + size / 2);
        let alive = Arc::new(());
        enter(&cache, 1, &alive);
        for name in ["a", "b", "c"] {
            cache.put(1, 0, name, &column(100), true);
        }
        assert_eq!(
            known(&cache, 1, &["a", "d", "x"]),
            Some(vec![Known::Fits, Known::Nothing, Known::Absent])
        );
        assert!(cache.get(1, 0, &["a"]).iter().all(Option::is_some));
        cache.put(1, 0, "d", &column(100), true);
        let kept = cache.get(1, 0, &["a", "b", "c", "d"]);
        let kept: Vec<bool> = kept.iter().map(Option::is_some).collect();
        assert_eq!(kept, [true, false, true, true]);
        assert_eq!(cache.state.lock().bytes, 3 * size);
    }

    #[test]
    fn columns_of_segments_that_are_gone_are_forgotten_first() {
        let size = column(100).bytes();
        let cache = ColumnCache::new(2 * size + size / 2);
        let (first, second) = (Arc::new(()), Arc::new(()));
        enter(&cache, 1, &first);
        enter(&cache, 2, &second);
        cache.put(2, 0, "a", &column(100), true);
        cache.put(1, 0, "a", &column(100), true);
        drop(first);
        cache.put(2, 0, "b", &column(100), true);
        assert_eq!(known(&cache, 1, &["a"]), None);
        assert_eq!(known(&cache, 2, &["a", "b"]), Some(vec![Known::Fits; 2]));
    }

    #[test]
    fn columns_that_no_query_uses_are_forgotten_after_some_rounds() {
        let cache = ColumnCache::new(1 << 20);
        let alive = Arc::new(());
        enter(&cache, 1, &alive);
        cache.put(1, 0, "a", &column(100), true);
        cache.put(1, 0, "b", &column(100), true);
        for _ in 0..UNUSED_ROUNDS {
            assert!(cache.get(1, 0, &["a"]).iter().all(Option::is_some));
            cache.forget_unused();
        }
        let kept = known(&cache, 1, &["a", "b"]);
        assert_eq!(kept, Some(vec![Known::Fits, Known::Nothing]));
        assert_eq!(cache.state.lock().bytes, column(100).bytes());
    }

    #[test]
    fn a_column_of_another_type_is_absent() {
        let cache = ColumnCache::new(1 << 20);
        let alive = Arc::new(());
        enter(&cache, 1, &alive);
        let text = Field::new("a", DataType::Utf8View, true);
        assert_eq!(cache.known(1, &[&text]), Some(vec![Known::Absent]));
    }

    #[test]
    fn a_column_that_is_too_large_is_remembered_and_takes_no_memory() {
        let cache = ColumnCache::new(1 << 20);
        let alive = Arc::new(());
        enter(&cache, 1, &alive);
        cache.put(1, 0, "a", &column(100), true);
        cache.put(1, 0, "a", &column(100), false);
        assert_eq!(known(&cache, 1, &["a"]), Some(vec![Known::TooLarge]));
        assert_eq!(cache.state.lock().bytes, 0);
    }

    #[test]
    fn large_columns_are_kept_where_they_take_a_small_part() {
        let fields = ["a", "b"].map(|name| Field::new(name, DataType::Int64, true));
        let fields: Vec<&Field> = fields.iter().collect();
        let alive = Arc::new(());
        for (limit, admitted) in [(8 * 800, true), (8 * 800 - 1, false)] {
            let cache = ColumnCache::new(limit);
            enter(&cache, 1, &alive);
            cache.put(1, 0, "a", &column(100), false);
            assert_eq!(cache.admits_large(&[1], &fields, Bounds::ALL), admitted);
            assert!(!cache.admits_large(&[1, 2], &fields, Bounds::ALL));
            // The only row group is of the times 0 and 1.
            let later = Bounds { from: 2, to: 3 };
            assert!(cache.admits_large(&[1], &fields, later));
        }
        let cache = ColumnCache::new(1 << 20);
        enter(&cache, 1, &alive);
        cache.put(1, 0, "a", &column(100), false);
        cache.put(1, 0, "a", &column(100), true);
        assert_eq!(known(&cache, 1, &["a"]), Some(vec![Known::Fits]));
    }
}
