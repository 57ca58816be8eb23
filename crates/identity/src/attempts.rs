//! Counts failed attempts, so that secrets cannot be guessed by brute force.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;

/// Sources that are tracked before old ones are dropped.
const REMEMBERED: usize = 10_000;

/// Limits the failed attempts of each source (an address, a user's name) in a window of time.
#[derive(Debug)]
pub struct Attempts {
    limit: u32,
    window: Duration,
    sources: Mutex<HashMap<String, Failures>>,
}

#[derive(Debug, Clone, Copy)]
struct Failures {
    since: Duration,
    count: u32,
}

impl Attempts {
    /// At most `limit` failures of one source in each `window`.
    pub fn new(limit: u32, window: Duration) -> Attempts {
        Attempts {
            limit,
            window,
            sources: Mutex::default(),
        }
    }

    /// How long a source must wait before it may try again; `None`: not at all. `now` is time since some fixed moment.
    pub fn wait(&self, source: &str, now: Duration) -> Option<Duration> {
        let sources = self.sources.lock();
        let failures = sources.get(source)?;
        let left = (failures.since + self.window).checked_sub(now)?;
        (failures.count >= self.limit && !left.is_zero()).then_some(left)
    }

    /// Counts a failure.
    pub fn failed(&self, source: &str, now: Duration) {
        let mut sources = self.sources.lock();
        if sources.len() >= REMEMBERED {
            let window = self.window;
            sources.retain(|_, failures| now < failures.since + window);
        }
        let failures = sources.entry(source.to_owned()).or_insert(Failures {
            since: now,
            count: 0,
        });
        if now >= failures.since + self.window {
            *failures = Failures {
                since: now,
                count: 0,
            };
        }
        failures.count = failures.count.saturating_add(1);
    }

    /// Resets a source that has shown the right secret.
    pub fn succeeded(&self, source: &str) {
        self.sources.lock().remove(source);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_so_many_failures_a_source_waits_and_others_do_not() {
        let attempts = Attempts::new(2, Duration::from_secs(60));
        let at = Duration::from_secs;
        attempts.failed("a", at(10));
        assert_eq!(attempts.wait("a", at(11)), None);
        attempts.failed("a", at(12));
        assert_eq!(attempts.wait("a", at(13)), Some(at(57)));
        assert_eq!(attempts.wait("b", at(13)), None);
        assert_eq!(attempts.wait("a", at(70)), None);
        attempts.failed("a", at(71));
        assert_eq!(attempts.wait("a", at(72)), None);
        attempts.failed("a", at(73));
        attempts.succeeded("a");
        assert_eq!(attempts.wait("a", at(74)), None);
    }
}
