//! A consistent view of the store, for one query.

use std::sync::Arc;

use crate::app_id::AppId;
use crate::copies::read::PinnedCopy;
use crate::missing::{MissingData, MissingList};
use crate::peers::Peer;
use crate::schema::Table;
use crate::segment::{Damage, SegmentAccess};
use crate::table_provider::StoreTable;
use crate::usage::UsageRecord;
use crate::view::{TableRows, View};

/// Everything that was stored at one moment. Taking one costs a pointer; its files stay until it is dropped.
#[derive(Debug, Clone)]
pub struct Snapshot {
    view: Arc<View>,
    access: Arc<SegmentAccess>,
    /// The damaged segments of that moment, which its tables leave out.
    damage: Arc<Damage>,
    missing: MissingList,
    others: OtherRows,
}

/// The rows of other nodes that no segment has.
#[derive(Debug, Clone, Default)]
pub(crate) struct OtherRows {
    /// Pinned memtables and copies of logs at other nodes.
    pub(crate) peers: Vec<Arc<Peer>>,
    /// Copies of logs at this node.
    pub(crate) copies: Vec<PinnedCopy>,
}

impl Snapshot {
    pub(crate) fn new(view: Arc<View>, access: Arc<SegmentAccess>, others: OtherRows) -> Snapshot {
        Snapshot {
            others,
            damage: access.damaged.known(),
            missing: MissingList::default(),
            view,
            access,
        }
    }

    pub(crate) fn view(&self) -> &View {
        &self.view
    }

    /// Whether other nodes share the catalogue. What they sealed is not part of [`Snapshot::usage`].
    pub fn has_other_nodes(&self) -> bool {
        !self.view.nodes.is_empty()
    }

    /// The last request in it.
    pub fn sequence(&self) -> u64 {
        self.view.sequence
    }

    /// What these applications sent, by application, table and hour of ingestion: the hours of the last 90 days.
    pub fn usage(&self, apps: &[AppId]) -> Vec<UsageRecord> {
        self.view.usage(apps)
    }

    /// A table of these applications, and of no others.
    pub fn table(&self, apps: &[AppId], table: Table) -> StoreTable {
        let mut apps = apps.to_vec();
        apps.sort_unstable();
        apps.dedup();
        let mut rows = TableRows::default();
        for state in apps
            .iter()
            .filter_map(|app| self.view.tables.get(&(*app, table)))
        {
            rows.chunks
                .extend(state.frozen.list.iter().chain(&state.open.list).cloned());
            for segment in state.segments.iter() {
                if self.damage.contains_key(&segment.record.id) {
                    rows.damaged.push(segment.clone());
                } else {
                    rows.segments.push(segment.clone());
                }
            }
        }
        for copy in &self.others.copies {
            let held = apps
                .iter()
                .filter_map(|app| copy.rows.tables.get(&(*app, table)));
            let chunks = held.flat_map(|state| state.frozen.list.iter().chain(&state.open.list));
            rows.chunks.extend(chunks.cloned());
        }
        let peers = self.others.peers.iter();
        rows.peers = peers.flat_map(|peer| peer.rows_of(&apps, table)).collect();
        StoreTable::new(table, rows, self.access.clone(), self.missing.clone())
    }

    /// What the scans of this snapshot's tables left out so far, because segments are damaged.
    pub fn missing(&self) -> Vec<MissingData> {
        self.missing.list()
    }

    /// Whether segments were found to be damaged since it was taken. A query that failed over it may succeed over a new one.
    pub fn has_new_damage(&self) -> bool {
        !Arc::ptr_eq(&self.damage, &self.access.damaged.known())
    }
}
