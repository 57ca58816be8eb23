//! Telemetry in: `POST /v2/track` and `/v2.1/track`.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use hindsight_ingest::Sender;
use hindsight_ingest::body::BodyError;

use super::body::{self, Unread};
use crate::app::App;
use crate::auth::gate::Admitted;
use crate::connection::Connection;
use crate::intake::Verdict;
use crate::intake::{self, Full, PackedBody};
use crate::middleware::outer::RequestId;
use crate::wire::track::reply;

/// Where telemetry is sent; the other spellings of the paths pass through the router alone.
pub(crate) const PATHS: [&str; 2] = ["/v2/track", "/v2.1/track"];

/// Takes a batch of envelopes; 200 means that all of them are on disk.
pub(crate) async fn track(
    State(app): State<Arc<App>>,
    connection: Option<Extension<Connection>>,
    admitted: Option<Extension<Admitted>>,
    id: Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let codec = match body::codec(&headers) {
        Ok(codec) => codec,
        Err(error) => return refused(&error),
    };
    let limit = app.settings.ingest_max_body_bytes;
    let declared = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|length| length > limit) {
        body::discard(body);
        return reply(too_large(limit));
    }
    let connection = connection.unwrap_or_default().0;
    let principal = admitted.map(|Extension(admitted)| admitted.principal);
    let full = Full::now(&app, codec, principal.as_ref()).await;
    let is_wanted = |beginning: &[u8]| !full.refuses(beginning);
    let address = connection.address();
    let read = body::read_wanted(&app, address, &headers, body, limit, is_wanted).await;
    let body = match read {
        Ok(Some(body)) => body,
        Ok(None) => {
            let verdict = Full::verdict();
            note_refusal(&verdict, &id.0);
            return reply(verdict);
        }
        Err(unread) => return reply(unreadable(unread, limit, app.settings.body_timeout)),
    };
    let sender = Sender {
        address: connection.address_text(),
        user_agent: headers
            .get(header::USER_AGENT)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
            .to_owned(),
    };
    let body = PackedBody {
        codec,
        bytes: body.bytes,
        arriving: Some(body.memory),
    };
    // In a box: the state of a request that is refused before is small, and is copied from one place to another.
    match Box::pin(intake::take(&app, body, sender, principal)).await {
        Ok(verdict) => {
            note_refusal(&verdict, &id.0);
            reply(verdict)
        }
        Err(error) => refused(&error),
    }
}

/// Tells the log why items were refused: many SDKs do not tell it.
fn note_refusal(verdict: &Verdict, id: &RequestId) {
    if let Some(first) = verdict.errors.first() {
        tracing::warn!(
            request_id = %id.0,
            accepted = verdict.items_accepted,
            received = verdict.items_received,
            status = first.status,
            reason = ?first.message,
            "telemetry was refused"
        );
    }
}

fn too_large(limit: usize) -> Verdict {
    Verdict::refused(
        0,
        413,
        format!("The body is larger than {limit} bytes (setting `ingest.max_body_bytes`)"),
    )
}

fn unreadable(unread: Unread, limit: usize, timeout: Duration) -> Verdict {
    match unread {
        Unread::TooLarge => too_large(limit),
        Unread::Slow => Verdict::refused(0, 408, body::slow(timeout)),
        Unread::Broken => Verdict::refused(0, 400, "The body could not be read to its end"),
        Unread::Closed => Verdict::refused(0, 503, body::CLOSED),
        Unread::TooMuchMemory => Verdict::refused(0, 413, body::TOO_MUCH_MEMORY),
    }
}

fn refused(error: &BodyError) -> Response {
    let status = match error {
        BodyError::TooLarge { .. } => 413,
        BodyError::Unsupported(_) => 415,
        BodyError::Corrupt(_) => 400,
        // It is asked for more room before.
        BodyError::NeedsRoom { .. } => 503,
    };
    reply(Verdict::refused(0, status, error.to_string()))
}
