//! Takes the events of connections in batches while many requests are refused, as network cards moderate their interrupts.
//!
//! Each packet that arrives wakes the thread that waits for events and interrupts what decodes telemetry. At a hundred times the capacity
//! these interruptions cost more than the refusals: on a virtual machine, where each is an exit to the hypervisor, a fifth of a
//! processor (`bench/overload.py`). While more than [`MANY`] requests are refused in [`WINDOW`], a thread of the runtime pauses for
//! [`PAUSE`] before it waits for events, and then takes all that have arrived. A request waits that much longer.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// The time in which refusals are counted.
const WINDOW: Duration = Duration::from_millis(100);
/// Refusals in a [`WINDOW`] from which on events are taken in batches.
const MANY: u32 = 20;
/// How long events gather.
const PAUSE: Duration = Duration::from_millis(4);

static REFUSALS: Mutex<Option<Refusals>> = Mutex::new(None);

/// Refusals of this window and the one before.
#[derive(Debug, Clone, Copy)]
struct Refusals {
    begun: Instant,
    count: u32,
    before: u32,
}

impl Refusals {
    fn new(now: Instant) -> Refusals {
        Refusals {
            begun: now,
            count: 0,
            before: 0,
        }
    }

    /// Begins another window if this one has ended.
    fn advance(&mut self, now: Instant) {
        let age = now.saturating_duration_since(self.begun);
        if age >= WINDOW {
            let before = if age < 2 * WINDOW { self.count } else { 0 };
            *self = Refusals {
                before,
                ..Refusals::new(now)
            };
        }
    }

    fn are_many(&self) -> bool {
        self.before.max(self.count) > MANY
    }
}

/// Counts a request that was refused because there was no room for it.
pub(crate) fn refused() {
    let now = Instant::now();
    let mut refusals = REFUSALS.lock();
    let refusals = refusals.get_or_insert_with(|| Refusals::new(now));
    refusals.advance(now);
    refusals.count = refusals.count.saturating_add(1);
}

/// Runs on a thread of the runtime before it waits for events.
pub(crate) fn before_wait() {
    let are_many = REFUSALS.lock().as_mut().is_some_and(|refusals| {
        refusals.advance(Instant::now());
        refusals.are_many()
    });
    if are_many {
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Refusals of a window, `count` of them at `after` its begin.
    fn after(count: u32, after: Duration) -> bool {
        let begun = Instant::now();
        let mut refusals = Refusals {
            count,
            ..Refusals::new(begun)
        };
        refusals.advance(begun + after);
        refusals.are_many()
    }

    #[test]
    fn many_refusals_gather_events_until_a_window_without_them_has_passed() {
        assert!(!after(MANY, Duration::ZERO));
        assert!(after(MANY + 1, Duration::ZERO));
        assert!(after(MANY + 1, WINDOW));
        assert!(!after(MANY + 1, 2 * WINDOW));
    }
}
