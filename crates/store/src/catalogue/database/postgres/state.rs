//! What a process knows of the number of committed changes.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// How long a number counts that PostgreSQL no longer confirms. Rights that were revoked meanwhile stay in force for that time.
pub(super) const STALE: Duration = Duration::from_secs(300);
/// How long the process waits after a failed attempt.
const PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
struct Seen {
    version: i64,
    /// When PostgreSQL confirmed the number last.
    confirmed: Option<Instant>,
    /// When an attempt failed last, after the last one that succeeded.
    failed: Option<Instant>,
}

/// The last number of committed changes that a process has seen.
#[derive(Debug, Default)]
pub(super) struct SeenVersion(Mutex<Seen>);

impl SeenVersion {
    /// Notes a number. It never decreases.
    pub(super) fn confirm(&self, version: i64) {
        let mut seen = self.0.lock();
        if seen.failed.is_some() {
            tracing::info!("PostgreSQL replies again");
        }
        seen.version = seen.version.max(version);
        seen.confirmed = Some(Instant::now());
        seen.failed = None;
    }

    /// Notes that PostgreSQL could not be asked.
    pub(super) fn fail(&self, error: &dyn std::fmt::Display) {
        let mut seen = self.0.lock();
        if seen.failed.is_none() {
            tracing::warn!(%error, "PostgreSQL cannot be asked for changes of the catalogue; requests go on with what was read last");
        }
        seen.failed = Some(Instant::now());
    }

    /// Whether an attempt would come too soon after one that failed.
    pub(super) fn is_paused(&self) -> bool {
        let failed = self.0.lock().failed;
        failed.is_some_and(|at| at.elapsed() < PAUSE)
    }

    /// The number, and how long ago PostgreSQL confirmed it; `None` before the first time.
    pub(super) fn get(&self) -> Option<(i64, Duration)> {
        let seen = self.0.lock();
        seen.confirmed.map(|at| (seen.version, at.elapsed()))
    }
}
