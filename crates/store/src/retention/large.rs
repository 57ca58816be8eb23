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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_run_confirms_unless_one_between_took_less() {
        let large = LargeExpiry::default();
        let apart = Duration::from_secs(3600);
        let hours = |hours| apart * hours;
        assert!(!large.confirm(hours(0), apart));
        assert!(!large.confirm(hours(1) - Duration::from_nanos(1), apart));
        assert!(large.confirm(hours(1), apart));
        assert!(!large.confirm(hours(5), apart), "each needs two runs");
        large.forget();
        assert!(!large.confirm(hours(9), apart));
        assert!(large.confirm(hours(10), apart));
    }
}
