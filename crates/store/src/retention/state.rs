//! What retention remembers between runs: a clock that it trusts, and a large deletion that waits for its confirmation.

use std::time::Duration;

use parking_lot::Mutex;

use crate::clock::ticks;

/// What retention remembers between runs.
#[derive(Debug, Default)]
pub(crate) struct RetentionState(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Wall clock and real time of the first run.
    anchor: Option<(i64, Duration)>,
    /// When a run last wanted to delete more than the guard lets pass, by real time.
    large: Option<Duration>,
}

impl RetentionState {
    /// A time that is not later than the true one, as far as can be known.
    pub(super) fn trusted_now(&self, wall: i64, elapsed: Duration) -> i64 {
        let mut state = self.0.lock();
        let (first, since) = *state.anchor.get_or_insert((wall, elapsed));
        wall.min(first.saturating_add(ticks(elapsed.saturating_sub(since))))
    }

    /// Whether a large deletion was asked for before, long enough ago.
    pub(super) fn confirm_large(&self, elapsed: Duration, apart: Duration) -> bool {
        let mut state = self.0.lock();
        match state.large {
            Some(first) if elapsed.saturating_sub(first) >= apart => {
                state.large = None;
                true
            }
            Some(_) => false,
            None => {
                state.large = Some(elapsed);
                false
            }
        }
    }

    pub(super) fn forget_large(&self) {
        self.0.lock().large = None;
    }
}
