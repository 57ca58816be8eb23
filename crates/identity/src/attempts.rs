//! Counts attempts, so that secrets cannot be guessed by brute force.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;

/// Sources that are tracked. Further ones share one count until the windows of the others end.
const TRACKED: usize = 10_000;
/// The source of everything that has no room of its own.
const OTHERS: &str = "others";

/// Limits the failed attempts of each source (an address, a name at an address) in a window of time.
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

/// A source of an attempt, and how many failures it may have in a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) limit: u32,
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

    /// The limit of a source that has no other.
    pub(crate) fn limit(&self) -> u32 {
        self.limit
    }

    /// How long a source must wait before it may try again; `None`: not at all. `now` is time since some fixed moment.
    pub fn wait(&self, source: &str, now: Duration) -> Option<Duration> {
        let sources = self.sources.lock();
        self.left(&sources, source, self.limit, now)
    }

    /// Counts a failure.
    pub fn failed(&self, source: &str, now: Duration) {
        self.count(&mut self.sources.lock(), source, now);
    }

    /// Counts an attempt of all these sources as failed before its outcome is known: attempts that are made at once cannot
    /// pass together.
    ///
    /// # Errors
    /// How long to wait, where one of the sources has failed too often; then nothing is counted.
    pub(crate) fn begin(&self, sources: &[Source], now: Duration) -> Result<(), Duration> {
        let mut tracked = self.sources.lock();
        let waits = sources
            .iter()
            .filter_map(|source| self.left(&tracked, &source.name, source.limit, now));
        if let Some(wait) = waits.max() {
            return Err(wait);
        }
        for source in sources {
            self.count(&mut tracked, &source.name, now);
        }
        Ok(())
    }

    /// Takes back what [`Attempts::begin`] counted for an attempt with the right secret.
    pub(crate) fn succeeded(&self, sources: &[Source]) {
        let mut tracked = self.sources.lock();
        for source in sources {
            let name = slot(&tracked, &source.name).to_owned();
            if let Some(failures) = tracked.get_mut(&name) {
                failures.count = failures.count.saturating_sub(1);
            }
        }
    }

    /// Resets a source that has shown the right secret.
    pub(crate) fn reset(&self, source: &Source) {
        self.sources.lock().remove(&source.name);
    }

    fn left(
        &self,
        tracked: &HashMap<String, Failures>,
        source: &str,
        limit: u32,
        now: Duration,
    ) -> Option<Duration> {
        let failures = tracked.get(slot(tracked, source))?;
        let left = (failures.since + self.window).checked_sub(now)?;
        (failures.count >= limit && !left.is_zero()).then_some(left)
    }

    fn count(&self, tracked: &mut HashMap<String, Failures>, source: &str, now: Duration) {
        if tracked.len() >= TRACKED {
            let window = self.window;
            tracked.retain(|_, failures| now < failures.since + window);
        }
        let name = slot(tracked, source).to_owned();
        let new = Failures {
            since: now,
            count: 0,
        };
        let failures = tracked.entry(name).or_insert(new);
        if now >= failures.since + self.window {
            *failures = new;
        }
        failures.count = failures.count.saturating_add(1);
    }
}

/// Where a source is counted.
fn slot<'s>(tracked: &HashMap<String, Failures>, source: &'s str) -> &'s str {
    if tracked.len() < TRACKED || tracked.contains_key(source) {
        source
    } else {
        OTHERS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn source(name: &str, limit: u32) -> Source {
        Source {
            name: name.to_owned(),
            limit,
        }
    }

    #[test]
    fn after_so_many_failures_a_source_waits_and_others_do_not() {
        let attempts = Attempts::new(2, at(60));
        attempts.failed("a", at(10));
        assert_eq!(attempts.wait("a", at(11)), None);
        attempts.failed("a", at(12));
        assert_eq!(attempts.wait("a", at(13)), Some(at(57)));
        assert_eq!(attempts.wait("b", at(13)), None);
        assert_eq!(attempts.wait("a", at(70)), None);
        attempts.failed("a", at(71));
        assert_eq!(attempts.wait("a", at(72)), None);
        attempts.failed("a", at(73));
        attempts.reset(&source("a", 2));
        assert_eq!(attempts.wait("a", at(74)), None);
    }

    #[test]
    fn an_attempt_counts_from_its_beginning_in_each_of_its_sources() {
        let attempts = Attempts::new(2, at(60));
        let both = |name: &str| [source(name, 2), source("all", 3)];
        assert_eq!(attempts.begin(&both("a"), at(1)), Ok(()));
        assert_eq!(attempts.begin(&both("a"), at(1)), Ok(()));
        assert_eq!(attempts.begin(&both("a"), at(1)), Err(at(60)));
        // The refused attempt did not count for the second source.
        assert_eq!(attempts.begin(&both("b"), at(1)), Ok(()));
        assert_eq!(attempts.begin(&both("c"), at(1)), Err(at(60)));
        attempts.succeeded(&both("b"));
        assert_eq!(attempts.begin(&both("c"), at(1)), Ok(()));
    }

    #[test]
    fn sources_without_end_share_one_count_and_bounded_memory() {
        let attempts = Attempts::new(2, at(60));
        for number in 0..2 * TRACKED {
            attempts.failed(&number.to_string(), at(1));
        }
        assert_eq!(attempts.sources.lock().len(), TRACKED + 1);
        assert_eq!(attempts.wait("another", at(2)), Some(at(59)));
        assert_eq!(attempts.wait("0", at(2)), None);
        assert_eq!(attempts.wait("another", at(61)), None);
    }

    #[test]
    fn sources_whose_window_is_over_make_room() {
        let attempts = Attempts::new(1, at(60));
        attempts.failed("old", at(0));
        for number in 1..TRACKED {
            attempts.failed(&number.to_string(), at(1));
        }
        attempts.failed("new", at(60));
        assert_eq!(attempts.wait("new", at(61)), Some(at(59)));
        assert_eq!(attempts.wait("old", at(61)), None);
        assert_eq!(attempts.wait("another", at(60)), None, "none is shared");
        attempts.failed("another", at(60));
        attempts.failed("one more", at(60));
        assert_eq!(attempts.wait("a third", at(60)), Some(at(60)), "one is");
    }

    #[test]
    fn a_window_ends_for_its_source_at_a_fixed_moment() {
        let attempts = Attempts::new(1, at(60));
        attempts.failed("a", at(10));
        assert_eq!(attempts.wait("a", at(69)), Some(at(1)));
        assert_eq!(attempts.wait("a", at(70)), None);
        attempts.failed("a", at(69));
        assert_eq!(attempts.wait("a", at(70)), None, "the window went on");
        attempts.failed("a", at(70));
        assert_eq!(attempts.wait("a", at(71)), Some(at(59)), "a new one began");
    }
}
