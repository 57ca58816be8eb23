//! The cumulative series of OpenTelemetry, by application.
//!
//! They are kept in memory. A file in the data folder says that there were some: after a restart, a series that began before it may
//! have been counted by the earlier process, and its first point is remembered without a row.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hindsight_otlp::Series;
use hindsight_store::AppId;
use parking_lot::Mutex;

/// The file in the data folder. It is empty.
const FILE: &str = "otlp-series";
/// Ticks of 100 ns from the year 1 to 1970.
const EPOCH: i64 = 621_355_968_000_000_000;

/// The series of one application, held from the mapping of its points until their rows are stored.
pub(crate) type Locked = tokio::sync::OwnedMutexGuard<Series>;

/// The series of all applications.
#[derive(Debug)]
pub(crate) struct AllSeries {
    path: PathBuf,
    /// Whether the file is there.
    is_marked: AtomicBool,
    /// Nanoseconds since 1970 before which an earlier process may have known series.
    forgotten_before: u64,
    apps: Mutex<HashMap<AppId, Arc<tokio::sync::Mutex<Series>>>>,
}

impl AllSeries {
    /// The series of the data folder `data`, which begins to be used at `now`, in ticks.
    pub(crate) fn open(data: &std::path::Path, now: i64) -> AllSeries {
        let path = data.join(FILE);
        let is_marked = path.exists();
        let nanoseconds = u64::try_from(now - EPOCH)
            .unwrap_or_default()
            .saturating_mul(100);
        AllSeries {
            path,
            is_marked: AtomicBool::new(is_marked),
            forgotten_before: if is_marked { nanoseconds } else { 0 },
            apps: Mutex::default(),
        }
    }

    /// Waits for the series of an application. The thread blocks until the requests before this one have stored their rows.
    pub(crate) fn lock(&self, app: AppId) -> Locked {
        let forgotten = self.forgotten_before;
        let series = {
            let mut apps = self.apps.lock();
            let new = || Arc::new(tokio::sync::Mutex::new(Series::new(forgotten)));
            apps.entry(app).or_insert_with(new).clone()
        };
        series.blocking_lock_owned()
    }

    /// Notes durably that there are series, before the first of them is counted.
    ///
    /// # Errors
    /// The file cannot be written or synced. The points must then not be counted: after a restart they would be counted again.
    pub(crate) fn mark(&self) -> std::io::Result<()> {
        if self.is_marked.load(Ordering::Acquire) {
            return Ok(());
        }
        std::fs::File::create(&self.path)?.sync_all()?;
        // The entry of the file is durable once its folder is synced.
        if let Some(folder) = self.path.parent() {
            std::fs::File::open(folder)?.sync_all()?;
        }
        self.is_marked.store(true, Ordering::Release);
        Ok(())
    }

    /// Forgets the series of one application, or of all, whose telemetry is removed.
    pub(crate) fn forget(&self, app: Option<AppId>) {
        let mut apps = self.apps.lock();
        match app {
            Some(app) => drop(apps.remove(&app)),
            None => apps.clear(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restart_is_told_from_a_beginning() {
        let folder = tempfile::tempdir().unwrap();
        let now = EPOCH + 10;
        let first = AllSeries::open(folder.path(), now);
        assert_eq!(first.forgotten_before, 0);
        first.mark().unwrap();
        first.mark().unwrap();
        assert_eq!(AllSeries::open(folder.path(), now).forgotten_before, 1000);
    }

    #[test]
    fn a_mark_that_cannot_be_written_is_an_error_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let series = AllSeries::open(&folder.path().join("missing"), EPOCH);
        assert!(series.mark().is_err() && series.mark().is_err());
    }
}
