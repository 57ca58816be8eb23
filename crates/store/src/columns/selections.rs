//! The rows of segments that meet conditions over columns that are too large for the column cache, bounded in bytes.
//!
//! Texts that hardly repeat are read from the file and searched whenever a query has a condition on them. Segments never change, so the
//! rows that meet a condition are the same for the next query with that condition: a bit for each row stands for a whole text.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use arrow::buffer::BooleanBuffer;
use datafusion::physical_expr::PhysicalExpr;
use parking_lot::Mutex;

/// The most conditions whose rows are remembered.
const MAX_CONDITIONS: usize = 512;

/// A condition of a scan, as long as rows that meet it are remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ConditionId(u64);

/// The rows of a row group that meet a condition: a bit for each row, or no bits if no row does.
pub(super) type Selection = Arc<Option<BooleanBuffer>>;

/// The selections that were used last, up to a number of bytes.
#[derive(Debug)]
pub(crate) struct SelectionCache {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    conditions: HashMap<Arc<dyn PhysicalExpr>, ConditionId>,
    next: u64,
    kept: HashMap<Key, Kept>,
    bytes: usize,
    clock: u64,
}

/// A segment, a row group of it, and a condition.
type Key = (i64, usize, ConditionId);

#[derive(Debug)]
struct Kept {
    selection: Selection,
    bytes: usize,
    used: u64,
    segment: Weak<()>,
}

impl SelectionCache {
    /// A cache of at most `limit` bytes.
    pub(crate) fn new(limit: usize) -> SelectionCache {
        SelectionCache {
            limit,
            state: Mutex::default(),
        }
    }

    /// The id of a condition over columns of a table that it names.
    pub(super) fn id_of(&self, condition: &Arc<dyn PhysicalExpr>) -> ConditionId {
        let mut state = self.state.lock();
        if let Some(id) = state.conditions.get(condition) {
            return *id;
        }
        if state.conditions.len() >= MAX_CONDITIONS {
            *state = State {
                next: state.next,
                ..State::default()
            };
        }
        state.next += 1;
        let id = ConditionId(state.next);
        state.conditions.insert(Arc::clone(condition), id);
        id
    }

    /// Whether the selections of all of these row groups of a segment are kept.
    pub(super) fn has_all(&self, segment: i64, groups: usize, condition: ConditionId) -> bool {
        let state = self.state.lock();
        (0..groups).all(|group| state.kept.contains_key(&(segment, group, condition)))
    }

    /// The selection of a row group of a segment, if it is kept. A segment has its id and what is dropped with it.
    pub(super) fn get(
        &self,
        (segment, alive): &(i64, Weak<()>),
        group: usize,
        condition: ConditionId,
    ) -> Option<Selection> {
        let mut state = self.state.lock();
        state.clock += 1;
        let now = state.clock;
        let kept = state.kept.get_mut(&(*segment, group, condition))?;
        if !kept.segment.ptr_eq(alive) {
            return None;
        }
        kept.used = now;
        Some(Arc::clone(&kept.selection))
    }

    /// Keeps the selection of a row group of a segment until the segment is gone.
    pub(super) fn put(
        &self,
        (segment, alive): (i64, Weak<()>),
        group: usize,
        condition: ConditionId,
        selection: &Selection,
    ) {
        let bits = selection.as_ref().as_ref().map_or(0, BooleanBuffer::len);
        let bytes = size_of::<(Key, Kept)>() + bits.div_ceil(8);
        let mut state = self.state.lock();
        state.clock += 1;
        let kept = Kept {
            selection: Arc::clone(selection),
            bytes,
            used: state.clock,
            segment: alive,
        };
        let key = (segment, group, condition);
        let before = state.kept.insert(key, kept).map_or(0, |old| old.bytes);
        state.bytes = state.bytes + bytes - before;
        if state.bytes > self.limit {
            state.evict(self.limit);
        }
    }

    /// Forgets the selections of segments that are gone.
    pub(crate) fn forget_gone(&self) {
        self.state.lock().forget_gone();
    }
}

impl State {
    /// Forgets the segments that are gone, then the selections that were not used longest, until a tenth of the limit is free.
    fn evict(&mut self, limit: usize) {
        self.forget_gone();
        let mut kept: Vec<(u64, usize)> = self.kept.values().map(|k| (k.used, k.bytes)).collect();
        kept.sort_unstable();
        let goal = limit - limit / 10;
        let (mut left, mut oldest) = (self.bytes, 0);
        for (used, bytes) in kept {
            if left <= goal {
                break;
            }
            left -= bytes;
            oldest = used;
        }
        self.kept.retain(|_, kept| kept.used > oldest);
        self.count();
    }

    fn forget_gone(&mut self) {
        self.kept.retain(|_, kept| kept.segment.strong_count() > 0);
        self.count();
    }

    fn count(&mut self) {
        self.bytes = self.kept.values().map(|kept| kept.bytes).sum();
    }
}

#[cfg(test)]
mod tests {
    use datafusion::logical_expr::Operator;
    use datafusion::physical_expr::expressions::BinaryExpr;
    use datafusion::physical_expr::expressions::{Column, lit};

    use super::*;

    fn condition(text: &str) -> Arc<dyn PhysicalExpr> {
        let column = Arc::new(Column::new("message", 0));
        Arc::new(BinaryExpr::new(column, Operator::Eq, lit(text)))
    }

    fn selection(rows: usize) -> Selection {
        Arc::new(Some(BooleanBuffer::new_set(rows)))
    }

    #[test]
    fn equal_conditions_have_one_id() {
        let cache = SelectionCache::new(1 << 20);
        let (a, b) = (cache.id_of(&condition("a")), cache.id_of(&condition("b")));
        assert_ne!(a, b);
        assert_eq!(cache.id_of(&condition("a")), a);
        // The ids of conditions that are forgotten are not used again.
        let ids = (0..MAX_CONDITIONS).map(|n| cache.id_of(&condition(&n.to_string())));
        assert!(ids.into_iter().all(|id| id != a && id != b));
        assert_ne!(cache.id_of(&condition("a")), a);
    }

    #[test]
    fn the_selections_that_were_not_used_longest_are_forgotten() {
        let size = size_of::<(Key, Kept)>() + 1000;
        let cache = SelectionCache::new(3 * size + size / 2);
        let (alive, id) = (Arc::new(()), cache.id_of(&condition("a")));
        let segment = (1, Arc::downgrade(&alive));
        let put = |group| cache.put(segment.clone(), group, id, &selection(8000));
        (0..3).for_each(put);
        assert!(cache.has_all(1, 3, id) && !cache.has_all(1, 4, id));
        assert!(cache.get(&segment, 0, id).is_some());
        put(3);
        let kept = [0, 1, 2, 3].map(|group| cache.get(&segment, group, id).is_some());
        assert_eq!(kept, [true, false, true, true]);
        assert_eq!(cache.state.lock().bytes, 3 * size);
    }

    #[test]
    fn selections_of_segments_that_are_gone_are_forgotten() {
        let cache = SelectionCache::new(1 << 20);
        let (alive, id) = (Arc::new(()), cache.id_of(&condition("a")));
        let segment = (1, Arc::downgrade(&alive));
        cache.put(segment.clone(), 0, id, &Arc::new(None));
        let other = (1, Arc::downgrade(&Arc::new(())));
        assert!(
            cache.get(&other, 0, id).is_none(),
            "another segment of this id"
        );
        cache.forget_gone();
        assert!(cache.has_all(1, 1, id));
        drop(alive);
        cache.forget_gone();
        assert!(cache.get(&segment, 0, id).is_none());
        assert_eq!(cache.state.lock().bytes, 0);
    }
}
