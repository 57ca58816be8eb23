//! Copies of other nodes' logs in memory, for queries that their origins do not reply to.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::held::{CopiesFolder, HeldCopies};
use super::memory::{CopyMemory, Reservation, bytes_of, most_for_queries};
use crate::error::{Result, StoreError};
use crate::log;
use crate::node::NodeId;
use crate::peers::CopyLease;
use crate::recovery::appended;
use crate::view::{View, ViewCell};

/// How long a copy stays in memory after the last query that read it, once its origin reports again.
const IDLE: Duration = Duration::from_secs(10);
/// How long queries of a copy are refused at once that did not fit into memory.
const REFUSED: Duration = Duration::from_secs(5);

/// The copies that queries have read, by their origins.
#[derive(Debug, Default)]
pub(crate) struct ReadCopies {
    slots: Mutex<HashMap<NodeId, Arc<Slot>>>,
    pub(crate) memory: Arc<CopyMemory>,
}

/// The place of one origin's copy. One reader at a time reads its files.
pub(crate) type Slot = tokio::sync::Mutex<ReadState>;

/// What is in memory of an origin's copy.
#[derive(Debug, Default)]
pub(crate) struct ReadState {
    copy: Option<ReadCopy>,
    /// What did not fit, and until when it is refused at once.
    refused: Option<(CopyLease, Duration)>,
}

/// A copy in memory. Times are by the clock's `elapsed`.
#[derive(Debug)]
struct ReadCopy {
    of: CopyLease,
    rows: ViewCell,
    /// The last record in it.
    through: u64,
    /// Whether the copy was closed before it was read, so that nothing follows.
    is_whole: bool,
    memory: Arc<Reservation>,
    used: Duration,
}

/// The rows of a copy as they were at one moment, with the memory that they take.
#[derive(Debug, Clone)]
pub(crate) struct PinnedCopy {
    pub(crate) rows: Arc<View>,
    pub(crate) memory: Arc<Reservation>,
}

/// What became of a query's wish to read a copy.
#[derive(Debug)]
pub(crate) enum Pinned {
    Rows(PinnedCopy),
    /// The holder knows of a later moment of the catalogue.
    Gone,
    /// The copy is still being read.
    Unfinished,
}

/// Reads one copy.
#[derive(Debug)]
pub(crate) struct CopyReader {
    pub(crate) lease: CopyLease,
    pub(crate) folder: CopiesFolder,
    pub(crate) held: Arc<HeldCopies>,
    /// The memtable, beside which copies have to fit.
    pub(crate) hot: Arc<ViewCell>,
    pub(crate) memory: Arc<CopyMemory>,
    /// `store.memory`.
    pub(crate) limit: usize,
    pub(crate) now: Duration,
}

impl ReadCopies {
    /// The place of an origin's copy.
    pub(crate) fn slot(&self, origin: NodeId) -> Arc<Slot> {
        self.slots.lock().entry(origin).or_default().clone()
    }

    /// Drops the copies of which `needed` is false, given how long ago they were read. One that is being read stays.
    pub(crate) fn release(&self, now: Duration, needed: impl Fn(&CopyLease, bool) -> bool) {
        self.slots.lock().retain(|_, slot| {
            let Ok(mut state) = slot.try_lock() else {
                return true;
            };
            state.refused.take_if(|(_, until)| *until <= now);
            state.copy.take_if(|copy| {
                let is_idle = now.saturating_sub(copy.used) >= IDLE;
                !needed(&copy.of, is_idle)
            });
            state.copy.is_some() || state.refused.is_some()
        });
    }
}

/// Later moments of an origin and its copies are larger.
fn age(lease: &CopyLease) -> (u64, u64, Reverse<u64>) {
    (lease.generation, lease.position, Reverse(lease.ends))
}

impl CopyReader {
    /// Reads what of the copy is not in memory yet, and pins it. Blocks.
    ///
    /// # Errors
    /// [`StoreError::CopyTooLarge`]; [`StoreError::Missing`] and [`StoreError::Damaged`] for a copy that is not whole.
    pub(crate) fn read(&self, state: &mut ReadState) -> Result<Pinned> {
        if let Some((refused, until)) = &state.refused
            && *refused == self.lease
            && *until > self.now
        {
            return Err(self.too_large());
        }
        if let Some(known) = &state.copy {
            if age(&known.of) > age(&self.lease) {
                return Ok(Pinned::Gone);
            }
            // Rows of an earlier position are in segments, and chunks of rows have no sequence numbers by which to leave them out.
            if known.of != self.lease {
                state.copy = None;
            }
        }
        let copy = state.copy.get_or_insert_with(|| ReadCopy {
            of: self.lease,
            rows: ViewCell::default(),
            through: self.lease.position,
            is_whole: false,
            memory: Arc::new(self.memory.reserve()),
            used: self.now,
        });
        if let Err(error) = self.read_more(copy) {
            state.copy = None;
            if matches!(error, StoreError::CopyTooLarge { .. }) {
                state.refused = Some((self.lease, self.now.saturating_add(REFUSED)));
            }
            return Err(error);
        }
        copy.used = self.now;
        Ok(Pinned::Rows(PinnedCopy {
            rows: copy.rows.get(),
            memory: copy.memory.clone(),
        }))
    }

    fn read_more(&self, copy: &mut ReadCopy) -> Result<()> {
        // Before the files are looked at: all records up to the last one are durable then. One that is closed is never extended again.
        let last = self.held.last(self.lease.origin, self.lease.generation);
        let is_up_to_date = last.is_some_and(|last| last <= copy.through);
        if copy.is_whole || is_up_to_date {
            return Ok(());
        }
        let due = last.map(|last| last.min(self.lease.ends));
        let dir = self
            .folder
            .path_of(self.lease.origin, self.lease.generation);
        self.replay(copy, &dir, due.unwrap_or(self.lease.ends))?;
        if let Some(due) = due.filter(|due| copy.through < *due) {
            return Err(missing(
                &dir,
                format!("record {due} is due, and it ends with {}", copy.through),
            ));
        }
        copy.is_whole = last.is_none();
        Ok(())
    }

    /// Reads the records after those that are in memory, up to `last`.
    fn replay(&self, copy: &mut ReadCopy, dir: &Path, last: u64) -> Result<()> {
        let vfs = &*self.folder.vfs;
        let files = log::files(vfs, dir).map_err(StoreError::io("list", dir))?;
        if files.is_empty() {
            return Err(missing(
                dir,
                "the copy of a node's log has no files".to_owned(),
            ));
        }
        log::replay(vfs, dir, copy.through, |sequence, payload| {
            if sequence > last {
                return Ok(());
            }
            let request = appended(sequence, payload)?;
            let most = most_for_queries(self.hot.sizes().bytes, self.limit);
            if !copy.memory.add(bytes_of(&request), most) {
                return Err(self.too_large());
            }
            copy.rows.push(vec![request]);
            copy.through = sequence;
            Ok(())
        })
        .map(drop)
    }

    fn too_large(&self) -> StoreError {
        StoreError::CopyTooLarge { limit: self.limit }
    }
}

fn missing(dir: &Path, what: String) -> StoreError {
    StoreError::Missing {
        path: dir.to_owned(),
        what,
    }
}
