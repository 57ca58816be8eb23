//! Takes the events of connections in batches while many requests are refused, as network cards moderate their interrupts.
//!
//! Each packet that arrives wakes the thread that waits for events and interrupts what decodes telemetry. At a hundred times the capacity
//! these interruptions cost more than the refusals: on a virtual machine, where each is an exit to the hypervisor, a fifth of a
//! processor (`bench/overload.py`). While more than [`MANY`] requests are refused in [`WINDOW`], a thread of the runtime pauses for
//! [`PAUSE`] before it waits for events, and then takes all that have arrived. A request that arrives waits that much longer. A request
//! that is being stored does not: each step that other threads do for it ends the pause ([`promptly`]), or the processors would idle between
//! two steps.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tokio::time::Instant;

/// The time in which refusals are counted.
const WINDOW: Duration = Duration::from_millis(100);
/// Refusals in a [`WINDOW`] from which on events are taken in batches.
const MANY: u32 = 20;
/// How long events gather.
const PAUSE: Duration = Duration::from_millis(4);

static REFUSALS: Mutex<Option<Refusals>> = Mutex::new(None);
static PAUSES: Pauses = Pauses::new();

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

/// The pauses of the runtime's threads.
struct Pauses {
    /// Whether a task was woken for which no thread may pause. It is noted until the next pause: the thread may be about to begin it.
    is_awaited: Mutex<bool>,
    ended: Condvar,
}

impl Pauses {
    const fn new() -> Pauses {
        Pauses {
            is_awaited: Mutex::new(false),
            ended: Condvar::new(),
        }
    }

    /// Blocks the thread for a time, or until [`Pauses::end`].
    fn pause(&self, time: Duration) {
        let mut is_awaited = self.is_awaited.lock();
        self.ended
            .wait_while_for(&mut is_awaited, |is_awaited| !*is_awaited, time);
        *is_awaited = false;
    }

    fn end(&self) {
        *self.is_awaited.lock() = true;
        self.ended.notify_all();
    }
}

/// A waker that ends pauses.
struct Prompt {
    pauses: &'static Pauses,
    waker: Waker,
}

impl Wake for Prompt {
    fn wake(self: Arc<Prompt>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Prompt>) {
        // The task first: a thread whose pause ends looks for tasks.
        self.waker.wake_by_ref();
        self.pauses.end();
    }
}

/// Awaits work of other threads. No pause of the runtime's threads delays what follows it.
pub(crate) async fn promptly<F: Future>(work: F) -> F::Output {
    prompt(work, &PAUSES).await
}

async fn prompt<F: Future>(work: F, pauses: &'static Pauses) -> F::Output {
    let mut work = pin!(work);
    poll_fn(|context| {
        let waker = context.waker().clone();
        let waker = Waker::from(Arc::new(Prompt { pauses, waker }));
        work.as_mut().poll(&mut Context::from_waker(&waker))
    })
    .await
}

/// Counts a request that was refused because there was no room for it.
pub(crate) fn refused() {
    let now = Instant::now();
    let mut refusals = REFUSALS.lock();
    let refusals = refusals.get_or_insert_with(|| Refusals::new(now));
    refusals.advance(now);
    refusals.count = refusals.count.saturating_add(1);
}

/// Whether more than [`MANY`] requests were refused in this [`WINDOW`] or the one before.
pub(crate) fn refusals_are_many() -> bool {
    REFUSALS.lock().as_mut().is_some_and(|refusals| {
        refusals.advance(Instant::now());
        refusals.are_many()
    })
}

/// Runs on a thread of the runtime before it waits for events.
pub(crate) fn before_wait() {
    if refusals_are_many() {
        PAUSES.pause(PAUSE);
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

    /// Longer than any test runs.
    const FOREVER: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn work_that_ends_elsewhere_ends_a_pause() {
        static PAUSES: Pauses = Pauses::new();
        let (begin, begun) = std::sync::mpsc::channel();
        let (send, receive) = tokio::sync::oneshot::channel();
        let waiting = tokio::spawn(prompt(receive, &PAUSES));
        // The task waits before the pause begins.
        tokio::task::yield_now().await;
        let paused = std::thread::spawn(move || {
            let _ = begin.send(());
            PAUSES.pause(FOREVER);
        });
        begun.recv().unwrap();
        send.send("stored").unwrap();
        assert_eq!(waiting.await.unwrap(), Ok("stored"));
        paused.join().unwrap();
    }

    #[test]
    fn a_pause_that_was_ended_before_it_began_does_not_last() {
        static PAUSES: Pauses = Pauses::new();
        PAUSES.end();
        PAUSES.pause(FOREVER);
        PAUSES.pause(Duration::from_millis(1));
        assert!(!*PAUSES.is_awaited.lock());
    }
}
