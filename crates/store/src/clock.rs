//! The clock, injected so that tests can set the time of retention and of the memtable's age.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Ticks (100 ns) in one second.
pub const TICKS_PER_SECOND: i64 = 10_000_000;
/// Ticks in one hour.
pub const TICKS_PER_HOUR: i64 = 3600 * TICKS_PER_SECOND;
/// Ticks from 0001-01-01 to 1970-01-01.
const UNIX_EPOCH_TICKS: i64 = 621_355_968_000_000_000;

/// The source of time of the store and of everything over it.
pub trait Clock: Send + Sync + std::fmt::Debug + 'static {
    /// The time of day: ticks of 100 ns since 0001-01-01 UTC. It may jump.
    fn now_ticks(&self) -> i64;

    /// Time since some fixed moment; it never jumps and never runs backwards.
    fn elapsed(&self) -> Duration;
}

/// The machine's clock.
#[derive(Debug)]
pub struct SystemClock {
    started: Instant,
}

impl Default for SystemClock {
    fn default() -> SystemClock {
        SystemClock {
            started: Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    fn now_ticks(&self) -> i64 {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => UNIX_EPOCH_TICKS.saturating_add(ticks(since)),
            Err(before) => UNIX_EPOCH_TICKS.saturating_sub(ticks(before.duration())),
        }
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

/// Hours since 0001-01-01.
pub(crate) fn hour_of(ticks: i64) -> i64 {
    ticks.div_euclid(TICKS_PER_HOUR)
}

/// A duration in ticks; what is too long saturates.
pub(crate) fn ticks(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos() / 100).unwrap_or(i64::MAX)
}

#[cfg(test)]
pub(crate) mod manual {
    use super::*;
    use parking_lot::Mutex;

    /// A clock that moves when a test says so.
    #[derive(Debug)]
    pub(crate) struct ManualClock(Mutex<(i64, Duration)>);

    impl ManualClock {
        pub(crate) fn at(ticks: i64) -> ManualClock {
            ManualClock(Mutex::new((ticks, Duration::ZERO)))
        }

        /// Time passes on both clocks.
        pub(crate) fn pass(&self, time: Duration) {
            let mut state = self.0.lock();
            state.0 += ticks(time);
            state.1 += time;
        }

        /// Somebody sets the time of day.
        pub(crate) fn jump(&self, by_ticks: i64) {
            self.0.lock().0 += by_ticks;
        }
    }

    impl Clock for ManualClock {
        fn now_ticks(&self) -> i64 {
            self.0.lock().0
        }

        fn elapsed(&self) -> Duration {
            self.0.lock().1
        }
    }
}
