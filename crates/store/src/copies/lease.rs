//! What a holder does for queries: it pins its copy of the log of an origin that does not reply to them.

use std::time::Duration;

use super::held::CopiesFolder;
use super::read::{CopyReader, Pinned};
use crate::blocking::blocking;
use crate::error::Result;
use crate::node::NodeRecord;
use crate::peers::{CopyLease, HotReply};
use crate::store::Store;

/// How long a query waits at once for a copy that is being read. It asks again then.
const READING: Duration = Duration::from_secs(2);

impl Store {
    /// Pins the copy of another node's log for a query of a third one.
    ///
    /// # Errors
    /// As [`Store::pin_copy`], and [`crate::StoreError::Overloaded`] if too many queries read this node.
    pub async fn open_copy(&self, lease: CopyLease, lifetime: Duration) -> Result<HotReply> {
        match self.pin_copy(lease).await? {
            Pinned::Rows(copy) => self.lease(&copy.rows, lifetime, Some(copy.memory)),
            Pinned::Gone => Ok(HotReply::Gone),
            Pinned::Unfinished => Ok(HotReply::Behind),
        }
    }

    /// Pins the copy of another node's log: it is read into memory for the first query.
    ///
    /// # Errors
    /// [`crate::StoreError::CopyTooLarge`]; [`crate::StoreError::Missing`] and [`crate::StoreError::Damaged`] for a copy that is not whole.
    pub(crate) async fn pin_copy(&self, lease: CopyLease) -> Result<Pinned> {
        let copies = &self.nodes.read_copies;
        let slot = copies.slot(lease.origin);
        let reader = CopyReader {
            lease,
            folder: CopiesFolder::of(&self.config),
            held: self.nodes.copies.clone(),
            hot: self.view.clone(),
            memory: copies.memory.clone(),
            limit: self.config.hot_limit_bytes,
            now: self.config.clock.elapsed(),
        };
        // The thread goes on if the time is over, and the next query finds what it has read.
        let reading = async {
            let mut slot = slot.lock_owned().await;
            blocking(move || reader.read(&mut slot)).await
        };
        let read = tokio::time::timeout(READING, reading).await;
        read.unwrap_or(Ok(Pinned::Unfinished))
    }

    /// Drops copies in memory that queries do not need any more: the origin reports again, or another copy counts. The background task does
    /// this every second.
    pub(crate) fn release_copies(&self) {
        let view = self.view.get();
        let needed = |lease: &CopyLease, is_idle: bool| {
            let is_origin = |node: &&NodeRecord| node.id == lease.origin;
            view.nodes.iter().find(is_origin).is_some_and(|node| {
                let counts = node
                    .copy
                    .is_some_and(|copy| copy.generation == lease.generation);
                counts && !node.drained && !(is_idle && node.is_live())
            })
        };
        let now = self.config.clock.elapsed();
        self.nodes.read_copies.release(now, needed);
    }

    /// What copies in memory leave of `store.memory` for the memtable.
    pub(crate) fn hot_room(&self) -> usize {
        let copies = self.nodes.read_copies.memory.bytes();
        self.config.hot_limit_bytes.saturating_sub(copies)
    }

    /// Bytes of the memtable from which on it is sealed: before telemetry is refused, though copies take a part of the memory.
    pub(crate) fn seal_bytes(&self) -> usize {
        self.config.hot_bytes.min(self.hot_room() / 2)
    }

    /// Bytes of copies of other nodes' logs that are in memory.
    pub fn copy_bytes(&self) -> usize {
        self.nodes.read_copies.memory.bytes()
    }
}
