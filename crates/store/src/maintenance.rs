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
    tasks.push(tokio::spawn(tidy(weak)));
}

async fn seal_in_time(store: Weak<Store>, wake: Arc<tokio::sync::Notify>) {
    let mut wait = SEAL_AGAIN;
    loop {
        // A wake-up means that the memtable reached a bound.
        let _ = tokio::time::timeout(TICK, wake.notified()).await;
        let Some(store) = store.upgrade() else { return };
        // While it fails, the health of the store says why.
        let _ = store.maintain_log().await;
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
        if passed >= next_compaction {
            next_compaction = passed + compaction;
            note(store.compact().await, "merging segments");
            store.access.columns.forget_unused();
            store.access.selections.forget_gone();
        }
        if passed >= next_retention {
            next_retention = passed + retention;
            note(store.expire().await, "expiring what is past its retention");
        }
        note(store.delete_objects().await, "deleting objects");
        if next_orphans.is_some_and(|next| passed >= next) {
            next_orphans = orphans.map(|interval| passed + interval);
            note(
                store.collect_orphans().await,
                "looking for objects that no catalogue lists",
            );
        }
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

    /// Whether the memtable is old or large enough to be sealed.
    pub(crate) fn seal_is_due(&self) -> bool {
        let sizes = self.view.sizes();
        let oldest = *self.oldest.lock();
        let age = oldest.map_or(Duration::ZERO, |since| {
            self.config.clock.elapsed().saturating_sub(since)
        });
        sizes.bytes > 0
            && (age >= self.config.seal_age
                || sizes.open_bytes >= self.config.hot_bytes
                || sizes.open_rows >= self.config.seal_rows)
    }

    /// Follows what command-line programs changed in the catalogue.
    async fn follow_catalogue(&self, version: &mut Option<i64>) -> Result<()> {
        let now = self.catalogue.version().await?;
        if *version != Some(now) {
            self.follow_confirmation().await?;
            self.purge_deleted().await?;
            *version = Some(now);
        }
        Ok(())
    }

    /// Deletes the data of applications that were deleted; returns how many there were.
    pub async fn purge_deleted(&self) -> Result<usize> {
        let apps = self.catalogue.deleted_apps(true).await?;
        for app in &apps {
            let _one = self.changing.lock().await;
            self.settle().await?;
            // The catalogue first: a file may be removed only when the catalogue no longer names it.
            let ids = self.view.segments_of(*app);
            self.catalogue.replace_segments(&ids, &mut []).await?;
            self.view.drop_app(*app);
            self.access.damaged.forget(&ids);
            self.delete_expired(|record| record.app == *app).await?;
            self.catalogue
                .mark_purged(*app, self.config.clock.now_ticks())
                .await?;
        }
        Ok(apps.len())
    }
}
