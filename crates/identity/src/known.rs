//! Remembers where people signed in.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;

/// Entries that are kept; the oldest make room.
const KEPT: usize = 10_000;
/// How long an entry counts.
const LIFETIME: Duration = Duration::from_secs(30 * 24 * 3600);

/// Names at addresses that have shown the right secret, in memory.
#[derive(Debug, Default)]
pub(crate) struct Known(Mutex<HashMap<String, Duration>>);

impl Known {
    /// Whether this was noted within the last 30 days. `now` is time since some fixed moment.
    pub(crate) fn contains(&self, pair: &str, now: Duration) -> bool {
        let noted = self.0.lock().get(pair).copied();
        noted.is_some_and(|at| now < at + LIFETIME)
    }

    /// Notes a name at an address.
    pub(crate) fn note(&self, pair: &str, now: Duration) {
        let mut known = self.0.lock();
        if known.len() >= KEPT && !known.contains_key(pair) {
            let oldest = known.iter().min_by_key(|(_, at)| **at);
            if let Some(oldest) = oldest.map(|(pair, _)| pair.clone()) {
                known.remove(&oldest);
            }
        }
        known.insert(pair.to_owned(), now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entries_make_room_and_end_after_a_month() {
        let known = Known::default();
        for number in 0..=KEPT {
            known.note(&number.to_string(), Duration::from_secs(number as u64));
        }
        assert!(!known.contains("0", Duration::ZERO));
        assert!(known.contains("1", Duration::from_secs(2)));
        assert!(!known.contains("1", LIFETIME + Duration::from_secs(1)));
    }

    #[test]
    fn an_entry_ends_after_its_lifetime_and_makes_room_for_no_repetition() {
        let known = Known::default();
        known.note("a", Duration::ZERO);
        assert!(known.contains("a", LIFETIME - Duration::from_nanos(1)));
        assert!(!known.contains("a", LIFETIME));
        for number in 1..KEPT {
            known.note(&number.to_string(), Duration::from_secs(1));
        }
        known.note("1", Duration::from_secs(2));
        assert!(known.contains("a", Duration::from_secs(2)));
    }
}
