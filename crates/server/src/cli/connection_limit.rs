//! The connection limit of a listener. When it is reached, the connection that has been idle longest is closed, so that clients
//! without requests do not keep others out.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body::{Frame, SizeHint};
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How long a connection must be idle before it is closed for another one: its last reply is sent by then.
const GRACE: Duration = Duration::from_millis(100);

/// The connection slots of a listener.
pub(super) struct ConnectionLimit {
    free: Arc<Semaphore>,
    idle: Mutex<Idle>,
}

/// Connections without a request, in the order in which they became so.
#[derive(Default)]
struct Idle {
    next: u64,
    waiting: BTreeMap<u64, (Instant, CancellationToken)>,
}

/// A connection's slot; dropping it frees the slot.
pub(super) struct ConnectionSlot {
    limit: Arc<ConnectionLimit>,
    closing: CancellationToken,
    state: Mutex<State>,
    _permit: OwnedSemaphorePermit,
}

/// How many requests run, and the connection's number among the idle ones.
#[derive(Default)]
struct State {
    requests: usize,
    idle: Option<u64>,
}

impl ConnectionLimit {
    pub(super) fn new(count: usize) -> Arc<ConnectionLimit> {
        Arc::new(ConnectionLimit {
            free: Arc::new(Semaphore::new(count)),
            idle: Mutex::default(),
        })
    }

    /// Waits for a free slot; closes idle connections while there is none.
    pub(super) async fn acquire(self: &Arc<ConnectionLimit>) -> ConnectionSlot {
        loop {
            let wait = match self.free.available_permits() {
                0 => self.close_idle(),
                _ => GRACE,
            };
            let permit = self.free.clone().acquire_owned();
            // The semaphore is never closed. After a while without a free slot, look for idle connections again.
            if let Ok(Ok(permit)) = tokio::time::timeout(wait, permit).await {
                let slot = ConnectionSlot {
                    limit: self.clone(),
                    closing: CancellationToken::new(),
                    state: Mutex::default(),
                    _permit: permit,
                };
                slot.become_idle(&mut slot.state.lock());
                return slot;
            }
        }
    }

    /// Closes the connection that has been idle longest; returns how long to wait before the next attempt.
    pub(super) fn close_idle(&self) -> Duration {
        let mut idle = self.idle.lock();
        let Some(oldest) = idle.waiting.first_entry() else {
            return GRACE;
        };
        let idle_for = oldest.get().0.elapsed();
        if idle_for < GRACE {
            return GRACE.saturating_sub(idle_for);
        }
        let (_, closing) = oldest.remove();
        closing.cancel();
        metrics::counter!("hindsight_idle_connections_closed_total").increment(1);
        GRACE
    }
}

impl ConnectionSlot {
    /// Completes when the connection must close, which happens to idle ones only.
    pub(super) async fn closed(&self) {
        self.closing.cancelled().await;
    }

    /// Marks the connection as busy until the returned value is dropped at the end of the reply.
    pub(super) fn begin_request(self: &Arc<ConnectionSlot>) -> ActiveRequest {
        let mut state = self.state.lock();
        state.requests += 1;
        if let Some(number) = state.idle.take() {
            self.limit.idle.lock().waiting.remove(&number);
        }
        ActiveRequest(self.clone())
    }

    fn become_idle(&self, state: &mut State) {
        let mut idle = self.limit.idle.lock();
        let number = idle.next;
        idle.next += 1;
        let entry = (Instant::now(), self.closing.clone());
        idle.waiting.insert(number, entry);
        state.idle = Some(number);
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        if let Some(number) = self.state.get_mut().idle {
            self.limit.idle.lock().waiting.remove(&number);
        }
    }
}

/// A request in progress.
pub(super) struct ActiveRequest(Arc<ConnectionSlot>);

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.requests = state.requests.saturating_sub(1);
        if state.requests == 0 {
            self.0.become_idle(&mut state);
        }
    }
}

impl ActiveRequest {
    /// Keeps the request in progress until `body` has ended.
    pub(super) fn until_end_of(self, body: Body) -> Body {
        Body::new(Reply {
            body,
            _request: self,
        })
    }
}

struct Reply {
    body: Body,
    _request: ActiveRequest,
}

impl http_body::Body for Reply {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
