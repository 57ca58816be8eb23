//! Background work: sealing, the data of deleted applications, compaction, retention.

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::config::StoreConfig;
use crate::error::Result;
use crate::store::Store;

/// How often the age of the memtable and the list of deleted applications are checked.
const TICK: Duration = Duration::from_secs(1);
/// When a seal that failed is tried again.
const SEAL_AGAIN: Duration = Duration::from_secs(5);
/// The longest wait while the object store is unavailable: the wait doubles with each attempt.
const MAX_SEAL_WAIT: Duration = Duration::from_secs(30);

/// Starts the background tasks. They hold no reference that keeps the store alive.
fn start(store: &Arc<Store>) {
    let weak = Arc::downgrade(store);
    let mut tasks = store.background.lock();
    tasks.push(tokio::spawn(seal_in_time(weak.clone(), store.wake.clone())));
    tasks.push(tokio::spawn(tidy(weak.clone())));
    if store.catalogue.node().is_some() {
        tasks.push(tokio::spawn(beat(weak.clone())));
    }
    if store.is_shared() {
        tasks.push(tokio::spawn(follow(weak.clone())));
        tasks.push(tokio::spawn(tend_copies(weak.clone())));
        tasks.push(tokio::spawn(look_for_away(weak)));
    }
}

async fn seal_in_time(store: Weak<Store>, wake: Arc<tokio::sync::Notify>) {
    let mut wait = SEAL_AGAIN;
    loop {
        // A wake-up means that the memtable reached a bound.
        let _ = tokio::time::timeout(TICK, wake.notified()).await;
        let Some(store) = store.upgrade() else { return };
        // While it fails, the health of the store says why.
        let _ = store.maintain_log().await;
        if store.has_silent_holder() {
            note(
                store.replace_holder().await,
                "making another copy of the log",
            );
        }
        store.nodes.release_old(store.config.clock.elapsed());
        if !store.seal_is_due() {
            continue;
        }
        match store.seal_all().await {
            Ok(()) => wait = SEAL_AGAIN,
            Err(error) => {
                tracing::error!(%error, "sealing failed; it will be tried again");
                drop(store);
                tokio::time::sleep(wait).await;
                // A seal writes its segments anew each time.
                wait = if error.is_object_unavailable() {
                    (wait * 2).min(MAX_SEAL_WAIT)
                } else {
                    SEAL_AGAIN
                };
            }
        }
    }
}

async fn tidy(store: Weak<Store>) {
    let Some((compaction, retention, orphans)) = store.upgrade().map(|store| {
        let objects = store.config.objects.as_ref();
        (
            store.config.compaction_interval,
            store.config.retention_interval,
            objects.map(|objects| objects.orphan_interval),
        )
    }) else {
        return;
    };
    let mut next_orphans = orphans;
    let mut version = None;
    let (mut next_compaction, mut next_retention) = (compaction, retention);
    let mut passed = Duration::ZERO;
    loop {
        tokio::time::sleep(TICK).await;
        passed += TICK;
        let Some(store) = store.upgrade() else { return };
        note(
            store.follow_catalogue(&mut version).await,
            "following changes of the catalogue",
        );
        note(store.save_damage().await, "marking damaged segments");
        let mut due = Due::default();
        if passed >= next_compaction {
            next_compaction = passed + compaction;
            due.compaction = true;
            store.access.columns.forget_unused();
            store.access.selections.forget_gone();
        }
        if passed >= next_retention {
            next_retention = passed + retention;
            due.retention = true;
        }
        if next_orphans.is_some_and(|next| passed >= next) {
            next_orphans = orphans.map(|interval| passed + interval);
            due.orphans = true;
        }
        note(store.maintain(due).await, "taking turns with other nodes");
        note(store.delete_objects().await, "deleting objects");
    }
}

/// Work on segments that is due.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Due {
    compaction: bool,
    retention: bool,
    orphans: bool,
}

/// How often the catalogue is read at least.
const FOLLOWED: Duration = Duration::from_millis(500);
/// How often the number of committed changes is compared, which is at most a tenth of a second old.
const COMPARED: Duration = Duration::from_millis(50);

/// Makes visible what other nodes commit.
async fn follow(store: Weak<Store>) {
    let (mut seen, mut passed) = (None, Duration::ZERO);
    loop {
        tokio::time::sleep(COMPARED).await;
        passed += COMPARED;
        let Some(store) = store.upgrade() else { return };
        let version = store.catalogue.version().await.ok();
        if version == seen && passed < FOLLOWED {
            continue;
        }
        passed = Duration::ZERO;
        match store.follow().await {
            Ok(()) => seen = version,
            // Queries say so once it lasts.
            Err(error) => tracing::debug!(%error, "the catalogue could not be followed"),
        }
    }
}

/// Reports to the catalogue that this node is alive.
async fn beat(store: Weak<Store>) {
    loop {
        {
            let Some(store) = store.upgrade() else { return };
            if let Err(error) = store.beat().await {
                tracing::debug!(%error, "the catalogue does not know that this node is alive");
            }
        }
        tokio::time::sleep(TICK).await;
    }
}

/// Removes copies of other nodes' logs that are not needed any more, and seals those of lost nodes.
async fn tend_copies(store: Weak<Store>) {
    loop {
        tokio::time::sleep(TICK).await;
        let Some(store) = store.upgrade() else { return };
        store.release_copies();
        note(store.tend_copies().await, "tending copies of logs");
    }
}

/// Looks whether nodes that did not reply to queries are back.
async fn look_for_away(store: Weak<Store>) {
    loop {
        tokio::time::sleep(TICK).await;
        let Some(store) = store.upgrade() else { return };
        store.look_for_away().await;
    }
}

fn note<T>(done: Result<T>, what: &str) {
    if let Err(error) = done {
        tracing::error!(%error, what, "background work failed; it will be tried again");
    }
}

impl Store {
    /// Opens a data folder for writing, making it if it is new and [`StoreConfig::create`] says so, and recovers what a
    /// crash left. It deletes no telemetry, whatever it finds (`D31`).
    ///
    /// # Errors
    /// [`StoreError::Locked`], [`StoreError::NewerFormat`], [`StoreError::NoStore`], [`StoreError::Foreign`],
    /// [`StoreError::Damaged`] and [`StoreError::Missing`] as they say; file and catalogue failures otherwise.
    ///
    /// [`StoreError::Locked`]: crate::StoreError::Locked
    /// [`StoreError::NewerFormat`]: crate::StoreError::NewerFormat
    /// [`StoreError::NoStore`]: crate::StoreError::NoStore
    /// [`StoreError::Foreign`]: crate::StoreError::Foreign
    /// [`StoreError::Damaged`]: crate::StoreError::Damaged
    /// [`StoreError::Missing`]: crate::StoreError::Missing
    pub async fn open(config: StoreConfig) -> Result<Arc<Store>> {
        let store = Store::open_without_tasks(config).await?;
        if store.config.background {
            start(&store);
        }
        Ok(store)
    }

    /// Whether the memtable is old or large enough to be sealed, or a seal has failed that had frozen it. What is frozen counts for no bound
    /// of the active part, and takes the memory that new telemetry needs.
    pub(crate) fn seal_is_due(&self) -> bool {
        let sizes = self.view.sizes();
        let oldest = *self.oldest.lock();
        let age = oldest.map_or(Duration::ZERO, |since| {
            self.config.clock.elapsed().saturating_sub(since)
        });
        sizes.bytes > 0
            && (age >= self.config.seal_age
                || sizes.bytes > sizes.open_bytes
                || sizes.open_bytes >= self.seal_bytes()
                || sizes.open_rows >= self.config.seal_rows)
    }

    /// Follows what command-line programs changed in the catalogue.
    async fn follow_catalogue(&self, version: &mut Option<i64>) -> Result<()> {
        let now = self.catalogue.version().await?;
        if *version == Some(now) {
            return Ok(());
        }
        self.follow_confirmation().await?;
        if !self.config.node.role.maintains() {
            *version = Some(now);
            return Ok(());
        }
        if !self.catalogue.begin_maintenance().await? {
            // The other node deletes what is to be deleted.
            return Ok(());
        }
        let purged = self.purge_deleted().await;
        self.catalogue.end_maintenance().await?;
        purged?;
        *version = Some(now);
        Ok(())
    }

    /// Merges and expires segments and collects unlisted objects, if it is this node's turn.
    async fn maintain(self: &Arc<Self>, due: Due) -> Result<()> {
        if due == Due::default() || !self.config.node.role.maintains() {
            return Ok(());
        }
        if !self.catalogue.begin_maintenance().await? {
            return Ok(());
        }
        // What the node that had the last turn has done.
        note(self.follow().await, "following other nodes");
        if due.compaction {
            note(self.compact_settled().await, "merging segments");
        }
        if due.retention {
            note(self.expire().await, "expiring what is past its retention");
        }
        if due.orphans {
            note(
                self.collect_orphans().await,
                "looking for objects that no catalogue lists",
            );
        }
        self.catalogue.end_maintenance().await
    }

    /// Deletes the data of applications that were deleted; returns how many there were.
    pub async fn purge_deleted(&self) -> Result<usize> {
        let apps = self.catalogue.deleted_apps(true).await?;
        for app in &apps {
            let _one = self.changing.lock().await;
            self.settle().await?;
            // The catalogue first: a file may be removed only when the catalogue no longer names it.
            let ids = self.view.segments_of(*app);
            let _commits = self.commits.lock().await;
            self.catalogue.replace_segments(&ids, &mut []).await?;
            self.view.drop_app(*app);
            self.access.damaged.forget(&ids);
            self.delete_expired(|record| record.app == *app).await?;
            self.catalogue
                .mark_purged(*app, self.config.clock.now_ticks())
                .await?;
        }
        if self.is_shared() {
            let late = self.catalogue.segments_of_deleted_apps().await?;
            if !late.is_empty() {
                let ids: Vec<i64> = late.iter().map(|record| record.id).collect();
                self.catalogue.replace_segments(&ids, &mut []).await?;
                if let Some(objects) = &self.segment_settings.objects {
                    late.iter().for_each(|record| objects.retire(record));
                }
            }
        }
        Ok(apps.len())
    }
}
