//! The memtable of this node, as other nodes read it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arrow::record_batch::RecordBatch;
use uuid::Uuid;

use crate::batch::compacted;
use crate::copies::memory::Reservation;
use crate::error::{Result, StoreError};
use crate::ids::time_ordered_id;
use crate::node_state::Lease;
use crate::peers::{HotReply, HotRequest, HotTable};
use crate::store::Store;
use crate::view::{Chunks, Key, View};

/// Rows that are sent at once.
const PART_ROWS: usize = 8192;
/// Leases at one time. Each pins rows that are sealed meanwhile.
const MAX_LEASES: usize = 4096;
/// How long a reader waits for a seal of this node that it knows from the catalogue to become visible here.
const BEHIND: Duration = Duration::from_secs(2);
const RETRY: Duration = Duration::from_millis(5);

/// Rows of a pinned memtable, in parts.
#[derive(Debug)]
pub struct HotRows {
    batches: Vec<RecordBatch>,
    columns: Vec<usize>,
    /// The next row of the last batch.
    offset: usize,
}

impl HotRows {
    /// The next part, which shares no memory with the memtable.
    ///
    /// # Errors
    /// Arrow's, which the columns of a table do not cause.
    pub fn next_part(&mut self) -> Result<Option<RecordBatch>> {
        while let Some(batch) = self.batches.last() {
            let rows = PART_ROWS.min(batch.num_rows() - self.offset);
            if rows == 0 {
                self.batches.pop();
                self.offset = 0;
                continue;
            }
            let part = batch.slice(self.offset, rows).project(&self.columns)?;
            self.offset += rows;
            return compacted(&part).map(Some);
        }
        Ok(None)
    }
}

impl Store {
    /// Pins the memtable for a query of another node that knows the catalogue with the position `sealed` of this node's log.
    ///
    /// # Errors
    /// [`StoreError::Overloaded`] if too many queries read this memtable.
    pub async fn open_hot(&self, sealed: u64, lifetime: Duration) -> Result<HotReply> {
        let mut waited = Duration::ZERO;
        loop {
            let view = self.view.get();
            if view.sealed > sealed {
                return Ok(HotReply::Gone);
            }
            if first_sequence(&view).is_none_or(|first| first > sealed) {
                return self.lease(&view, lifetime, None);
            }
            if waited >= BEHIND {
                return Ok(HotReply::Behind);
            }
            tokio::time::sleep(RETRY).await;
            waited += RETRY;
        }
    }

    /// Pins rows, which may be those of a copy, with the memory that it takes. Without rows there is no lease, so the query has nothing to release.
    pub(crate) fn lease(
        &self,
        view: &View,
        lifetime: Duration,
        memory: Option<Arc<Reservation>>,
    ) -> Result<HotReply> {
        let states = view.tables.iter();
        let held: HashMap<Key, [Arc<Chunks>; 2]> = states
            .map(|(key, state)| (*key, [state.frozen.clone(), state.open.clone()]))
            .filter(|(_, parts)| parts.iter().any(|part| !part.list.is_empty()))
            .collect();
        if held.is_empty() {
            return Ok(HotReply::Empty);
        }
        let tables = held.iter().map(|((app, table), parts)| {
            let chunks = || parts.iter().flat_map(|part| &part.list);
            HotTable {
                app: *app,
                table: *table,
                rows: parts.iter().map(|part| part.rows as u64).sum(),
                min_ts: chunks().map(|chunk| chunk.min_ts).min().unwrap_or(i64::MAX),
                max_ts: chunks().map(|chunk| chunk.max_ts).max().unwrap_or(i64::MIN),
            }
        });
        let lease = time_ordered_id(self.config.clock.now_ticks());
        let reply = HotReply::Open {
            lease,
            tables: tables.collect(),
        };
        let mut leases = self.nodes.leases.lock();
        if leases.len() >= MAX_LEASES {
            return Err(StoreError::Overloaded {
                bytes: self.view.sizes().bytes,
                limit: self.config.hot_limit_bytes,
            });
        }
        let until = self.config.clock.elapsed().saturating_add(lifetime);
        let tables = Arc::new(held);
        let pinned = Lease {
            tables,
            until,
            _memory: memory,
        };
        leases.insert(lease, pinned);
        Ok(reply)
    }

    /// Rows of a pinned memtable; `None` if there is no such lease, or no such column.
    pub fn read_hot(&self, request: &HotRequest) -> Option<HotRows> {
        let tables = self.nodes.leases.lock().get(&request.lease)?.tables.clone();
        let schema = request.table.stored_schema();
        let columns: Option<Vec<usize>> = request
            .columns
            .iter()
            .map(|name| schema.index_of(name).ok())
            .collect();
        let parts = tables.get(&(request.app, request.table));
        let chunks = parts.into_iter().flatten().flat_map(|part| &part.list);
        let due = chunks.filter(|chunk| chunk.min_ts <= request.to && chunk.max_ts >= request.from);
        let mut batches: Vec<RecordBatch> = due.map(|chunk| chunk.batch.clone()).collect();
        batches.reverse();
        Some(HotRows {
            batches,
            columns: columns?,
            offset: 0,
        })
    }

    /// Releases a pinned memtable.
    pub fn close_hot(&self, lease: Uuid) {
        self.nodes.leases.lock().remove(&lease);
    }

    /// How many memtables are pinned.
    pub fn hot_leases(&self) -> usize {
        self.nodes.leases.lock().len()
    }
}

/// The first sequence of the log that the memtable holds rows of.
pub(crate) fn first_sequence(view: &View) -> Option<u64> {
    let states = view.tables.values();
    let parts = states.flat_map(|state| [&state.frozen, &state.open]);
    let held = parts.filter(|part| !part.list.is_empty());
    held.map(|part| part.min_seq).min()
}
