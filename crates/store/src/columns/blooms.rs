//! The bloom filters of segments in memory: a lookup of one value opens only the files that may have it.

use std::collections::HashMap;
use std::sync::Weak;

use parking_lot::Mutex;
use parquet::bloom_filter::Sbbf;

use crate::segment::Segment;

/// Bytes of a block of a bloom filter.
const BLOCK: usize = 32;

/// The bloom filters that were used last, up to a number of bytes. Those of segments that are gone are forgotten with the next ones that
/// are kept.
#[derive(Debug)]
pub(crate) struct BloomCache {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<(i64, String), Entry>,
    bytes: usize,
    clock: u64,
}

/// The filters of a column of a segment, one for each row group; none for a row group without a filter.
#[derive(Debug)]
struct Entry {
    filters: Vec<Option<Sbbf>>,
    bytes: usize,
    used: u64,
    segment: Weak<()>,
}

impl BloomCache {
    pub(super) fn new(limit: usize) -> BloomCache {
        BloomCache {
            limit,
            state: Mutex::default(),
        }
    }

    /// Whether the filters of this number of rows may be kept: a byte and a quarter for each.
    pub(super) fn admits(&self, rows: u64) -> bool {
        rows.saturating_mul(5) / 4 <= self.limit as u64
    }

    /// Whether a column of a segment may have a text; `None` if its filters are not in memory.
    pub(super) fn may_contain(&self, segment: i64, column: &str, text: &str) -> Option<bool> {
        let mut state = self.state.lock();
        state.clock += 1;
        let now = state.clock;
        let entry = state.entries.get_mut(&(segment, column.to_owned()))?;
        entry.used = now;
        let contains = |filter: &Option<Sbbf>| {
            let filter = filter.as_ref();
            filter.is_none_or(|filter| filter.check(text))
        };
        Some(entry.filters.iter().any(contains))
    }

    /// Keeps the filters of a column of a segment.
    pub(super) fn put(&self, segment: &Segment, column: &str, filters: Vec<Option<Sbbf>>) {
        self.put_of(segment.record.id, segment.alive(), column, filters);
    }

    fn put_of(&self, id: i64, segment: Weak<()>, column: &str, filters: Vec<Option<Sbbf>>) {
        let mut state = self.state.lock();
        state.clock += 1;
        let blocks: usize = filters.iter().flatten().map(Sbbf::num_blocks).sum();
        let entry = Entry {
            bytes: blocks * BLOCK,
            filters,
            used: state.clock,
            segment,
        };
        state.entries.insert((id, column.to_owned()), entry);
        state.forget(self.limit);
    }

    /// Forgets the filters of segments that are gone.
    pub(super) fn forget_gone(&self) {
        self.state.lock().forget(self.limit);
    }
}

impl State {
    /// Forgets the filters of segments that are gone and, beyond the limit, those that were not used longest.
    fn forget(&mut self, limit: usize) {
        self.entries
            .retain(|_, entry| entry.segment.strong_count() > 0);
        self.bytes = self.entries.values().map(|entry| entry.bytes).sum();
        if self.bytes <= limit {
            return;
        }
        let mut kept: Vec<(u64, usize)> =
            self.entries.values().map(|e| (e.used, e.bytes)).collect();
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
        self.entries.retain(|_, entry| entry.used > oldest);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn filter(texts: &[&str]) -> Option<Sbbf> {
        let mut filter = Sbbf::new_with_num_of_bytes(1024);
        texts.iter().for_each(|text| filter.insert(*text));
        Some(filter)
    }

    #[test]
    fn a_text_may_be_in_a_row_group_whose_filter_has_it_or_that_has_no_filter() {
        let cache = BloomCache::new(1 << 20);
        let alive = Arc::new(());
        assert_eq!(cache.may_contain(1, "id", "a"), None);
        let segment = || Arc::downgrade(&alive);
        cache.put_of(1, segment(), "id", vec![filter(&["a"]), filter(&["b"])]);
        cache.put_of(2, segment(), "id", vec![filter(&["a"]), None]);
        let found = |segment, text| cache.may_contain(segment, "id", text);
        assert_eq!(
            [found(1, "a"), found(1, "b"), found(1, "c")],
            [Some(true), Some(true), Some(false)]
        );
        assert_eq!(found(2, "c"), Some(true));
        assert_eq!(cache.may_contain(1, "itemId", "a"), None);
    }

    #[test]
    fn filters_are_forgotten_beyond_the_limit_and_with_their_segments() {
        let cache = BloomCache::new(2500);
        let (first, second) = (Arc::new(()), Arc::new(()));
        cache.put_of(1, Arc::downgrade(&first), "id", vec![filter(&["a"])]);
        cache.put_of(2, Arc::downgrade(&second), "id", vec![filter(&["a"])]);
        assert_eq!(cache.may_contain(1, "id", "a"), Some(true));
        cache.put_of(3, Arc::downgrade(&second), "id", vec![filter(&["a"])]);
        let kept = [1, 2, 3].map(|segment| cache.may_contain(segment, "id", "a").is_some());
        assert_eq!(kept, [true, false, true]);
        drop(first);
        cache.forget_gone();
        assert_eq!(cache.may_contain(1, "id", "a"), None);
        assert_eq!(cache.state.lock().bytes, 1024);
    }
}
