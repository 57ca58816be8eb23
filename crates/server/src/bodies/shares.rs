//! Memory that is shared fairly: each owner (an application, a principal) has at most half of it, and what becomes free goes to
//! the waiting owner that holds least.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, oneshot};

/// Bytes of the log that one application may write at once, in units of [`LOG_UNIT`].
const LOG_UNITS: u32 = 256;
/// 64 KiB.
const LOG_UNIT: usize = 64 << 10;

/// The limits of shared memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Bytes of all owners.
    pub(crate) bytes: usize,
    /// Requests of one owner that hold memory at once.
    pub(crate) running: usize,
    /// Requests of one owner that wait.
    pub(crate) queue: usize,
    /// Bytes of all bodies that wait.
    pub(crate) waiting_bytes: usize,
    /// How long a request waits.
    pub(crate) queue_time: Duration,
}

/// Memory that is shared between owners.
pub(crate) struct Shares<K: Eq + Hash + Clone> {
    limits: Limits,
    state: Mutex<State<K>>,
}

struct State<K: Eq + Hash + Clone> {
    next: u64,
    used: usize,
    waiting_bytes: usize,
    owners: HashMap<K, Account>,
}

struct Account {
    held: usize,
    running: usize,
    waiting: VecDeque<Waiter>,
    waiting_bytes: usize,
    /// Requests that are decoded at once: as many as there are processors, so that the operating system divides these fairly.
    decoding: Arc<Semaphore>,
    /// Bytes that are written to the log at once.
    log: Arc<Semaphore>,
}

struct Waiter {
    number: u64,
    bytes: usize,
    /// The size of the body, which is held while the request waits.
    body: usize,
    grant: oneshot::Sender<()>,
}

/// An owner's share of the memory, for one request. Dropping it releases the memory.
pub(crate) struct Share<K: Eq + Hash + Clone> {
    shares: Arc<Shares<K>>,
    owner: K,
    bytes: usize,
    decoding: Arc<Semaphore>,
    log: Arc<Semaphore>,
}

/// Where a request waits among those of its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Before the others, however many there are: it has run, and needs more memory than was expected.
    First,
    /// After the others.
    Last,
}

/// Why a request gets no memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoMemory {
    /// It needs more than there is.
    TooLarge {
        /// Bytes of all owners.
        limit: usize,
    },
    /// Too many requests, or bytes, wait.
    Full,
    /// It waited too long.
    Late,
}

impl Account {
    fn new() -> Account {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Account {
            held: 0,
            running: 0,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            decoding: Arc::new(Semaphore::new(processors)),
            log: Arc::new(Semaphore::new(LOG_UNITS as usize)),
        }
    }

    fn is_idle(&self) -> bool {
        self.running == 0 && self.waiting.is_empty()
    }
}

impl<K: Eq + Hash + Clone> Shares<K> {
    /// Memory within these limits.
    pub(crate) fn new(limits: Limits) -> Arc<Shares<K>> {
        Arc::new(Shares {
            limits,
            state: Mutex::new(State {
                next: 0,
                used: 0,
                waiting_bytes: 0,
                owners: HashMap::new(),
            }),
        })
    }

    /// Bytes of all owners.
    pub(crate) fn limit(&self) -> usize {
        self.limits.bytes
    }

    /// Whether another request of `owner` would be refused because too many wait.
    pub(crate) fn is_full(&self, owner: &K) -> bool {
        let state = self.state.lock();
        let account = state.owners.get(owner);
        account.is_some_and(|account| self.has_full_queue(account))
    }

    /// Whether another request of some owner would be refused because too many wait.
    pub(crate) fn is_any_full(&self) -> bool {
        let state = self.state.lock();
        let mut accounts = state.owners.values();
        accounts.any(|account| self.has_full_queue(account))
    }

    fn has_full_queue(&self, account: &Account) -> bool {
        // Where none may wait, one may still run.
        account.waiting.len() >= self.limits.queue.max(1)
    }

    /// Waits for `bytes` of memory for a request of `owner`, whose body has `body` bytes.
    pub(crate) async fn enter(
        self: &Arc<Shares<K>>,
        owner: K,
        bytes: usize,
        body: usize,
    ) -> Result<Share<K>, NoMemory> {
        self.enter_at(Place::Last, owner, bytes, body).await
    }

    /// As [`Shares::enter`], waiting at a place of its own.
    pub(crate) async fn enter_at(
        self: &Arc<Shares<K>>,
        place: Place,
        owner: K,
        bytes: usize,
        body: usize,
    ) -> Result<Share<K>, NoMemory> {
        let limit = self.limits.bytes;
        if bytes > limit {
            return Err(NoMemory::TooLarge { limit });
        }
        let mut queued = self.join(place, owner, bytes, body)?;
        match tokio::time::timeout(self.limits.queue_time, &mut queued.granted).await {
            Ok(Ok(())) => queued.share().ok_or(NoMemory::Full),
            // The place was given up for an owner with less.
            Ok(Err(_)) => Err(NoMemory::Full),
            Err(_) => Err(NoMemory::Late),
        }
    }

    fn join(
        self: &Arc<Shares<K>>,
        place: Place,
        owner: K,
        bytes: usize,
        body: usize,
    ) -> Result<Queued<K>, NoMemory> {
        let (grant, granted) = oneshot::channel();
        let mut state = self.state.lock();
        let number = state.next;
        state.next += 1;
        let account = state
            .owners
            .entry(owner.clone())
            .or_insert_with(Account::new);
        let waiter = Waiter {
            number,
            bytes,
            body,
            grant,
        };
        match place {
            Place::First => account.waiting.push_front(waiter),
            Place::Last => account.waiting.push_back(waiter),
        }
        account.waiting_bytes += body;
        state.waiting_bytes += body;
        self.grant(&mut state);
        let account = state.owners.get(&owner);
        let is_full = |account: &Account| account.waiting.len() > self.limits.queue;
        if place == Place::Last && account.is_some_and(is_full) {
            state.give_up(&owner, number);
            return Err(NoMemory::Full);
        }
        while state.waiting_bytes > self.limits.waiting_bytes {
            let Some((largest, newest)) = state.largest_waiter() else {
                break;
            };
            state.give_up(&largest, newest);
        }
        Ok(Queued {
            shares: self.clone(),
            owner,
            number,
            bytes,
            granted,
            taken: false,
        })
    }

    /// Gives free memory to waiting requests: of the owners whose first request may run, the one that holds least.
    fn grant(&self, state: &mut State<K>) {
        while let Some(owner) = self.next_owner(state) {
            let Some(account) = state.owners.get_mut(&owner) else {
                return;
            };
            let fits = |waiter: &Waiter| state.used + waiter.bytes <= self.limits.bytes;
            // Smaller requests do not overtake it, or it might wait for ever.
            if !account.waiting.front().is_some_and(fits) {
                return;
            }
            let Some(waiter) = account.waiting.pop_front() else {
                return;
            };
            account.waiting_bytes = account.waiting_bytes.saturating_sub(waiter.body);
            state.waiting_bytes = state.waiting_bytes.saturating_sub(waiter.body);
            if waiter.grant.send(()).is_ok() {
                account.held += waiter.bytes;
                account.running += 1;
                state.used += waiter.bytes;
            }
        }
    }

    fn next_owner(&self, state: &State<K>) -> Option<K> {
        let half = self.limits.bytes / 2;
        let may_run = |account: &Account| {
            account.waiting.front().is_some_and(|first| {
                account.running < self.limits.running
                    && (account.held == 0 || account.held + first.bytes <= half)
            })
        };
        let waiting = state.owners.iter().filter(|(_, account)| may_run(account));
        let order = |account: &Account| {
            let first = account.waiting.front().map(|first| first.number);
            (account.held, first)
        };
        waiting
            .min_by_key(|(_, account)| order(account))
            .map(|(owner, _)| owner.clone())
    }

    /// Bytes that are held now.
    #[cfg(test)]
    pub(crate) fn used(&self) -> usize {
        self.state.lock().used
    }
}

impl<K: Eq + Hash + Clone> State<K> {
    /// Removes a waiting request, if it still waits.
    fn give_up(&mut self, owner: &K, number: u64) {
        let Some(account) = self.owners.get_mut(owner) else {
            return;
        };
        let place = account
            .waiting
            .iter()
            .position(|waiter| waiter.number == number);
        if let Some(waiter) = place.and_then(|place| account.waiting.remove(place)) {
            account.waiting_bytes = account.waiting_bytes.saturating_sub(waiter.body);
            self.waiting_bytes = self.waiting_bytes.saturating_sub(waiter.body);
        }
        if account.is_idle() {
            self.owners.remove(owner);
        }
    }

    /// The newest waiting request of the owner whose waiting bodies are largest.
    fn largest_waiter(&self) -> Option<(K, u64)> {
        let waiting = self.owners.iter().filter_map(|(owner, account)| {
            let newest = account.waiting.back()?;
            Some((account.waiting_bytes, owner, newest.number))
        });
        waiting
            .max_by_key(|(bytes, _, _)| *bytes)
            .map(|(_, owner, number)| (owner.clone(), number))
    }

    fn release(&mut self, owner: &K, bytes: usize, ended: bool) {
        self.used = self.used.saturating_sub(bytes);
        let Some(account) = self.owners.get_mut(owner) else {
            return;
        };
        account.held = account.held.saturating_sub(bytes);
        if ended {
            account.running = account.running.saturating_sub(1);
            if account.is_idle() {
                self.owners.remove(owner);
            }
        }
    }
}

/// A request's place in the queue; dropping it gives the place up, or what was granted.
struct Queued<K: Eq + Hash + Clone> {
    shares: Arc<Shares<K>>,
    owner: K,
    number: u64,
    bytes: usize,
    granted: oneshot::Receiver<()>,
    /// Whether the grant was taken over by a [`Share`].
    taken: bool,
}

impl<K: Eq + Hash + Clone> Queued<K> {
    /// Takes over what was granted.
    fn share(mut self) -> Option<Share<K>> {
        let (decoding, log) = {
            let state = self.shares.state.lock();
            let account = state.owners.get(&self.owner)?;
            (account.decoding.clone(), account.log.clone())
        };
        self.taken = true;
        Some(Share {
            shares: self.shares.clone(),
            owner: self.owner.clone(),
            bytes: self.bytes,
            decoding,
            log,
        })
    }
}

impl<K: Eq + Hash + Clone> Drop for Queued<K> {
    fn drop(&mut self) {
        if self.taken {
            return;
        }
        let mut state = self.shares.state.lock();
        state.give_up(&self.owner, self.number);
        // The grant may have come too late to be taken.
        if self.granted.try_recv().is_ok() {
            state.release(&self.owner, self.bytes, true);
        }
        self.shares.grant(&mut state);
    }
}

impl<K: Eq + Hash + Clone> Share<K> {
    /// Bytes of the share.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Gives back what is beyond `bytes`.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        let back = self.bytes.saturating_sub(bytes);
        if back > 0 {
            self.bytes -= back;
            let mut state = self.shares.state.lock();
            state.release(&self.owner, back, false);
            self.shares.grant(&mut state);
        }
    }

    /// Waits for the owner's turn to decode.
    pub(crate) async fn decoding(&self) -> Option<tokio::sync::OwnedSemaphorePermit> {
        self.decoding.clone().acquire_owned().await.ok()
    }

    /// Waits for the owner's turn to append `bytes` to the log. The requests of an application wait for at most a few megabytes
    /// of each other one.
    pub(crate) async fn log(&self, bytes: usize) -> Option<tokio::sync::OwnedSemaphorePermit> {
        let units = u32::try_from(bytes.div_ceil(LOG_UNIT)).unwrap_or(u32::MAX);
        let log = self.log.clone();
        log.acquire_many_owned(units.clamp(1, LOG_UNITS)).await.ok()
    }
}

impl<K: Eq + Hash + Clone> Drop for Share<K> {
    fn drop(&mut self) {
        let mut state = self.shares.state.lock();
        state.release(&self.owner, self.bytes, true);
        self.shares.grant(&mut state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        bytes: 100,
        running: 10,
        queue: 5,
        waiting_bytes: 1000,
        queue_time: Duration::from_millis(50),
    };

    fn shares(limits: Limits) -> Arc<Shares<&'static str>> {
        Shares::new(limits)
    }

    #[tokio::test]
    async fn an_owner_has_half_and_one_request_alone_may_have_all() {
        let shares = shares(LIMITS);
        let enter = async |owner, bytes| shares.enter(owner, bytes, 0).await;
        let first = enter("a", 30).await.ok().unwrap();
        let second = enter("a", 20).await.ok().unwrap();
        assert_eq!(enter("a", 1).await.err(), Some(NoMemory::Late));
        let other = enter("b", 50).await.ok().unwrap();
        assert_eq!(enter("c", 1).await.err(), Some(NoMemory::Late));
        drop((first, second, other));
        let all = enter("a", 100).await.ok().unwrap();
        assert_eq!(all.bytes(), 100);
        assert_eq!(
            enter("a", 101).await.err(),
            Some(NoMemory::TooLarge { limit: 100 })
        );
        drop(all);
        assert_eq!(shares.used(), 0);
        assert!(shares.state.lock().owners.is_empty());
    }

    /// What becomes free goes to the owner with the least, however many requests of another wait before it.
    #[tokio::test]
    async fn a_flood_of_one_owner_delays_another_by_one_request() {
        let limits = Limits {
            queue_time: Duration::from_secs(60),
            queue: 100,
            ..LIMITS
        };
        let shares = shares(limits);
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let first = shares.enter("flood", 50, 0).await.ok().unwrap();
        let second = shares.enter("another", 50, 0).await.ok().unwrap();
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..20 {
            let (shares, tell) = (shares.clone(), tell.clone());
            let owner = if number < 19 { "flood" } else { "quiet" };
            tasks.spawn(async move {
                if let Ok(share) = shares.enter(owner, 50, 0).await {
                    let _ = tell.send((owner, share));
                }
            });
            tokio::task::yield_now().await;
        }
        drop(second);
        assert_eq!(told.recv().await.map(|(owner, _)| owner), Some("quiet"));
        drop(first);
        for _ in 0..19 {
            assert_eq!(told.recv().await.map(|(owner, _)| owner), Some("flood"));
        }
    }

    #[tokio::test]
    async fn a_request_that_has_begun_waits_before_the_others_and_beside_a_full_queue() {
        let limits = Limits {
            queue: 1,
            queue_time: Duration::from_secs(60),
            ..LIMITS
        };
        let shares = shares(limits);
        let held = shares.enter("a", 100, 0).await.ok().unwrap();
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        for place in [Place::Last, Place::First] {
            let (shares, tell) = (shares.clone(), tell.clone());
            tokio::spawn(async move {
                let share = shares.enter_at(place, "a", 100, 0).await;
                let _ = tell.send((place, share.map(drop)));
            });
            tokio::task::yield_now().await;
        }
        assert_eq!(shares.enter("a", 1, 0).await.err(), Some(NoMemory::Full));
        drop(held);
        assert_eq!(told.recv().await, Some((Place::First, Ok(()))));
        assert_eq!(told.recv().await, Some((Place::Last, Ok(()))));
    }

    #[tokio::test]
    async fn an_owner_whose_requests_may_not_wait_is_full_only_while_one_is_refused() {
        let shares = shares(Limits {
            running: 1,
            queue: 0,
            ..LIMITS
        });
        assert!(!shares.is_full(&"a"));
        let held = shares.enter("a", 1, 0).await.ok().unwrap();
        assert_eq!(shares.enter("a", 1, 0).await.err(), Some(NoMemory::Full));
        drop(held);
        assert!(!shares.is_full(&"a") && shares.enter("a", 1, 0).await.is_ok());
    }

    #[tokio::test]
    async fn queues_are_bounded_in_number_bytes_and_time() {
        let limits = Limits {
            running: 1,
            queue: 2,
            waiting_bytes: 10,
            queue_time: Duration::from_secs(60),
            ..LIMITS
        };
        let shares = shares(limits);
        let held = shares.enter("a", 1, 0).await.ok().unwrap();
        let held_too = shares.enter("b", 1, 0).await.ok().unwrap();
        let wait = |owner, body| {
            let shares = shares.clone();
            tokio::spawn(async move { shares.enter(owner, 1, body).await.map(|_| ()) })
        };
        let (first, second) = (wait("a", 4), wait("a", 4));
        tokio::task::yield_now().await;
        assert!(shares.is_full(&"a") && !shares.is_full(&"b"));
        assert_eq!(shares.enter("a", 1, 0).await.err(), Some(NoMemory::Full));
        // The newest of the owner that has most waiting bytes makes room.
        let other = wait("b", 4);
        assert_eq!(second.await.unwrap(), Err(NoMemory::Full));
        drop((held, held_too));
        assert_eq!(first.await.unwrap(), Ok(()));
        assert_eq!(other.await.unwrap(), Ok(()));
        assert_eq!(shares.state.lock().waiting_bytes, 0);
    }

    #[tokio::test]
    async fn a_cancelled_request_leaves_nothing_behind() {
        let shares = shares(Limits {
            queue_time: Duration::from_secs(60),
            ..LIMITS
        });
        let mut held = shares.enter("a", 100, 0).await.ok().unwrap();
        let waiting = tokio::spawn({
            let shares = shares.clone();
            async move { shares.enter("b", 100, 7).await.map(|_| ()) }
        });
        tokio::task::yield_now().await;
        assert_eq!(shares.state.lock().waiting_bytes, 7);
        waiting.abort();
        assert!(waiting.await.is_err());
        assert_eq!(shares.state.lock().waiting_bytes, 0);
        held.shrink(40);
        assert_eq!(shares.used(), 40);
        assert!(shares.enter("b", 60, 0).await.is_ok());
        drop(held);
        assert_eq!(shares.used(), 0);
    }
}
