//! The memtable and the sealed segments, changed together under one lock: what a query can see.
//!
//! A snapshot is one pointer. The log's writer and the sealer replace the pointer; a query with the old pointer sees exactly what it
//! saw, so no row is seen twice or missed while rows move from the memtable to a segment.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use parking_lot::Mutex;

use crate::app_id::AppId;
use crate::batch::{concat, time_range};
use crate::log::{Appended, LogSink};
use crate::node::NodeRecord;
use crate::peers::PeerRows;
use crate::schema::Table;
use crate::segment::{Retired, Segment};
use crate::usage::{Usage, UsageRecord};

/// Chunks of one size class that are joined into one.
const JOIN: usize = 16;
/// Rows below which a chunk is in the first, and in the second, size class.
const CLASSES: [usize; 2] = [512, 8192];

/// An application and one of its tables.
pub(crate) type Key = (AppId, Table);

/// Rows of the memtable.
#[derive(Debug, Clone)]
pub(crate) struct Chunk {
    pub(crate) batch: RecordBatch,
    pub(crate) min_ts: i64,
    pub(crate) max_ts: i64,
    bytes: usize,
}

impl Chunk {
    fn new(batch: RecordBatch) -> Chunk {
        let (min_ts, max_ts) = time_range(&batch);
        Chunk {
            bytes: batch.get_array_memory_size(),
            batch,
            min_ts,
            max_ts,
        }
    }

    fn class(&self) -> usize {
        CLASSES
            .iter()
            .filter(|rows| self.batch.num_rows() >= **rows)
            .count()
    }
}

/// Chunks of the memtable, in the order of the log.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chunks {
    pub(crate) list: Vec<Chunk>,
    pub(crate) rows: usize,
    pub(crate) bytes: usize,
    pub(crate) min_seq: u64,
    pub(crate) max_seq: u64,
}

impl Chunks {
    fn push(&mut self, table: Table, sequence: u64, batch: RecordBatch) {
        self.note(sequence, sequence);
        self.rows += batch.num_rows();
        self.list.push(Chunk::new(batch));
        self.join_tail(table);
        self.bytes = self.list.iter().map(|chunk| chunk.bytes).sum();
    }

    fn note(&mut self, min: u64, max: u64) {
        self.min_seq = if self.list.is_empty() {
            min
        } else {
            self.min_seq.min(min)
        };
        self.max_seq = self.max_seq.max(max);
    }

    /// Joins the chunks of many small requests: a scan pays for each chunk, which has forty arrays.
    fn join_tail(&mut self, table: Table) {
        while let Some(last) = self.list.last() {
            let class = last.class();
            let same = self
                .list
                .iter()
                .rev()
                .take_while(|chunk| chunk.class() == class)
                .count();
            if class == CLASSES.len() || same < JOIN {
                return;
            }
            let from = self.list.len() - same;
            let tail = self.list.get(from..).unwrap_or_default();
            // Batches of one table always join; if they did not, they would stay apart and lose nothing.
            let Ok(joined) = concat(table, tail.iter().map(|chunk| &chunk.batch)) else {
                return;
            };
            self.list.truncate(from);
            self.list.push(Chunk::new(joined));
        }
    }

    fn append(&mut self, other: &Chunks) {
        if other.list.is_empty() {
            return;
        }
        self.note(other.min_seq, other.max_seq);
        self.list.extend(other.list.iter().cloned());
        self.rows += other.rows;
        self.bytes += other.bytes;
    }
}

/// One application's table.
#[derive(Debug, Clone, Default)]
pub(crate) struct TableState {
    /// The active part of the memtable, which takes appends.
    pub(crate) open: Arc<Chunks>,
    /// The frozen part of the memtable, which is being sealed.
    pub(crate) frozen: Arc<Chunks>,
    pub(crate) segments: Arc<Vec<Arc<Segment>>>,
}

/// The tables of all applications.
pub(crate) type Tables = BTreeMap<Key, TableState>;

/// The content of the store at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    pub(crate) tables: Tables,
    /// What was sealed.
    usage: Arc<Usage>,
    /// The last sequence in it.
    pub(crate) sequence: u64,
    /// The last sequence whose rows have left the memtable for segments.
    pub(crate) sealed: u64,
    /// The other nodes of the catalogue, as of the same moment as the segments.
    pub(crate) nodes: Arc<Vec<NodeRecord>>,
    /// Deleted applications: late appends to them are dropped.
    dropped: HashSet<AppId>,
}

impl View {
    /// What these applications sent, by application, table and hour.
    pub(crate) fn usage(&self, apps: &[AppId]) -> Vec<UsageRecord> {
        let sealed = self.usage.records();
        let mut usage = Usage::of_records(sealed.filter(|record| apps.contains(&record.app)));
        let own = self
            .tables
            .iter()
            .filter(|((app, _), _)| apps.contains(app));
        for (key, state) in own {
            for chunk in state.frozen.list.iter().chain(&state.open.list) {
                usage.add_batch(*key, &chunk.batch);
            }
        }
        usage.records().collect()
    }

    fn has_segments(&self, ids: &[i64]) -> bool {
        let there = self.tables.values().flat_map(|state| state.segments.iter());
        let there: BTreeSet<i64> = there.map(|segment| segment.record.id).collect();
        ids.iter().all(|id| there.contains(id))
    }

    fn sizes(&self) -> Sizes {
        let mut sizes = Sizes::default();
        for state in self.tables.values() {
            sizes.open_rows = sizes.open_rows.max(state.open.rows);
            sizes.open_bytes += state.open.bytes;
            sizes.bytes += state.open.bytes + state.frozen.bytes;
        }
        sizes
    }
}

/// The size of the memtable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Rows of the largest active part.
    pub(crate) open_rows: usize,
    /// Bytes of all active parts.
    pub(crate) open_bytes: usize,
    /// Bytes of all active and frozen parts.
    pub(crate) bytes: usize,
}

/// The current view, and its changes.
#[derive(Debug, Default)]
pub(crate) struct ViewCell {
    current: Mutex<Arc<View>>,
    sizes: Mutex<Sizes>,
}

impl ViewCell {
    pub(crate) fn get(&self) -> Arc<View> {
        self.current.lock().clone()
    }

    pub(crate) fn sizes(&self) -> Sizes {
        *self.sizes.lock()
    }

    /// Bytes of one application's active and frozen parts.
    pub(crate) fn bytes_of(&self, app: AppId) -> usize {
        let current = self.current.lock();
        let own = current
            .tables
            .iter()
            .filter(|((owner, _), _)| *owner == app);
        own.map(|(_, state)| state.open.bytes + state.frozen.bytes)
            .sum()
    }

    fn change(&self, change: impl FnOnce(&mut View)) {
        let mut current = self.current.lock();
        change(Arc::make_mut(&mut current));
        *self.sizes.lock() = current.sizes();
    }

    pub(crate) fn push(&self, appended: Vec<Appended>) {
        self.change(|view| {
            for request in appended {
                view.sequence = view.sequence.max(request.sequence);
                if view.dropped.contains(&request.app) {
                    continue;
                }
                for (table, batch) in request.batches {
                    let state = view.tables.entry((request.app, table)).or_default();
                    Arc::make_mut(&mut state.open).push(table, request.sequence, batch);
                }
            }
        });
    }

    /// Freezes the memtable: active parts become frozen, beside those that an earlier seal failed to write.
    pub(crate) fn freeze_all(&self) {
        self.change(|view| {
            for state in view
                .tables
                .values_mut()
                .filter(|state| !state.open.list.is_empty())
            {
                let open = std::mem::take(&mut state.open);
                Arc::make_mut(&mut state.frozen).append(&open);
            }
        });
    }

    /// Replaces the frozen parts of `sealed`, the view that a seal began with, by their segments and `usage`. Where the frozen part is another one
    /// by now, because the store was reset or restored meanwhile, it stays, and its segments are dropped. `position`: the last sequence of
    /// the frozen parts.
    pub(crate) fn sealed(
        &self,
        sealed: &View,
        segments: Vec<Arc<Segment>>,
        usage: &Usage,
        position: u64,
    ) {
        self.change(|view| {
            view.sealed = view.sealed.max(position);
            let mut current = BTreeSet::new();
            for (key, before) in &sealed.tables {
                if let Some(state) = view.tables.get_mut(key)
                    && Arc::ptr_eq(&state.frozen, &before.frozen)
                {
                    state.frozen = Arc::default();
                    current.insert(*key);
                }
            }
            let (valid, stale): (Vec<_>, Vec<_>) = segments
                .into_iter()
                .partition(|segment| current.contains(&(segment.record.app, segment.record.table)));
            retire(&stale);
            add(view, valid);
            let own = |record: &UsageRecord| current.contains(&(record.app, record.table));
            Arc::make_mut(&mut view.usage).add_all(usage.records().filter(own));
        });
    }

    /// Notes the position of the log before it is replayed.
    pub(crate) fn begin(&self, position: u64) {
        self.change(|view| (view.sealed, view.sequence) = (position, position));
    }

    /// Makes visible what other nodes have committed. The objects of segments that are gone are for the nodes that replaced or expired them.
    pub(crate) fn follow(
        &self,
        gone: &[i64],
        new: Vec<Arc<Segment>>,
        nodes: Arc<Vec<NodeRecord>>,
        deleted: &[AppId],
    ) {
        self.change(|view| {
            view.nodes = nodes;
            for app in deleted {
                if view.dropped.insert(*app) {
                    Arc::make_mut(&mut view.usage).retain_apps(|owner| owner != *app);
                    view.tables.retain(|(owner, _), state| {
                        if owner == app {
                            release(&state.segments);
                        }
                        owner != app
                    });
                }
            }
            take_out(view, gone, |_| Retired::Released);
            let dropped = &view.dropped;
            let kept = new.into_iter();
            let kept = kept.filter(|segment| !dropped.contains(&segment.record.app));
            let kept = kept.collect();
            add(view, kept);
        });
    }

    /// Adds what was sealed before this process began.
    pub(crate) fn add_usage(&self, usage: &Usage) {
        self.change(|view| Arc::make_mut(&mut view.usage).add_all(usage.records()));
    }

    /// Forgets the usage of hours that began before `start`, in ticks.
    pub(crate) fn forget_usage_before(&self, start: i64) {
        self.change(|view| Arc::make_mut(&mut view.usage).forget_before(start));
    }

    /// Replaces the segments with these ids by `segments`, after a merge. Their files are removed after the last read. If one of them
    /// is gone, because the store was reset or restored meanwhile, nothing is replaced and `segments` are dropped.
    pub(crate) fn replace(&self, gone: &[i64], segments: Vec<Arc<Segment>>) {
        self.change(|view| {
            if !view.has_segments(gone) {
                return retire(&segments);
            }
            take_out(view, gone, |_| Retired::Removed);
            add(view, segments);
        });
    }

    /// Whether all segments with these ids are there.
    pub(crate) fn has_segments(&self, ids: &[i64]) -> bool {
        self.get().has_segments(ids)
    }

    /// Takes out the rows of one application, or all rows, and returns them. The files of segments are removed after the last read.
    pub(crate) fn reset(&self, app: Option<AppId>) -> Tables {
        let mut gone = Tables::new();
        self.change(|view| {
            let (out, kept) = std::mem::take(&mut view.tables)
                .into_iter()
                .partition(|((owner, _), _)| app.is_none_or(|app| app == *owner));
            (gone, view.tables) = (out, kept);
            let usage = Arc::make_mut(&mut view.usage);
            usage.retain_apps(|owner| app.is_some_and(|app| app != owner));
        });
        for state in gone.values() {
            retire(&state.segments);
        }
        gone
    }

    /// Puts the rows of `saved` in the place of all rows, which it returns. Applications that were deleted since stay empty.
    pub(crate) fn restore(&self, saved: &View) -> Tables {
        let mut gone = Tables::new();
        self.change(|view| {
            let tables = saved.tables.iter();
            let kept = tables.filter(|((app, _), _)| !view.dropped.contains(app));
            let kept = kept.map(|(key, state)| (*key, state.clone())).collect();
            gone = std::mem::replace(&mut view.tables, kept);
            view.usage = saved.usage.clone();
            let usage = Arc::make_mut(&mut view.usage);
            usage.retain_apps(|app| !view.dropped.contains(&app));
        });
        // The file of a segment that was restored lives as long as the segment does.
        for state in gone.values() {
            retire(&state.segments);
        }
        gone
    }

    /// Takes expired segments out. Their files are moved to the folder `expired` after the last read.
    pub(crate) fn expire(&self, gone: &[i64], expired: &Path) {
        let aside = |segment: &Segment| Retired::Moved(expired.join(&segment.record.path));
        self.change(|view| take_out(view, gone, aside));
    }

    /// The ids of an application's segments.
    pub(crate) fn segments_of(&self, app: AppId) -> Vec<i64> {
        let view = self.get();
        let states = view.tables.iter().filter(|((owner, _), _)| *owner == app);
        states
            .flat_map(|(_, state)| state.segments.iter().map(|segment| segment.record.id))
            .collect()
    }

    /// Removes an application. Later appends to it stay invisible.
    pub(crate) fn drop_app(&self, app: AppId) {
        self.change(|view| {
            view.dropped.insert(app);
            Arc::make_mut(&mut view.usage).retain_apps(|owner| owner != app);
            view.tables.retain(|(owner, _), state| {
                if *owner == app {
                    retire(&state.segments);
                }
                *owner != app
            });
        });
    }
}

/// Says that the files of these segments are removed after the last read.
fn retire(segments: &[Arc<Segment>]) {
    for segment in segments {
        segment.retire(Retired::Removed);
    }
}

/// Says that another node decides what becomes of the objects of these segments.
fn release(segments: &[Arc<Segment>]) {
    for segment in segments {
        segment.retire(Retired::Released);
    }
}

fn take_out(view: &mut View, gone: &[i64], retired: impl Fn(&Segment) -> Retired) {
    let gone: HashSet<i64> = gone.iter().copied().collect();
    let goes = |segment: &Arc<Segment>| gone.contains(&segment.record.id);
    for state in view.tables.values_mut() {
        if !state.segments.iter().any(goes) {
            continue;
        }
        for segment in state.segments.iter().filter(|segment| goes(segment)) {
            segment.retire(retired(segment));
        }
        Arc::make_mut(&mut state.segments).retain(|segment| !goes(segment));
    }
}

fn add(view: &mut View, segments: Vec<Arc<Segment>>) {
    for segment in segments {
        let key = (segment.record.app, segment.record.table);
        Arc::make_mut(&mut view.tables.entry(key).or_default().segments).push(segment);
    }
}

/// The log writer's sink: it updates the view.
pub(crate) struct ViewSink(pub(crate) Arc<ViewCell>);

impl LogSink for ViewSink {
    fn durable(&self, appended: Vec<Appended>) {
        self.0.push(appended);
    }

    fn freeze(&self, _position: u64) {
        self.0.freeze_all();
    }
}

/// What a table of a snapshot consists of.
#[derive(Debug, Clone, Default)]
pub(crate) struct TableRows {
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) segments: Vec<Arc<Segment>>,
    /// Segments that cannot be read.
    pub(crate) damaged: Vec<Arc<Segment>>,
    /// Rows in the memtables of other nodes.
    pub(crate) peers: Vec<PeerRows>,
}
