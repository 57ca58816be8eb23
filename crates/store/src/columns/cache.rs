//! The cache of decoded columns, bounded in bytes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Weak};

use arrow::datatypes::{DataType, Field};
use parking_lot::Mutex;

use super::coded::CachedColumn;
use crate::segment::Segment;
use crate::time_range::TimeRange;

/// The rounds of [`ColumnCache::forget_unused`] after which a column that was not used is forgotten, and what is known of a segment.
const UNUSED_ROUNDS: u64 = 10;

/// The part of the cache that the large columns of one scan may take.
const LARGE_SHARE: u64 = 8;

/// The bytes of a row of a text, as estimated before the column is decoded.
const TEXT_BYTES: u64 = 4;

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

/// What the cache knows of a segment at one moment. Other queries may evict it later.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct KnownSegment {
    pub(super) groups: Arc<[RowGroup]>,
    /// For each of the columns that were asked for.
    pub(super) columns: Vec<Known>,
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

/// The columns that were used last, and what is known of the segments that were read last, up to a number of bytes. Segments that are
/// gone are forgotten when room is needed.
#[derive(Debug)]
pub(crate) struct ColumnCache {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    segments: HashMap<i64, SegmentColumns>,
    layouts: HashSet<Arc<Layout>>,
    bytes: usize,
    clock: u64,
    /// The number of calls of [`ColumnCache::forget_unused`].
    round: u64,
}

/// What is known of a segment, and its columns that are kept.
#[derive(Debug)]
struct SegmentColumns {
    alive: Weak<()>,
    groups: Arc<[RowGroup]>,
    layout: Arc<Layout>,
    /// In the order of the layout.
    sizes: Box<[ColumnSize]>,
    /// By column and row group.
    kept: BTreeMap<(usize, usize), Kept>,
    used: u64,
    round: u64,
}

/// The names and types of the columns of files, in the order of their names. Most files of a table have the same ones.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Layout(Box<[(String, DataType)]>);

#[derive(Debug, Clone, Copy)]
struct ColumnSize {
    /// As [`FileColumn::bytes`].
    bytes: u64,
    too_large: bool,
}

#[derive(Debug)]
struct Kept {
    column: Arc<CachedColumn>,
    bytes: usize,
    used: u64,
    /// The round of the last use.
    round: u64,
}

/// The bytes of a row of a column that was not decoded yet. Most texts have codes.
fn usual_bytes(column: &Field) -> u64 {
    let width = column.data_type().primitive_width();
    width.map_or(TEXT_BYTES, |width| width as u64)
}

impl Layout {
    /// The place of a column, and its type.
    fn find(&self, name: &str) -> Option<(usize, &DataType)> {
        let place = self
            .0
            .binary_search_by(|(known, _)| known.as_str().cmp(name));
        let place = place.ok()?;
        Some((place, &self.0.get(place)?.1))
    }
}

impl SegmentColumns {
    /// Bytes that it takes beside the columns that are kept.
    fn own_bytes(&self) -> usize {
        size_of::<(i64, SegmentColumns)>()
            + size_of_val::<[RowGroup]>(&self.groups)
            + size_of_val::<[ColumnSize]>(&self.sizes)
    }

    fn size(&self, name: &str) -> Option<ColumnSize> {
        let (place, _) = self.layout.find(name)?;
        self.sizes.get(place).copied()
    }

    /// The row groups of a column that are kept, with their numbers.
    fn kept_of(&self, place: usize) -> impl Iterator<Item = (usize, &Kept)> {
        let groups = (place, 0)..=(place, usize::MAX);
        let kept = self.kept.range(groups);
        kept.map(|((_, group), kept)| (*group, kept))
    }
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

    /// The number of bytes that the columns take together, at most.
    pub(super) fn limit(&self) -> u64 {
        self.limit as u64
    }

    /// The bytes that columns of segments, each with its id and its number of rows, take in the cache once they are decoded. Columns that are too
    /// large for it take none. One that was not decoded is expected to take as much for each row as in the segments where it is kept.
    pub(super) fn expected_bytes(&self, segments: &[(i64, u64)], columns: &[&Field]) -> u64 {
        let state = self.state.lock();
        let bytes = columns
            .iter()
            .map(|column| state.expected(segments, column));
        bytes.fold(0, u64::saturating_add)
    }

    /// What is known of a segment and of some of its columns; `None` if no column of the segment was read.
    pub(super) fn known(&self, segment: i64, columns: &[&Field]) -> Option<KnownSegment> {
        let mut state = self.state.lock();
        let entry = state.touch(segment)?;
        let known = |field: &&Field| match entry.layout.find(field.name()) {
            None => Known::Absent,
            Some((_, data_type)) if data_type != field.data_type() => Known::Absent,
            Some((place, _)) if entry.kept_of(place).count() == entry.groups.len() => Known::Fits,
            Some((place, _)) if entry.sizes.get(place).is_some_and(|size| size.too_large) => {
                Known::TooLarge
            }
            Some(_) => Known::Nothing,
        };
        Some(KnownSegment {
            columns: columns.iter().map(known).collect(),
            groups: Arc::clone(&entry.groups),
        })
    }

    /// Whether the large ones among these columns of segments are so small together, in the row groups within bounds of time that a query
    /// reads, that they displace little. Those of a segment that was not opened are not.
    pub(super) fn admits_large(
        &self,
        segments: &[i64],
        columns: &[&Field],
        bounds: TimeRange,
    ) -> bool {
        let state = self.state.lock();
        let large = |column: ColumnSize| u64::from(column.too_large) * column.bytes;
        let of_segment = |segment: &i64| {
            let entry = state.segments.get(segment)?;
            let columns = columns.iter().filter_map(|field| entry.size(field.name()));
            let bytes = columns.map(large).sum::<u64>();
            let rows = |group: &RowGroup| group.rows as u64;
            let read = entry.groups.iter();
            let read = read.filter(|group| bounds.overlaps(group.min_ts, group.max_ts));
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
        let entry = state.segments.get(&segment);
        let place = entry.and_then(|entry| Some((entry, entry.layout.find(column)?.0)));
        place.is_some_and(|(entry, place)| {
            let mut kept = entry.kept_of(place);
            kept.any(|(_, kept)| matches!(*kept.column, CachedColumn::Coded { .. }))
        })
    }

    /// Remembers the row groups and columns of a segment.
    pub(super) fn put_groups(
        &self,
        segment: &Segment,
        groups: Arc<[RowGroup]>,
        columns: Vec<FileColumn>,
    ) {
        self.enter(segment.record.id, segment.alive(), groups, columns);
    }

    fn enter(
        &self,
        segment: i64,
        alive: Weak<()>,
        groups: Arc<[RowGroup]>,
        mut columns: Vec<FileColumn>,
    ) {
        columns.sort_by(|one, other| one.name.cmp(&other.name));
        let size = |column: &FileColumn| ColumnSize {
            bytes: column.bytes,
            too_large: column.too_large,
        };
        let sizes = columns.iter().map(size).collect();
        let columns = columns.into_iter();
        let layout = Layout(
            columns
                .map(|column| (column.name, column.data_type))
                .collect(),
        );
        let mut state = self.state.lock();
        if state.touch(segment).is_some() {
            return;
        }
        let entry = SegmentColumns {
            alive,
            groups,
            layout: state.shared(layout),
            sizes,
            kept: BTreeMap::new(),
            used: state.clock,
            round: state.round,
        };
        state.bytes += entry.own_bytes();
        state.segments.insert(segment, entry);
        if state.bytes > self.limit {
            state.evict(self.limit);
        }
    }

    /// Columns of a row group, in the order of their names; `None` for each that is not kept.
    pub(super) fn get(
        &self,
        segment: i64,
        group: usize,
        columns: &[&str],
    ) -> Vec<Option<Arc<CachedColumn>>> {
        let mut state = self.state.lock();
        let Some(entry) = state.touch(segment) else {
            return vec![None; columns.len()];
        };
        let (used, round) = (entry.used, entry.round);
        let found = columns.iter().map(|name| {
            let (place, _) = entry.layout.find(name)?;
            let kept = entry.kept.get_mut(&(place, group))?;
            (kept.used, kept.round) = (used, round);
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
        let Some(entry) = state.touch(segment) else {
            return;
        };
        let Some((place, _)) = entry.layout.find(name) else {
            return;
        };
        if !keep {
            if let Some(size) = entry.sizes.get_mut(place) {
                size.too_large = true;
            }
            let mut freed = 0;
            entry.kept.retain(|(column, _), kept| {
                let goes = *column == place;
                freed += if goes { kept.bytes } else { 0 };
                !goes
            });
            state.bytes -= freed;
            return;
        }
        let bytes = column.bytes();
        let kept = Kept {
            column: Arc::clone(column),
            bytes,
            used: entry.used,
            round: entry.round,
        };
        let before = entry.kept.insert((place, group), kept);
        let before = before.map_or(0, |old| old.bytes);
        state.bytes = state.bytes + bytes - before;
        if state.bytes > self.limit {
            state.evict(self.limit);
        }
    }
}

impl ColumnCache {
    /// Forgets segments that are gone, and columns and segments that were not used in the last rounds of calls: the memory of a server
    /// that answers no queries is free again.
    pub(crate) fn forget_unused(&self) {
        let mut state = self.state.lock();
        state.round += 1;
        let round = state.round;
        let is_used = |last: u64| last + UNUSED_ROUNDS > round;
        state.forget_gone();
        state.segments.retain(|_, entry| is_used(entry.round));
        for entry in state.segments.values_mut() {
            entry.kept.retain(|_, kept| is_used(kept.round));
        }
        state.count();
    }
}

impl State {
    /// A segment that is used now.
    fn touch(&mut self, segment: i64) -> Option<&mut SegmentColumns> {
        self.clock += 1;
        let entry = self.segments.get_mut(&segment)?;
        (entry.used, entry.round) = (self.clock, self.round);
        Some(entry)
    }

    /// A layout that equal ones share.
    fn shared(&mut self, layout: Layout) -> Arc<Layout> {
        if let Some(known) = self.layouts.get(&layout) {
            return Arc::clone(known);
        }
        let layout = Arc::new(layout);
        self.layouts.insert(Arc::clone(&layout));
        layout
    }

    /// Forgets the segments that are gone, then what was not used longest, until a tenth of the limit is free. Of a segment its columns go
    /// first.
    fn evict(&mut self, limit: usize) {
        self.forget_gone();
        let columns = self.kept().map(|kept| ((kept.used, false), kept.bytes));
        let segments = self.segments.values();
        let segments = segments.map(|entry| ((entry.used, true), entry.own_bytes()));
        let mut all: Vec<((u64, bool), usize)> = columns.chain(segments).collect();
        all.sort_unstable();
        let (goal, mut left) = (limit - limit / 10, self.bytes);
        let mut oldest = (0, false);
        for (used, bytes) in all {
            if left <= goal {
                break;
            }
            left = left.saturating_sub(bytes);
            oldest = used;
        }
        self.segments.retain(|_, entry| (entry.used, true) > oldest);
        for entry in self.segments.values_mut() {
            entry.kept.retain(|_, kept| (kept.used, false) > oldest);
        }
        self.count();
    }

    /// As [`ColumnCache::expected_bytes`], of one column.
    fn expected(&self, segments: &[(i64, u64)], column: &Field) -> u64 {
        let (mut kept, mut kept_rows, mut other_rows) = (0, 0, 0);
        for (id, rows) in segments {
            let Some(entry) = self.segments.get(id) else {
                other_rows += rows;
                continue;
            };
            let Some((place, _)) = entry.layout.find(column.name()) else {
                continue;
            };
            let mut missing = *rows;
            for (group, column) in entry.kept_of(place) {
                kept += column.bytes as u64;
                let rows = entry.groups.get(group).map_or(0, |group| group.rows) as u64;
                kept_rows += rows;
                missing = missing.saturating_sub(rows);
            }
            let too_large = entry.sizes.get(place).is_some_and(|size| size.too_large);
            if !too_large {
                other_rows += missing;
            }
        }
        let others = match kept_rows {
            0 => other_rows.saturating_mul(usual_bytes(column)),
            _ => (other_rows as f64 * kept as f64 / kept_rows as f64) as u64,
        };
        kept.saturating_add(others)
    }

    fn forget_gone(&mut self) {
        self.segments
            .retain(|_, segment| segment.alive.strong_count() > 0);
        self.count();
    }

    /// Counts the bytes, and drops layouts that no segment has.
    fn count(&mut self) {
        self.layouts.retain(|layout| Arc::strong_count(layout) > 1);
        let own = self.segments.values().map(SegmentColumns::own_bytes);
        self.bytes = own.sum::<usize>() + self.kept().map(|kept| kept.bytes).sum::<usize>();
    }

    fn kept(&self) -> impl Iterator<Item = &Kept> {
        self.segments.values().flat_map(|entry| entry.kept.values())
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
        let column = |name: &str| FileColumn {
            name: name.to_owned(),
            data_type: DataType::Int64,
            too_large: false,
            bytes: 800,
        };
        let columns = ["d", "b", "c", "a"].map(column).into();
        cache.enter(segment, Arc::downgrade(alive), Arc::new([group]), columns);
    }

    /// What such a segment takes beside columns that are kept.
    fn own() -> usize {
        let cache = ColumnCache::new(1 << 20);
        enter(&cache, 1, &Arc::new(()));
        cache.state.lock().bytes
    }

    fn known(cache: &ColumnCache, segment: i64, names: &[&str]) -> Option<Vec<Known>> {
        let fields = names
            .iter()
            .map(|name| Field::new(*name, DataType::Int64, true));
        let fields: Vec<Field> = fields.collect();
        let known = cache.known(segment, &fields.iter().collect::<Vec<_>>());
        known.map(|known| known.columns)
    }

    #[test]
    fn beyond_the_limit_the_columns_that_were_not_used_longest_are_forgotten() {
        let size = column(100).bytes();
        let cache = ColumnCache::new(own() + 3 * size + size / 2);
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
        assert_eq!(cache.state.lock().bytes, own() + 3 * size);
    }

    #[test]
    fn columns_of_segments_that_are_gone_are_forgotten_first() {
        let size = column(100).bytes();
        let cache = ColumnCache::new(2 * own() + 2 * size + size / 2);
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
        assert_eq!(cache.state.lock().bytes, own() + column(100).bytes());
    }

    #[test]
    fn what_is_known_of_segments_counts_and_is_forgotten_too() {
        let cache = ColumnCache::new(10 * own());
        let alive = Arc::new(());
        for segment in 0..1000 {
            enter(&cache, segment, &alive);
            assert!(known(&cache, 0, &["a"]).is_some());
        }
        let state = cache.state.lock();
        assert_eq!(state.bytes, state.segments.len() * own());
        assert!(state.bytes <= 10 * own());
        // The latest, and the one that was used all the time.
        assert!(state.segments.contains_key(&999) && state.segments.contains_key(&0));
        assert_eq!(state.layouts.len(), 1);
    }

    #[test]
    fn segments_that_no_query_uses_are_forgotten_with_their_layouts() {
        let cache = ColumnCache::new(1 << 20);
        let alive = Arc::new(());
        enter(&cache, 1, &alive);
        (0..UNUSED_ROUNDS).for_each(|_| cache.forget_unused());
        assert_eq!(known(&cache, 1, &["a"]), None);
        let state = cache.state.lock();
        assert_eq!((state.bytes, state.layouts.len()), (0, 0));
    }

    #[test]
    fn a_column_of_another_type_is_absent() {
        let cache = ColumnCache::new(1 << 20);
        let alive = Arc::new(());
        enter(&cache, 1, &alive);
        let text = Field::new("a", DataType::Utf8View, true);
        let known = cache.known(1, &[&text]).map(|known| known.columns);
        assert_eq!(known, Some(vec![Known::Absent]));
    }

    #[test]
    fn a_column_that_is_too_large_is_remembered_and_takes_no_memory() {
        let cache = ColumnCache::new(1 << 20);
        let alive = Arc::new(());
        enter(&cache, 1, &alive);
        cache.put(1, 0, "a", &column(100), true);
        cache.put(1, 0, "a", &column(100), false);
        assert_eq!(known(&cache, 1, &["a"]), Some(vec![Known::TooLarge]));
        assert_eq!(cache.state.lock().bytes, own());
    }

    #[test]
    fn the_bytes_of_columns_are_expected_by_what_is_kept_of_them() {
        let cache = ColumnCache::new(1 << 20);
        let alive = Arc::new(());
        let number = Field::new("a", DataType::Int64, true);
        let text = Field::new("t", DataType::Utf8View, true);
        let segments = [(1, 100), (2, 300)];
        assert_eq!(cache.expected_bytes(&segments, &[&number]), 400 * 8);
        assert_eq!(
            cache.expected_bytes(&segments, &[&number, &text]),
            400 * (8 + TEXT_BYTES)
        );
        enter(&cache, 1, &alive);
        // Segment 1 has no column `t`.
        assert_eq!(cache.expected_bytes(&segments, &[&text]), 300 * TEXT_BYTES);
        let kept = column(100);
        cache.put(1, 0, "a", &kept, true);
        assert_eq!(
            cache.expected_bytes(&segments, &[&number]),
            4 * kept.bytes() as u64
        );
        cache.put(1, 0, "a", &kept, false);
        assert_eq!(cache.expected_bytes(&segments[..1], &[&number]), 0);
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
            assert_eq!(cache.admits_large(&[1], &fields, TimeRange::ALL), admitted);
            assert!(!cache.admits_large(&[1, 2], &fields, TimeRange::ALL));
            // The only row group is of the times 0 and 1.
            let later = TimeRange { from: 2, to: 3 };
            assert!(cache.admits_large(&[1], &fields, later));
        }
        let cache = ColumnCache::new(1 << 20);
        enter(&cache, 1, &alive);
        cache.put(1, 0, "a", &column(100), false);
        cache.put(1, 0, "a", &column(100), true);
        assert_eq!(known(&cache, 1, &["a"]), Some(vec![Known::Fits]));
    }
}
