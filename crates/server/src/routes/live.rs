//! `GET /{version}/apps/{id}/live/metrics`: live metrics as server-sent events. While such a request is open, the instances of
//! the application send samples.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::stream::unfold;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::access::Access;
use crate::app::App;
use crate::auth::guard::{Standing, admit};
use crate::error::ApiError;
use crate::live::Watch;
use crate::origin::Head;
use crate::wire::live::{BEGIN, KEEP_ALIVE, event};

/// How often the right of the watcher is checked again: one that was revoked ends the stream.
const CHECKED_EVERY: Duration = Duration::from_secs(1);
/// Checks between two comments of a stream without samples.
const QUIET_CHECKS: u32 = 15;

/// The samples of the last minute, then each as it comes.
pub(crate) async fn metrics(
    State(app): State<Arc<App>>,
    access: Access,
    head: Head,
) -> Result<Response, ApiError> {
    let mut checks = interval(CHECKED_EVERY);
    checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let stream = Stream {
        watch: app.live.watch(access.app.id),
        standing: Standing::of(&head, &access.app_text),
        app,
        checks,
        quiet: 0,
        begun: false,
    };
    let events = unfold(stream, |mut stream| async move {
        let text = stream.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(text)), stream))
    });
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/event-stream"),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, Body::from_stream(events)).into_response())
}

/// A stream of events on its way to a watcher.
struct Stream {
    app: Arc<App>,
    watch: Watch,
    standing: Standing,
    checks: Interval,
    /// Checks since the last event.
    quiet: u32,
    begun: bool,
}

impl Stream {
    /// The next lines; `None` at the end.
    async fn next(&mut self) -> Option<String> {
        if !std::mem::replace(&mut self.begun, true) {
            return Some(BEGIN.to_owned());
        }
        loop {
            tokio::select! {
                biased;
                _ = self.checks.tick() => {
                    if admit(&self.app, &self.standing).await.is_err() {
                        return None;
                    }
                    self.quiet += 1;
                    if self.quiet >= QUIET_CHECKS {
                        self.quiet = 0;
                        return Some(KEEP_ALIVE.to_owned());
                    }
                }
                shown = self.watch.next() => {
                    self.quiet = 0;
                    return shown.map(|shown| event(&shown));
                }
            }
        }
    }
}
