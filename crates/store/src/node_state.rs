//! What a node keeps in memory about the others.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use parking_lot::Mutex;
use uuid::Uuid;

use crate::copies::held::HeldCopies;
use crate::copies::memory::Reservation;
use crate::copies::read::ReadCopies;
use crate::node::{CopyPlace, NodeId};
use crate::view::{Chunks, Key};

/// What a node keeps in memory about the others. Times are by the clock's `elapsed`.
#[derive(Debug, Default)]
pub(crate) struct NodeState {
    /// What was read of the catalogue last.
    pub(crate) followed: Mutex<LastRead>,
    /// The pinned memtables, by their leases.
    pub(crate) leases: Mutex<HashMap<Uuid, Lease>>,
    /// The copies of other nodes' logs.
    pub(crate) copies: Arc<HeldCopies>,
    /// Those of them that queries have read.
    pub(crate) read_copies: ReadCopies,
    /// The copy of this node's log that counts, as the catalogue was read last.
    pub(crate) own_copy: Mutex<Option<CopyPlace>>,
    /// The nodes that do not reply: queries read the copies of their logs.
    pub(crate) away: Mutex<HashSet<NodeId>>,
    /// Whether telemetry is taken.
    pub(crate) joined: AtomicBool,
}

/// What was read of the catalogue last.
#[derive(Debug, Default)]
pub(crate) struct LastRead {
    /// The transaction that changed the list of segments last.
    pub(crate) segments: i64,
    /// When; `None` before the first time.
    pub(crate) at: Option<Duration>,
}

/// A pinned memtable.
#[derive(Debug)]
pub(crate) struct Lease {
    /// The frozen and the active part of each table.
    pub(crate) tables: Arc<HashMap<Key, [Arc<Chunks>; 2]>>,
    /// When it is released.
    pub(crate) until: Duration,
    /// The memory of a copy, which counts until the last lease ends.
    pub(crate) _memory: Option<Arc<Reservation>>,
}

impl NodeState {
    /// That of a node which takes telemetry at once, or only once it has joined the others.
    pub(crate) fn new(joined: bool) -> NodeState {
        NodeState {
            joined: AtomicBool::new(joined),
            ..NodeState::default()
        }
    }

    /// Releases the leases whose time is over.
    pub(crate) fn release_old(&self, now: Duration) {
        self.leases.lock().retain(|_, lease| lease.until > now);
    }
}
