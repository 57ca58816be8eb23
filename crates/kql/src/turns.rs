//! Turns on the threads of queries: who has many queries gets no more of the processors than who has one.
//!
//! A task of a query has a turn while it is polled, which is about as long as a batch takes. There are as many turns as
//! there are processors. Where all are taken, tasks wait in the line of their principal, and a turn that ends goes to the
//! line that has used the least time. A poll that goes on and on cannot be interrupted; for each that has lasted
//! [`PATIENCE`] there is a spare turn for principals that have nothing running, and the operating system shares the
//! processors.
//!
//! A task that gives way is back in the line only when the runtime wakes it, so the runtime must look for such tasks after
//! every poll (`event_interval`), and have a thread more than there are turns.

use std::collections::{HashMap, HashSet, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::time::Sleep;

/// After how long a turn does not count on ending soon.
const PATIENCE: Duration = Duration::from_millis(20);
/// A line that was away catches up by so much time, not by all that it did not use.
const CREDIT: Duration = Duration::from_millis(100);

/// The turns of a number of processors.
#[derive(Debug)]
pub struct Turns {
    shared: Mutex<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// Turns that nobody has.
    free: usize,
    /// Spare turns that somebody has.
    spares: usize,
    most_spares: usize,
    /// The turns that somebody has.
    held: HashMap<u64, Held>,
    lines: HashMap<Arc<str>, Line>,
    /// What the line had used to which the last turn went: the time of start-time fair queueing.
    clock: Duration,
    /// Tasks that were given a turn and have not taken it.
    called: HashSet<u64>,
    next_ticket: u64,
}

/// A turn that somebody has.
#[derive(Debug)]
struct Held {
    began: Instant,
    spare: bool,
}

/// The tasks of one principal.
#[derive(Debug, Default)]
struct Line {
    /// Queries that have not ended.
    members: usize,
    running: usize,
    used: Duration,
    waiting: VecDeque<(u64, Waker)>,
}

impl Line {
    fn is_active(&self) -> bool {
        self.running > 0 || !self.waiting.is_empty()
    }
}

impl Turns {
    /// As many turns as `processors`, and at most `spares` more beside polls that do not end.
    pub fn new(processors: usize, spares: usize) -> Arc<Turns> {
        Arc::new(Turns {
            shared: Mutex::new(Shared {
                free: processors.max(1),
                spares: 0,
                most_spares: spares,
                held: HashMap::new(),
                lines: HashMap::new(),
                clock: Duration::ZERO,
                called: HashSet::new(),
                next_ticket: 0,
            }),
        })
    }

    /// A query of `principal`, whose tasks take turns.
    pub fn member(self: &Arc<Turns>, principal: &Arc<str>) -> Member {
        let mut shared = self.shared.lock();
        let line = shared.lines.entry(Arc::clone(principal)).or_default();
        line.members += 1;
        Member {
            turns: Arc::clone(self),
            principal: Arc::clone(principal),
        }
    }
}

impl Shared {
    /// The line of `principal`, which becomes active: it has not saved up the time that it was away.
    fn arrive(&mut self, principal: &Arc<str>) -> &mut Line {
        let line = self.lines.entry(Arc::clone(principal)).or_default();
        if !line.is_active() {
            line.used = line.used.max(self.clock.saturating_sub(CREDIT));
        }
        line
    }

    /// Whether there is a turn for a line, which is one of the spare ones where the others are taken.
    fn turn_for(&self, line_runs: bool) -> Option<Spare> {
        if self.free > 0 {
            return Some(false);
        }
        let long = |held: &&Held| held.began.elapsed() >= PATIENCE;
        let allowed = || {
            self.held
                .values()
                .filter(long)
                .count()
                .min(self.most_spares)
        };
        (!line_runs && self.spares < self.most_spares && self.spares < allowed()).then_some(true)
    }

    /// Notes that the task with this ticket has a turn now.
    fn give(&mut self, principal: &Arc<str>, ticket: u64, spare: Spare) {
        let began = Instant::now();
        self.held.insert(ticket, Held { began, spare });
        match spare {
            true => self.spares += 1,
            false => self.free -= 1,
        }
        if let Some(line) = self.lines.get_mut(principal) {
            line.running += 1;
            self.clock = self.clock.max(line.used);
        }
    }

    /// Gives turns to those who wait, as far as there are; what wakes them.
    fn call(&mut self) -> Vec<Waker> {
        let mut wakers = Vec::new();
        for spare in [false, true] {
            while self.turn_for(false) == Some(spare) {
                let waiting = self
                    .lines
                    .iter_mut()
                    .filter(|(_, line)| !line.waiting.is_empty() && (!spare || line.running == 0));
                let least = waiting.min_by_key(|(_, line)| (line.used, line.running));
                let Some((principal, line)) = least else {
                    break;
                };
                let principal = Arc::clone(principal);
                if let Some((ticket, waker)) = line.waiting.pop_front() {
                    self.give(&principal, ticket, spare);
                    self.called.insert(ticket);
                    wakers.push(waker);
                }
            }
        }
        wakers
    }
}

/// Whether a turn is one of the spare ones.
type Spare = bool;

/// One query among those who take turns.
#[derive(Debug)]
pub struct Member {
    turns: Arc<Turns>,
    principal: Arc<str>,
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut shared = self.turns.shared.lock();
        if let Some(line) = shared.lines.get_mut(&self.principal) {
            line.members -= 1;
            if line.members == 0 {
                shared.lines.remove(&self.principal);
            }
        }
    }
}

impl Member {
    /// A turn for a task that has none, or its place in the line; both have a number.
    fn enter(&self, waker: &Waker) -> Result<u64, u64> {
        let mut shared = self.turns.shared.lock();
        let ticket = shared.next_ticket;
        shared.next_ticket += 1;
        let runs = shared.arrive(&self.principal).running > 0;
        if let Some(spare) = shared.turn_for(runs) {
            shared.give(&self.principal, ticket, spare);
            return Ok(ticket);
        }
        let line = shared.arrive(&self.principal);
        line.waiting.push_back((ticket, waker.clone()));
        Err(ticket)
    }

    /// Whether the task with this ticket has a turn by now.
    fn is_called(&self, ticket: u64, waker: &Waker) -> bool {
        let mut shared = self.turns.shared.lock();
        if shared.called.remove(&ticket) {
            return true;
        }
        let line = shared.lines.get_mut(&self.principal);
        let place = line.and_then(|line| line.waiting.iter_mut().find(|(t, _)| *t == ticket));
        if let Some((_, waits)) = place {
            waits.clone_from(waker);
        }
        false
    }

    /// Looks whether turns have lasted so long by now that there are spare ones.
    fn look(&self) {
        let wakers = self.turns.shared.lock().call();
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Ends a turn that took so long.
    fn leave(&self, turn: u64, took: Duration) {
        let mut shared = self.turns.shared.lock();
        match shared.held.remove(&turn) {
            Some(Held { spare: true, .. }) => shared.spares -= 1,
            Some(Held { spare: false, .. }) => shared.free += 1,
            None => {}
        }
        if let Some(line) = shared.lines.get_mut(&self.principal) {
            line.running -= 1;
            line.used += took;
        }
        let wakers = shared.call();
        drop(shared);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// A task with this ticket is gone.
    fn give_up(&self, ticket: u64) {
        let mut shared = self.turns.shared.lock();
        if shared.called.remove(&ticket) {
            drop(shared);
            return self.leave(ticket, Duration::ZERO);
        }
        if let Some(line) = shared.lines.get_mut(&self.principal) {
            line.waiting.retain(|(waiting, _)| *waiting != ticket);
        }
    }
}

/// A task that is polled when it has a turn.
pub(crate) struct InTurns<F> {
    member: Option<Arc<Member>>,
    future: Pin<Box<F>>,
    waits: Option<Waits>,
}

/// A place in the line.
struct Waits {
    ticket: u64,
    patience: Pin<Box<Sleep>>,
}

impl<F: Future> InTurns<F> {
    /// `future` as a task of `member`; without one it takes no turns.
    pub(crate) fn new(member: Option<Arc<Member>>, future: F) -> InTurns<F> {
        InTurns {
            member,
            future: Box::pin(future),
            waits: None,
        }
    }

    /// The number of the task's turn, if it has one; where not, it is woken when it does.
    fn turn(&mut self, member: &Member, context: &mut Context<'_>) -> Option<u64> {
        if self.waits.is_none() {
            match member.enter(context.waker()) {
                Ok(turn) => return Some(turn),
                Err(ticket) => {
                    let patience = Box::pin(tokio::time::sleep(PATIENCE));
                    self.waits = Some(Waits { ticket, patience });
                }
            }
        }
        let waits = self.waits.as_mut()?;
        while waits.patience.as_mut().poll(context).is_ready() {
            member.look();
            let again = tokio::time::Instant::now() + PATIENCE;
            waits.patience.as_mut().reset(again);
        }
        let ticket = waits.ticket;
        let called = member.is_called(ticket, context.waker());
        called.then(|| {
            self.waits = None;
            ticket
        })
    }
}

impl<F: Future> Future for InTurns<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Some(member) = self.member.clone() else {
            return self.future.as_mut().poll(context);
        };
        let Some(number) = self.turn(&member, context) else {
            return Poll::Pending;
        };
        let _turn = Turn {
            member: &member,
            number,
            began: Instant::now(),
        };
        self.future.as_mut().poll(context)
    }
}

impl<F> Drop for InTurns<F> {
    fn drop(&mut self) {
        if let (Some(member), Some(waits)) = (&self.member, &self.waits) {
            member.give_up(waits.ticket);
        }
    }
}

/// A turn; it ends when dropped, also where the poll panics.
struct Turn<'a> {
    member: &'a Member,
    number: u64,
    began: Instant,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.member.leave(self.number, self.began.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::task::JoinSet;

    use super::*;

    /// A task that works for `units` polls of a millisecond each, and counts them.
    async fn busy(units: usize, done: Arc<AtomicUsize>) {
        for _ in 0..units {
            std::thread::sleep(Duration::from_millis(1));
            done.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
    }

    fn runtime(threads: usize) -> tokio::runtime::Runtime {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder
            .worker_threads(threads)
            .event_interval(1)
            .enable_all();
        builder.build().expect("a runtime")
    }

    #[test]
    fn one_task_has_as_much_as_the_many_of_another() {
        let turns = Turns::new(1, 1);
        let (few, many) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        runtime(3).block_on(async {
            let mut flood = JoinSet::new();
            let flooder = Arc::new(turns.member(&"flooder".into()));
            for _ in 0..20 {
                let task = busy(10_000, Arc::clone(&many));
                flood.spawn(InTurns::new(Some(Arc::clone(&flooder)), task));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
            let before = many.load(Ordering::Relaxed);
            let other = Arc::new(turns.member(&"other".into()));
            let task = InTurns::new(Some(other), busy(200, Arc::clone(&few)));
            tokio::spawn(task).await.expect("it ends");
            let meanwhile = many.load(Ordering::Relaxed) - before;
            // About one for one; the runtime polls up to three tasks that follow one another before it looks for those that
            // gave way. Without turns it would be twenty for one.
            assert!((50..=1000).contains(&meanwhile), "{meanwhile}");
            flood.abort_all();
        });
        assert_eq!(few.load(Ordering::Relaxed), 200);
    }

    #[test]
    fn a_poll_without_end_does_not_keep_others_waiting() {
        let turns = Turns::new(1, 1);
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        runtime(3).block_on(async {
            let one = Arc::new(turns.member(&"one".into()));
            let endless = tokio::spawn(InTurns::new(Some(one), async move { receiver.recv() }));
            tokio::time::sleep(Duration::from_millis(20)).await;
            let other = Arc::new(turns.member(&"other".into()));
            let done = Arc::new(AtomicUsize::new(0));
            let task = InTurns::new(Some(other), busy(3, Arc::clone(&done)));
            tokio::spawn(task).await.expect("it ends");
            assert_eq!(done.load(Ordering::Relaxed), 3);
            assert!(!endless.is_finished());
            drop(sender);
            assert!(endless.await.expect("it ends").is_err());
        });
        assert_eq!(turns.shared.lock().free, 1);
    }

    #[test]
    fn tasks_that_are_dropped_leave_their_turns_and_places() {
        let turns = Turns::new(1, 0);
        let done = Arc::new(AtomicUsize::new(0));
        runtime(2).block_on(async {
            for round in 0..50 {
                let member = Arc::new(turns.member(&format!("{}", round % 3).into()));
                let mut tasks = JoinSet::new();
                for _ in 0..5 {
                    tasks.spawn(InTurns::new(
                        Some(Arc::clone(&member)),
                        busy(100, Arc::clone(&done)),
                    ));
                }
                tokio::time::sleep(Duration::from_millis(3)).await;
                tasks.shutdown().await;
            }
        });
        let shared = turns.shared.lock();
        assert_eq!(shared.free, 1);
        assert!(shared.lines.is_empty() && shared.called.is_empty() && shared.held.is_empty());
    }
}
