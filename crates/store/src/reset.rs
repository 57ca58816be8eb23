//! Reset and restore: what a test does between two cases.
//!
//! Both change what queries see, at once and without touching a row. The log and the catalogue keep what they had, so the data folder
//! of a store that was reset must not be opened again: a store for tests has a folder of its own.

use std::sync::Arc;

use crate::app_id::AppId;
use crate::error::Result;
use crate::snapshot::Snapshot;
use crate::store::Store;
use crate::view::Tables;

impl Store {
    /// Removes the telemetry of one application, or all telemetry. Requests that are acknowledged later are stored as ever; running
    /// queries keep their snapshot. The memory is freed and the files are removed in the background.
    pub fn reset(self: &Arc<Self>, app: Option<AppId>) {
        self.free(self.view.reset(app));
    }

    /// Puts the telemetry of `snapshot` in the place of all telemetry. Applications that were deleted since stay empty.
    pub fn restore(self: &Arc<Self>, snapshot: &Snapshot) {
        self.free(self.view.restore(snapshot.view()));
        // The restored rows of the memtable are sealed in time, as those that arrive are.
        self.oldest
            .lock()
            .get_or_insert_with(|| self.config.clock.elapsed());
    }

    /// Trusts the clock as it is now, as an operator's confirmation does (`D33`).
    pub async fn trust_clock(&self) -> Result<()> {
        let now = self.config.clock.now_ticks();
        self.catalogue.confirm_time(now).await?;
        self.follow_confirmation().await
    }

    /// Drops tables on a thread for blocking work. A million rows take milliseconds to free, and files have to be removed.
    fn free(self: &Arc<Self>, tables: Tables) {
        if tables.is_empty() {
            return;
        }
        // The store is held until the files are removed.
        let store = Arc::clone(self);
        tokio::task::spawn_blocking(move || {
            drop(tables);
            drop(store);
        });
    }
}
