//! A consistent view of the store, for one query.

use std::sync::Arc;

use crate::app_id::AppId;
use crate::schema::Table;
use crate::segment::FooterCache;
use crate::table_provider::StoreTable;
use crate::view::{TableRows, View};

/// Everything that was stored at one moment. Taking one costs a pointer; its files stay until it is dropped.
#[derive(Debug, Clone)]
pub struct Snapshot {
    view: Arc<View>,
    footers: Arc<FooterCache>,
}

impl Snapshot {
    pub(crate) fn new(view: Arc<View>, footers: Arc<FooterCache>) -> Snapshot {
        Snapshot { view, footers }
    }

    /// The last request in it.
    pub fn sequence(&self) -> u64 {
        self.view.sequence
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
            rows.segments.extend(state.segments.iter().cloned());
        }
        StoreTable::new(table, rows, self.footers.clone())
    }
}
