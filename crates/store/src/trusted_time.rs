//! Trusted time: what of the machine's clock retention believes (`D33`).
//!
//! A clock that is years ahead would let everything expire. So the catalogue keeps a high-water mark of the times that were trusted,
//! and time goes on from the mark as fast as the monotonic clock does. A clock that is further ahead than
//! [`crate::StoreConfig::max_clock_jump`] is suspect until an operator confirms it, because nothing tells a wrong clock from a long
//! time out of operation.

use std::time::Duration;

use parking_lot::Mutex;

use crate::catalogue::TimeMark;
use crate::clock::{TICKS_PER_HOUR, ticks};

/// How far the clock may be behind trusted time: a correction of the clock, no wrong one.
const MAX_BEHIND: i64 = TICKS_PER_HOUR;
/// Trusted time follows the clock after this time of operation: a suspended machine's monotonic clock stands still.
const FOLLOWS: Duration = Duration::from_secs(86_400);

/// Whether the clock is trusted. Times are in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockTrust {
    /// It is.
    Trusted,
    /// It is further ahead of trusted time than it may jump. Nothing expires until an operator confirms it.
    Ahead {
        /// Trusted time.
        trusted: i64,
        /// The clock.
        clock: i64,
    },
    /// It is behind a time that was trusted before.
    Behind {
        /// The latest time that was trusted.
        trusted: i64,
        /// The clock.
        clock: i64,
    },
}

impl ClockTrust {
    /// Whether it is trusted.
    pub fn is_trusted(self) -> bool {
        self == ClockTrust::Trusted
    }
}

/// The clock as it was seen at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Observation {
    pub(crate) trust: ClockTrust,
    /// A time that is not later than the true one, as far as can be known, in ticks.
    pub(crate) now: i64,
}

/// Trusted time of a store.
#[derive(Debug)]
pub(crate) struct TrustedTime {
    max_jump: i64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    mark: TimeMark,
    /// A trusted time, and the monotonic clock at that time.
    anchor: (i64, Duration),
}

impl TrustedTime {
    /// Goes on from the mark of the catalogue; `elapsed` is the monotonic clock.
    pub(crate) fn new(mark: TimeMark, elapsed: Duration, max_jump: Duration) -> TrustedTime {
        TrustedTime {
            max_jump: ticks(max_jump),
            state: Mutex::new(State {
                mark,
                anchor: (mark.ticks, elapsed),
            }),
        }
    }

    /// Compares the clock with trusted time, which goes on if it agrees.
    pub(crate) fn observe(&self, clock: i64, elapsed: Duration) -> Observation {
        let mut state = self.state.lock();
        let (time, since) = state.anchor;
        let passed = elapsed.saturating_sub(since);
        let trusted = time.saturating_add(ticks(passed));
        let latest = state.mark.ticks;
        let trust = if clock > trusted.saturating_add(self.max_jump) {
            ClockTrust::Ahead { trusted, clock }
        } else if clock < latest.saturating_sub(MAX_BEHIND) {
            ClockTrust::Behind {
                trusted: latest,
                clock,
            }
        } else {
            state.mark.ticks = latest.max(clock);
            if passed >= FOLLOWS {
                state.anchor = (clock, elapsed);
            }
            ClockTrust::Trusted
        };
        Observation {
            trust,
            now: clock.min(trusted),
        }
    }

    /// The mark as the catalogue should have it.
    pub(crate) fn mark(&self) -> TimeMark {
        self.state.lock().mark
    }

    /// Takes over a mark that an operator has confirmed since; says whether there was one.
    pub(crate) fn confirm(&self, mark: TimeMark, elapsed: Duration) -> bool {
        let mut state = self.state.lock();
        let is_new = mark.confirmations != state.mark.confirmations;
        if is_new {
            state.mark = mark;
            state.anchor = (mark.ticks, elapsed);
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 24 * TICKS_PER_HOUR;
    const START: i64 = 1000 * DAY;

    fn days(count: u64) -> Duration {
        Duration::from_secs(count * 86_400)
    }

    fn at(mark: i64) -> TrustedTime {
        let mark = TimeMark {
            ticks: mark,
            confirmations: 0,
        };
        TrustedTime::new(mark, Duration::ZERO, days(7))
    }

    #[test]
    fn time_goes_on_with_the_monotonic_clock() {
        let time = at(START);
        for day in 0..200 {
            let seen = time.observe(START + day * DAY, days(day as u64));
            assert_eq!(
                (seen.trust, seen.now),
                (ClockTrust::Trusted, START + day * DAY)
            );
        }
        assert_eq!(time.mark().ticks, START + 199 * DAY);
    }

    #[test]
    fn a_clock_that_is_too_far_ahead_is_suspect_until_it_is_confirmed_or_right() {
        let time = at(START);
        let clock = START + 3650 * DAY;
        for passed in [0, 1, 100] {
            let seen = time.observe(clock + passed * DAY, days(passed as u64));
            let trusted = START + passed * DAY;
            let clock = clock + passed * DAY;
            assert_eq!(seen.trust, ClockTrust::Ahead { trusted, clock });
            assert_eq!(seen.now, trusted, "time goes on from the mark");
            assert_eq!(time.mark().ticks, START);
        }
        let right = time.observe(START + 100 * DAY, days(100));
        assert_eq!(right.trust, ClockTrust::Trusted);
        let mark = TimeMark {
            ticks: clock,
            confirmations: 1,
        };
        assert!(time.confirm(mark, days(100)) && !time.confirm(mark, days(101)));
        assert_eq!(time.observe(clock, days(100)).now, clock);
    }

    #[test]
    fn a_small_jump_is_trusted_and_counts_a_day_later() {
        let time = at(START);
        let seen = time.observe(START + 6 * DAY, Duration::ZERO);
        assert_eq!((seen.trust, seen.now), (ClockTrust::Trusted, START));
        let seen = time.observe(START + 9 * DAY, Duration::ZERO);
        assert!(!seen.trust.is_trusted(), "jumps of one day add up");
        time.observe(START + 7 * DAY, days(1));
        assert_eq!(time.observe(START + 8 * DAY, days(2)).now, START + 8 * DAY);
    }

    #[test]
    fn a_clock_behind_a_trusted_time_is_suspect_until_it_has_caught_up() {
        let time = at(START);
        assert!(
            time.observe(START - TICKS_PER_HOUR, Duration::ZERO)
                .trust
                .is_trusted()
        );
        let clock = START - 2 * TICKS_PER_HOUR;
        let seen = time.observe(clock, Duration::ZERO);
        assert_eq!(
            seen.trust,
            ClockTrust::Behind {
                trusted: START,
                clock
            }
        );
        assert_eq!(seen.now, clock);
        assert!(time.observe(START, Duration::ZERO).trust.is_trusted());
    }
}
