//! Whether the store takes writes, and why not.

use parking_lot::Mutex;

use crate::error::StoreError;

/// The store's condition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Health {
    /// Whether appends can succeed. While they cannot, the store tries every second to write its log again.
    pub writable: bool,
    /// Why not, or what failed last though the store goes on (a full disk, a seal that will be tried again).
    pub reason: Option<String>,
}

/// The condition, shared by the parts of the store.
#[derive(Debug, Default)]
pub(crate) struct HealthCell(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    read_only: Option<String>,
    log_trouble: Option<String>,
    seal_trouble: Option<String>,
}

impl HealthCell {
    pub(crate) fn get(&self) -> Health {
        let state = self.0.lock();
        let reason = [&state.read_only, &state.log_trouble, &state.seal_trouble]
            .into_iter()
            .find_map(Clone::clone);
        Health {
            writable: state.read_only.is_none(),
            reason,
        }
    }

    /// Stops all writes: after a failed sync the system may have dropped the pages that it could not write.
    pub(crate) fn fail(&self, reason: String) {
        let mut state = self.0.lock();
        if state.read_only.is_none() {
            tracing::error!(
                reason,
                "the store is read-only until its log can be written"
            );
        }
        state.read_only = Some(reason);
    }

    /// Permits writes again: the log was repaired.
    pub(crate) fn recovered(&self) {
        if self.0.lock().read_only.take().is_some() {
            tracing::info!("the log can be written again");
        }
    }

    pub(crate) fn read_only(&self) -> Option<StoreError> {
        let reason = self.0.lock().read_only.clone()?;
        Some(StoreError::ReadOnly { reason })
    }

    /// A write to the log failed and was undone (`Some`), or one succeeded (`None`).
    pub(crate) fn set_log_trouble(&self, trouble: Option<String>) {
        self.0.lock().log_trouble = trouble;
    }

    /// A seal failed and will be tried again (`Some`), or one succeeded (`None`).
    pub(crate) fn set_seal_trouble(&self, trouble: Option<String>) {
        self.0.lock().seal_trouble = trouble;
    }
}
