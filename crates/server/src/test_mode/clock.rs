//! The clock of test mode, which requests set.

use std::time::Duration;

use hindsight_kql_types::datetime;
use hindsight_kql_types::ticks::UNIX_EPOCH_TICKS;
use hindsight_store::{Clock, SystemClock};
use parking_lot::Mutex;

/// The year from which on the clock may show no time: ages and ranges around the latest are still within the years 1 to 9999.
pub(crate) const LATEST: i32 = 9000;

/// Whether the clock may show this time, in ticks.
pub(crate) fn may_show(time: i64) -> bool {
    let latest = datetime::ticks_of_date(LATEST, 1, 1).unwrap_or(i64::MAX);
    (UNIX_EPOCH_TICKS..latest).contains(&time)
}

/// What the time of day is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Reading {
    /// That of the machine.
    #[default]
    Machine,
    /// The machine's clock plus an offset in ticks.
    Offset(i64),
    /// Always this one, in ticks.
    Fixed(i64),
}

/// A clock whose time of day can be set. The time that passes is always that of the machine, so that timeouts and rates stay what
/// they are.
#[derive(Debug, Default)]
pub(crate) struct TestClock {
    machine: SystemClock,
    reading: Mutex<Reading>,
}

impl TestClock {
    /// A clock whose time of day is this.
    pub(crate) fn new(reading: Reading) -> TestClock {
        TestClock {
            machine: SystemClock::default(),
            reading: Mutex::new(reading),
        }
    }

    /// What the time of day is.
    pub(crate) fn reading(&self) -> Reading {
        *self.reading.lock()
    }

    /// Sets what the time of day is.
    pub(crate) fn set(&self, reading: Reading) {
        *self.reading.lock() = reading;
    }

    /// The time of day that a reading would give, in ticks.
    pub(crate) fn time_of(&self, reading: Reading) -> i64 {
        match reading {
            Reading::Machine => self.machine.now_ticks(),
            Reading::Offset(ticks) => self.machine.now_ticks().saturating_add(ticks),
            Reading::Fixed(ticks) => ticks,
        }
    }
}

impl Clock for TestClock {
    fn now_ticks(&self) -> i64 {
        self.time_of(self.reading())
    }

    fn elapsed(&self) -> Duration {
        self.machine.elapsed()
    }
}
