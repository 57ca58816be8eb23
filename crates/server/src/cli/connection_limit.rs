//! The connection limit of a listener. When it is reached, the connection that has waited longest for its client is closed, so
//! that clients that send or read nothing do not keep others out.
//!
//! Connections beyond the limit are not turned away at once: a few are kept in a reserve, which answers health checks while
//! other requests wait for a slot.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body::{Frame, SizeHint};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a connection must have waited for its client before it is closed for another one: its last reply is sent by then.
const GRACE: Duration = Duration::from_millis(100);
/// How long a client may take nothing of a reply before its connection may be closed for another one.
const READING_GRACE: Duration = Duration::from_secs(1);
/// Connections that are kept beyond the limit; the oldest of them make room.
const RESERVE: usize = 64;
/// How long a request in the reserve waits for a slot.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a connection waits for its client to do, in the order in which such connections are closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Awaited {
    /// To send a request.
    Request,
    /// To send the rest of the body of its requests.
    Body,
    /// To read a reply.
    Reading,
}

impl Awaited {
    fn grace(self) -> Duration {
        match self {
            Awaited::Request | Awaited::Body => GRACE,
            Awaited::Reading => READING_GRACE,
        }
    }
}

/// A waiting connection's place: what it waits for, and since when.
type Place = (Awaited, u64);

/// The connection slots of a listener.
pub(super) struct ConnectionLimit {
    most: usize,
    most_of_address: usize,
    connections: Mutex<Connections>,
    freed: Notify,
}

#[derive(Default)]
struct Connections {
    next: u64,
    open: usize,
    addresses: HashMap<IpAddr, Address>,
    waiting: BTreeMap<Place, Waiting>,
    reserve: BTreeMap<u64, CancellationToken>,
}

/// The connections of an address.
#[derive(Default)]
struct Address {
    open: usize,
    waiting: BTreeSet<Place>,
}

struct Waiting {
    since: Instant,
    address: Option<IpAddr>,
    closing: CancellationToken,
}

/// A connection's slot; dropping it frees the slot.
pub(super) struct ConnectionSlot {
    limit: Arc<ConnectionLimit>,
    /// The address that the connection counts for; `None` for a trusted proxy, which has many clients.
    address: Option<IpAddr>,
    closing: CancellationToken,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Its number in the reserve while it has no slot.
    reserve: Option<u64>,
    /// Requests that are not answered to the end.
    requests: usize,
    /// Those of them whose bodies are waited for.
    receiving: usize,
    /// Whether the client takes nothing of what is written.
    stalled: bool,
    /// Replies of which a part was handed over for sending and no more was asked for, with the time of it. Few: a list keeps its memory.
    handed: Vec<(u64, Instant)>,
    next_reply: u64,
    place: Option<Place>,
}

impl State {
    fn awaited(&self) -> Option<Awaited> {
        if self.requests == 0 {
            Some(Awaited::Request)
        } else if self.receiving == self.requests {
            Some(Awaited::Body)
        } else if self.stalled {
            Some(Awaited::Reading)
        } else {
            None
        }
    }

    /// Notes whether a reply was handed over for sending.
    fn note_handed(&mut self, reply: u64, is_handed: bool) {
        self.handed.retain(|(number, _)| *number != reply);
        if is_handed {
            self.handed.push((reply, Instant::now()));
        }
    }
}

impl ConnectionLimit {
    /// At most `most` connections, and `most_of_address` of one address.
    pub(super) fn new(most: usize, most_of_address: usize) -> Arc<ConnectionLimit> {
        Arc::new(ConnectionLimit {
            most,
            most_of_address,
            connections: Mutex::default(),
            freed: Notify::new(),
        })
    }

    /// A new connection: with a slot if there is a free one, otherwise in the reserve. Makes room in both.
    pub(super) fn open(self: &Arc<ConnectionLimit>, address: Option<IpAddr>) -> ConnectionSlot {
        let slot = ConnectionSlot {
            limit: self.clone(),
            address,
            closing: CancellationToken::new(),
            state: Mutex::default(),
        };
        let mut state = slot.state.lock();
        let mut connections = self.connections.lock();
        if self.take(&mut connections, address) {
            connections.wait(&slot, &mut state, Awaited::Request);
        } else {
            let number = connections.number();
            connections.reserve.insert(number, slot.closing.clone());
            state.reserve = Some(number);
            if connections.reserve.len() > RESERVE
                && let Some((_, oldest)) = connections.reserve.pop_first()
            {
                oldest.cancel();
                metrics::counter!("hindsight_connections_refused_total").increment(1);
            }
        }
        drop(connections);
        drop(state);
        slot
    }

    /// Takes a slot if one is free; otherwise closes a waiting connection, whose slot is free a moment later.
    fn take(&self, connections: &mut Connections, address: Option<IpAddr>) -> bool {
        let own = address.and_then(|address| connections.addresses.get(&address));
        let full_of_own = own.is_some_and(|own| own.open >= self.most_of_address);
        if full_of_own || connections.open >= self.most {
            let oldest = if full_of_own {
                own.and_then(|own| own.waiting.first().copied())
            } else {
                connections.waiting.keys().next().copied()
            };
            if let Some(place) = oldest {
                connections.close(place);
            }
            return false;
        }
        connections.open += 1;
        if let Some(address) = address {
            connections.addresses.entry(address).or_default().open += 1;
        }
        true
    }

    /// Closes the connection that has waited longest, for the system has no room for another one.
    pub(super) fn close_longest_waiting(&self) -> Duration {
        let mut connections = self.connections.lock();
        let oldest = connections.waiting.keys().next().copied();
        if let Some(place) = oldest {
            connections.close(place);
        }
        GRACE
    }
}

impl Connections {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Closes a waiting connection if it has waited long enough.
    fn close(&mut self, place: Place) {
        let waited = |waiting: &Waiting| waiting.since.elapsed() >= place.0.grace();
        if !self.waiting.get(&place).is_some_and(waited) {
            return;
        }
        if let Some(waiting) = self.remove(place) {
            waiting.closing.cancel();
            metrics::counter!("hindsight_idle_connections_closed_total").increment(1);
        }
    }

    fn remove(&mut self, place: Place) -> Option<Waiting> {
        let waiting = self.waiting.remove(&place)?;
        let address = waiting.address.as_ref();
        if let Some(own) = address.and_then(|address| self.addresses.get_mut(address)) {
            own.waiting.remove(&place);
        }
        Some(waiting)
    }

    fn wait(&mut self, slot: &ConnectionSlot, state: &mut State, awaited: Awaited) {
        let place = (awaited, self.number());
        let waiting = Waiting {
            since: Instant::now(),
            address: slot.address,
            closing: slot.closing.clone(),
        };
        self.waiting.insert(place, waiting);
        if let Some(address) = slot.address {
            let own = self.addresses.entry(address).or_default();
            own.waiting.insert(place);
        }
        state.place = Some(place);
    }
}

impl ConnectionSlot {
    /// Completes when the connection must close.
    pub(super) async fn closed(&self) {
        self.closing.cancelled().await;
    }

    /// Waits a while for a slot, if the connection is in the reserve; says whether it has one.
    pub(super) async fn has_slot(&self) -> bool {
        let end = Instant::now() + PATIENCE;
        loop {
            let freed = self.limit.freed.notified();
            if self.leave_reserve() {
                return true;
            }
            if Instant::now() >= end {
                return false;
            }
            // Connections that become old enough to be closed announce nothing.
            let _ = tokio::time::timeout(GRACE, freed).await;
        }
    }

    fn leave_reserve(&self) -> bool {
        let mut state = self.state.lock();
        let Some(number) = state.reserve else {
            return true;
        };
        let mut connections = self.limit.connections.lock();
        if !self.limit.take(&mut connections, self.address) {
            return false;
        }
        connections.reserve.remove(&number);
        drop(connections);
        state.reserve = None;
        self.note(&mut state);
        true
    }

    /// Marks the connection as busy until the returned value is dropped at the end of the reply.
    pub(super) fn begin_request(self: &Arc<ConnectionSlot>) -> ActiveRequest {
        let mut state = self.state.lock();
        state.requests += 1;
        self.note(&mut state);
        ActiveRequest { slot: self.clone() }
    }

    /// Notes whether the client takes nothing of what is written.
    pub(super) fn set_stalled(&self, stalled: bool) {
        let mut state = self.state.lock();
        state.stalled = stalled;
        self.note(&mut state);
    }

    /// Whether a part of a reply has been waiting to be sent for longer than `limit`. A client of HTTP/2 can keep single
    /// replies from being sent while its connection is alive.
    pub(super) fn is_held_up(&self, limit: Duration) -> bool {
        let state = self.state.lock();
        let mut handed = state.handed.iter();
        handed.any(|(_, since)| since.elapsed() > limit)
    }

    /// Brings the connection's place up to date.
    fn note(&self, state: &mut State) {
        if state.reserve.is_some() {
            return;
        }
        let awaited = state.awaited();
        if state.place.map(|(awaited, _)| awaited) == awaited {
            return;
        }
        let mut connections = self.limit.connections.lock();
        if let Some(place) = state.place.take() {
            connections.remove(place);
        }
        if let Some(awaited) = awaited {
            connections.wait(self, state, awaited);
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let state = self.state.get_mut();
        let mut connections = self.limit.connections.lock();
        if let Some(number) = state.reserve {
            connections.reserve.remove(&number);
            return;
        }
        if let Some(place) = state.place {
            connections.remove(place);
        }
        connections.open = connections.open.saturating_sub(1);
        if let Some(address) = self.address
            && let Some(own) = connections.addresses.get_mut(&address)
        {
            own.open = own.open.saturating_sub(1);
            if own.open == 0 {
                connections.addresses.remove(&address);
            }
        }
        drop(connections);
        self.limit.freed.notify_waiters();
    }
}

/// A request in progress.
pub(super) struct ActiveRequest {
    slot: Arc<ConnectionSlot>,
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        let mut state = self.slot.state.lock();
        state.requests = state.requests.saturating_sub(1);
        self.slot.note(&mut state);
    }
}

impl ActiveRequest {
    /// The request's body, which tells while the connection waits for it. Most bodies arrive with their request, and are never waited for.
    pub(super) fn receive<B>(&self, body: B) -> RequestBody<B> {
        RequestBody {
            body,
            slot: self.slot.clone(),
            is_awaited: false,
        }
    }

    /// Keeps the request in progress until the reply's `body` has ended.
    pub(super) fn until_end_of(self, body: Body) -> Body {
        let mut state = self.slot.state.lock();
        state.next_reply += 1;
        let number = state.next_reply;
        state.note_handed(number, true);
        drop(state);
        Body::new(ReplyBody {
            body,
            number,
            request: self,
        })
    }
}

/// The body of a request on its way.
pub(super) struct RequestBody<B> {
    body: B,
    slot: Arc<ConnectionSlot>,
    /// Whether the connection waits for more of it.
    is_awaited: bool,
}

impl<B> RequestBody<B> {
    fn set_awaited(&mut self, is_awaited: bool) {
        if self.is_awaited == is_awaited {
            return;
        }
        self.is_awaited = is_awaited;
        let mut state = self.slot.state.lock();
        state.receiving = if is_awaited {
            state.receiving + 1
        } else {
            state.receiving.saturating_sub(1)
        };
        self.slot.note(&mut state);
    }
}

impl<B> Drop for RequestBody<B> {
    fn drop(&mut self) {
        self.set_awaited(false);
    }
}

impl<B: http_body::Body + Unpin> http_body::Body for RequestBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        match polled {
            Poll::Pending => self.set_awaited(true),
            // A body that arrives byte by byte is waited for since its first byte.
            Poll::Ready(Some(Ok(_))) => (),
            Poll::Ready(None | Some(Err(_))) => self.set_awaited(false),
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of a reply on its way.
struct ReplyBody {
    body: Body,
    number: u64,
    request: ActiveRequest,
}

impl ReplyBody {
    /// Notes that the reply waits to be sent, or for what it is made of.
    fn note(&self, handed: bool) {
        let mut state = self.request.slot.state.lock();
        state.note_handed(self.number, handed);
    }
}

impl Drop for ReplyBody {
    fn drop(&mut self) {
        self.note(false);
    }
}

impl http_body::Body for ReplyBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        self.note(matches!(polled, Poll::Ready(Some(Ok(_)))));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::FutureExt;
    use http_body_util::BodyExt;

    use super::*;

    fn address(number: u8) -> Option<IpAddr> {
        Some(IpAddr::from([192, 0, 2, number]))
    }

    fn open(limit: &Arc<ConnectionLimit>, number: u8) -> Arc<ConnectionSlot> {
        Arc::new(limit.open(address(number)))
    }

    /// A body of which nothing arrives.
    fn unfinished() -> Body {
        Body::from_stream(futures::stream::pending::<Result<Bytes, Infallible>>())
    }

    fn is_closed(slot: &ConnectionSlot) -> bool {
        slot.closing.is_cancelled()
    }

    #[tokio::test]
    async fn idle_connections_make_room_before_those_that_send_or_read() {
        let limit = ConnectionLimit::new(3, 3);
        let (reading, sending, idle) = (open(&limit, 1), open(&limit, 2), open(&limit, 3));
        let reply = reading.begin_request();
        reading.set_stalled(true);
        let request = sending.begin_request();
        let mut body = request.receive(unfinished());
        assert!(body.frame().now_or_never().is_none());
        tokio::time::sleep(2 * READING_GRACE).await;
        let next = open(&limit, 4);
        assert!(is_closed(&idle) && !is_closed(&sending) && !is_closed(&reading));
        drop(idle);
        assert!(next.has_slot().await);
        let busy = next.begin_request();
        let another = open(&limit, 5);
        assert!(is_closed(&sending) && !is_closed(&reading));
        drop((body, request, sending));
        assert!(another.has_slot().await);
        let busy_too = another.begin_request();
        let last = open(&limit, 6);
        assert!(is_closed(&reading));
        // A connection with a request in progress is never closed to make room.
        let patient = last.has_slot().await;
        assert!(!patient && !is_closed(&next) && !is_closed(&another));
        drop((reply, busy, busy_too));
    }

    #[tokio::test]
    async fn a_body_is_waited_for_from_when_it_is_asked_for_to_its_end() {
        let slot = open(&ConnectionLimit::new(1, 1), 1);
        let awaited = || slot.state.lock().awaited();
        assert_eq!(awaited(), Some(Awaited::Request));
        let request = slot.begin_request();
        let mut body = request.receive(unfinished());
        assert_eq!(awaited(), None);
        assert!(body.frame().now_or_never().is_none());
        assert_eq!(awaited(), Some(Awaited::Body));
        drop(body);
        assert_eq!(awaited(), None);
        let mut whole = request.receive(Body::from("text"));
        assert!(whole.frame().now_or_never().is_some() && awaited().is_none());
        drop((whole, request));
        assert_eq!(awaited(), Some(Awaited::Request));
    }

    #[tokio::test]
    async fn an_address_closes_its_own_connections_only() {
        let limit = ConnectionLimit::new(10, 2);
        let (other, first, second) = (open(&limit, 9), open(&limit, 1), open(&limit, 1));
        tokio::time::sleep(2 * GRACE).await;
        let third = open(&limit, 1);
        assert!(is_closed(&first) && !is_closed(&second) && !is_closed(&other));
        drop(first);
        assert!(third.has_slot().await);
        // A proxy has many clients.
        let proxied: Vec<_> = (0..6).map(|_| limit.open(None)).collect();
        for slot in &proxied {
            assert!(slot.has_slot().await);
        }
    }

    #[tokio::test]
    async fn the_reserve_keeps_the_newest() {
        let limit = ConnectionLimit::new(1, 100);
        let held = open(&limit, 1);
        let busy = held.begin_request();
        let beyond: Vec<_> = (0..RESERVE + 3).map(|_| open(&limit, 2)).collect();
        let closed = beyond.iter().filter(|slot| is_closed(slot)).count();
        assert_eq!(closed, 3);
        assert!(beyond.iter().take(3).all(|slot| is_closed(slot)));
        drop(busy);
        drop(held);
        assert!(beyond.last().unwrap().has_slot().await);
    }

    #[tokio::test]
    async fn a_reply_that_nobody_takes_is_noticed() {
        let slot = open(&ConnectionLimit::new(1, 1), 1);
        let mut body = slot.begin_request().until_end_of(Body::from("text"));
        let limit = Duration::from_millis(20);
        tokio::time::sleep(2 * limit).await;
        assert!(slot.is_held_up(limit));
        assert!(body.frame().await.is_some());
        assert!(!slot.is_held_up(limit));
        drop(body);
        tokio::time::sleep(2 * limit).await;
        assert!(!slot.is_held_up(limit));
    }
}
