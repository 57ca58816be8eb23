//! How many connections there are at once. Who only holds a connection does not keep others out: when there are too many,
//! those that have been idle longest are closed.

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

/// How long a connection must be idle before it is closed for another's sake: what was answered last is on its way by then.
const GRACE: Duration = Duration::from_millis(100);

/// The places of a listener.
pub(super) struct Places {
    free: Arc<Semaphore>,
    idle: Mutex<Idle>,
}

/// Connections without a request, in the order in which they became so.
#[derive(Default)]
struct Idle {
    next: u64,
    waiting: BTreeMap<u64, (Instant, CancellationToken)>,
}

/// A connection's place.
pub(super) struct Place {
    places: Arc<Places>,
    closing: CancellationToken,
    state: Mutex<State>,
    _permit: OwnedSemaphorePermit,
}

/// How many requests run, and under which number the connection is idle.
#[derive(Default)]
struct State {
    requests: usize,
    idle: Option<u64>,
}

impl Places {
    pub(super) fn new(count: usize) -> Arc<Places> {
        Arc::new(Places {
            free: Arc::new(Semaphore::new(count)),
            idle: Mutex::default(),
        })
    }

    /// Waits for a place, making room where there is none.
    pub(super) async fn take(self: &Arc<Places>) -> Place {
        loop {
            let patience = match self.free.available_permits() {
                0 => self.make_room(),
                _ => GRACE,
            };
            let permit = self.free.clone().acquire_owned();
            // The semaphore is never closed; whoever waits too long looks again for somebody idle.
            if let Ok(Ok(permit)) = tokio::time::timeout(patience, permit).await {
                let place = Place {
                    places: self.clone(),
                    closing: CancellationToken::new(),
                    state: Mutex::default(),
                    _permit: permit,
                };
                place.rest(&mut place.state.lock());
                return place;
            }
        }
    }

    /// Closes the connection that has been idle longest; answers when to look again.
    pub(super) fn make_room(&self) -> Duration {
        let mut idle = self.idle.lock();
        let Some(oldest) = idle.waiting.first_entry() else {
            return GRACE;
        };
        let rested = oldest.get().0.elapsed();
        if rested < GRACE {
            return GRACE.saturating_sub(rested);
        }
        let (_, closing) = oldest.remove();
        closing.cancel();
        metrics::counter!("hindsight_idle_connections_closed_total").increment(1);
        GRACE
    }
}

impl Place {
    /// Completes when the connection must go, which happens only to those that are idle.
    pub(super) async fn closed(&self) {
        self.closing.cancelled().await;
    }

    /// Notes that a request begins; it lasts until the end of its reply.
    pub(super) fn work(self: &Arc<Place>) -> Work {
        let mut state = self.state.lock();
        state.requests += 1;
        if let Some(number) = state.idle.take() {
            self.places.idle.lock().waiting.remove(&number);
        }
        Work(self.clone())
    }

    fn rest(&self, state: &mut State) {
        let mut idle = self.places.idle.lock();
        let number = idle.next;
        idle.next += 1;
        let entry = (Instant::now(), self.closing.clone());
        idle.waiting.insert(number, entry);
        state.idle = Some(number);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(number) = self.state.get_mut().idle {
            self.places.idle.lock().waiting.remove(&number);
        }
    }
}

/// A request that runs.
pub(super) struct Work(Arc<Place>);

impl Drop for Work {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.requests = state.requests.saturating_sub(1);
        if state.requests == 0 {
            self.0.rest(&mut state);
        }
    }
}

impl Work {
    /// A reply's body, whose end is the end of this.
    pub(super) fn until_end_of(self, body: Body) -> Body {
        Body::new(Reply { body, _work: self })
    }
}

struct Reply {
    body: Body,
    _work: Work,
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
