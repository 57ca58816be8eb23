//! A clock that tests move.

use std::sync::Mutex;
use std::time::Duration;

use hindsight_store::Clock;

/// 2027-01-15 in seconds since 1970.
pub(crate) const START: i64 = 1_800_000_000;
/// The same in ticks since year 1.
pub(crate) const START_TICKS: i64 = 621_355_968_000_000_000 + START * 10_000_000;

/// Time that a test moves. It begins at [`START`].
#[derive(Debug, Default)]
pub(crate) struct Moved(Mutex<Duration>);

impl Moved {
    pub(crate) fn pass(&self, seconds: u64) {
        *self.0.lock().unwrap() += Duration::from_secs(seconds);
    }
}

impl Clock for Moved {
    fn now_ticks(&self) -> i64 {
        START_TICKS + i64::try_from(self.elapsed().as_nanos() / 100).unwrap()
    }

    fn elapsed(&self) -> Duration {
        *self.0.lock().unwrap()
    }
}
