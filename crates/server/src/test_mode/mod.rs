//! Test mode, `hindsight serve --test` (`docs/testing.md`): the state that its routes change.

mod clock;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use hindsight_store::{AppId, MemoryFs, Snapshot, StoreConfig};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

pub(crate) use clock::{LATEST, Reading, TestClock, may_show};

/// The state of test mode.
#[derive(Debug)]
pub(crate) struct TestMode {
    /// The clock of the whole program.
    pub(crate) clock: Arc<TestClock>,
    /// One request at a time sets the clock and what follows it.
    pub(crate) setting_clock: tokio::sync::Mutex<()>,
    /// Whether telemetry is kept in memory and not in a folder.
    in_memory: bool,
    /// The application that was made at the start.
    app: OnceLock<AppId>,
    snapshots: Mutex<BTreeMap<String, Snapshot>>,
    stopping: CancellationToken,
}

impl TestMode {
    /// Test mode with a clock that begins with this reading, and no snapshots.
    pub(crate) fn new(in_memory: bool, reading: Reading) -> TestMode {
        TestMode {
            clock: Arc::new(TestClock::new(reading)),
            setting_clock: tokio::sync::Mutex::default(),
            in_memory,
            app: OnceLock::new(),
            snapshots: Mutex::default(),
            stopping: CancellationToken::new(),
        }
    }

    /// Changes the store's settings: its clock, where its files are, and that retention may take everything at once, because a test that
    /// moves the clock expects it.
    pub(crate) fn configure(&self, config: &mut StoreConfig) {
        config.clock = self.clock.clone();
        config.retention_guard = 1.0;
        if self.in_memory {
            config.vfs = Arc::new(MemoryFs::default());
        }
    }

    /// The application that requests mean that name none.
    pub(crate) fn app(&self) -> Option<AppId> {
        self.app.get().copied()
    }

    /// Sets the application that requests mean that name none. Only the first call counts.
    pub(crate) fn set_app(&self, app: AppId) {
        let _ = self.app.set(app);
    }

    /// Keeps a snapshot under a name, in the place of an earlier one.
    pub(crate) fn keep(&self, name: &str, snapshot: Snapshot) {
        self.snapshots.lock().insert(name.to_owned(), snapshot);
    }

    /// The snapshot of this name.
    pub(crate) fn snapshot(&self, name: &str) -> Option<Snapshot> {
        self.snapshots.lock().get(name).cloned()
    }

    /// The names of all snapshots, sorted.
    pub(crate) fn snapshot_names(&self) -> Vec<String> {
        self.snapshots.lock().keys().cloned().collect()
    }

    /// Ends the requests that wait.
    pub(crate) fn stop(&self) {
        self.stopping.cancel();
    }

    /// Completes when the server stops.
    pub(crate) async fn stopping(&self) {
        self.stopping.cancelled().await;
    }
}
