//! The links by which the owner of this machine signs in.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;

use crate::secret;

/// How long a link may be used.
const LINK_LIFETIME: Duration = Duration::from_secs(600);
/// Links that wait; beyond it the oldest is forgotten.
const MOST_LINKS: usize = 100;

/// Links that were given and not used, by the hash of their text, with when they end.
#[derive(Debug, Default)]
pub(crate) struct Links(Mutex<HashMap<Vec<u8>, Duration>>);

impl Links {
    /// Keeps a new link.
    pub(crate) fn keep(&self, text: &str, now: Duration) {
        let mut links = self.0.lock();
        links.retain(|_, until| now < *until);
        if links.len() >= MOST_LINKS {
            let oldest = links.iter().min_by_key(|(_, until)| **until);
            if let Some(hash) = oldest.map(|(hash, _)| hash.clone()) {
                links.remove(&hash);
            }
        }
        links.insert(secret::hash(text), now + LINK_LIFETIME);
    }

    /// Uses a link up; false if there is none.
    pub(crate) fn take(&self, text: &str, now: Duration) -> bool {
        let until = self.0.lock().remove(&secret::hash(text));
        until.is_some_and(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_good_once_and_for_ten_minutes() {
        let links = Links::default();
        let at = Duration::from_secs;
        links.keep("a", at(0));
        links.keep("b", at(0));
        assert!(!links.take("c", at(1)));
        assert!(links.take("a", at(1)));
        assert!(!links.take("a", at(1)), "it was used");
        assert!(!links.take("b", at(600)), "it has ended");
    }

    #[test]
    fn the_number_of_links_is_bounded() {
        let links = Links::default();
        for number in 0..=MOST_LINKS {
            links.keep(&number.to_string(), Duration::from_secs(number as u64));
        }
        let now = Duration::from_secs(MOST_LINKS as u64);
        assert!(!links.take("0", now), "the oldest is forgotten");
        assert!(links.take("1", now) && links.take(&MOST_LINKS.to_string(), now));
    }

    #[test]
    fn links_that_ended_are_forgotten_before_others() {
        let links = Links::default();
        links.keep("old", Duration::ZERO);
        for number in 1..MOST_LINKS {
            links.keep(&number.to_string(), Duration::from_secs(1));
        }
        links.keep("new", LINK_LIFETIME);
        assert_eq!(links.0.lock().len(), MOST_LINKS);
        assert!(links.take("1", LINK_LIFETIME));
        assert!(links.take("new", LINK_LIFETIME * 2 - Duration::from_nanos(1)));
    }
}
