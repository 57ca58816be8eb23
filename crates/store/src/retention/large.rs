//! A large expiry that waits for a second run to confirm it.

use std::time::Duration;

use parking_lot::Mutex;

/// When a run last wanted to take more than the guard lets pass, by the monotonic clock.
#[derive(Debug, Default)]
pub(crate) struct LargeExpiry(Mutex<Option<Duration>>);

impl LargeExpiry {
    /// Whether an earlier run wanted it too, at least `apart` ago.
    pub(super) fn confirm(&self, elapsed: Duration, apart: Duration) -> bool {
        let mut first = self.0.lock();
        match *first {
            Some(at) if elapsed.saturating_sub(at) >= apart => {
                *first = None;
                true
            }
            Some(_) => false,
            None => {
                *first = Some(elapsed);
                false
            }
        }
    }

    pub(super) fn forget(&self) {
        *self.0.lock() = None;
    }
}
