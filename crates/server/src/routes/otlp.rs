//! OpenTelemetry in: `POST /v1/traces`, `/v1/logs` and `/v1/metrics`, and the same by gRPC.
//!
//! The bytes of a gRPC message are read here and not by tonic's server, so that they count in the memory of request bodies, are
//! decompressed within a share of it, and are refused beyond it with the code that clients do not repeat.

use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use hindsight_ingest::body::Codec;
use hindsight_otlp::{Browser, Encoding, Signal};

use super::body::{self, Unread};
use crate::app::App;
use crate::auth::gate::Admitted;
use crate::intake::PackedBody;
use crate::intake::otlp::{self, Export, Exported};
use crate::middleware::outer::RequestId;
use crate::origin::Head;
use crate::params::Params;
use crate::wire::otlp::{Form, refused, stored};

/// The headers that name an instrumentation key.
const KEY_HEADERS: [&str; 3] = ["x-instrumentation-key", "ikey", "x-ms-instrumentationkey"];
/// The parameter that names one.
const KEY_PARAMETER: &str = "ikey";
/// Bytes before a message of gRPC: whether it is compressed, and its length.
const FRAME: usize = 5;

/// Takes spans.
pub(crate) async fn traces(
    state: State<Arc<App>>,
    admitted: Option<Extension<Admitted>>,
    id: Extension<RequestId>,
    head: Head,
    body: Body,
) -> Response {
    export(Signal::Traces, &state.0, admitted, &id.0, &head, body).await
}

/// Takes log records.
pub(crate) async fn logs(
    state: State<Arc<App>>,
    admitted: Option<Extension<Admitted>>,
    id: Extension<RequestId>,
    head: Head,
    body: Body,
) -> Response {
    export(Signal::Logs, &state.0, admitted, &id.0, &head, body).await
}

/// Takes metrics.
pub(crate) async fn metrics(
    state: State<Arc<App>>,
    admitted: Option<Extension<Admitted>>,
    id: Extension<RequestId>,
    head: Head,
    body: Body,
) -> Response {
    export(Signal::Metrics, &state.0, admitted, &id.0, &head, body).await
}

/// Why a request is refused before its payload is looked at: the status of HTTP, and a sentence.
type Refused = (u16, String);

async fn export(
    signal: Signal,
    app: &Arc<App>,
    admitted: Option<Extension<Admitted>>,
    id: &RequestId,
    head: &Head,
    body: Body,
) -> Response {
    let Some(form) = Form::of(&head.headers) else {
        body::discard(body);
        return refused(
            Form::Json,
            415,
            "The content type must be application/x-protobuf, application/json or application/grpc",
        );
    };
    match take(signal, form, app, admitted, head, body).await {
        Ok(exported) => {
            note(&exported, id);
            stored(form, signal, exported.rejected, exported.message)
        }
        Err((status, message)) => {
            tracing::warn!(request_id = %id.0, status, reason = ?message, "OpenTelemetry data were refused");
            refused(form, status, &message)
        }
    }
}

/// Counts the items, and logs why some were rejected: many SDKs do not log it.
fn note(exported: &Exported, id: &RequestId) {
    ::metrics::counter!("hindsight_ingest_items_total", "outcome" => "accepted")
        .increment(exported.accepted as u64);
    ::metrics::counter!("hindsight_ingest_items_total", "outcome" => "refused")
        .increment(exported.rejected as u64);
    if let Some(message) = &exported.message {
        tracing::warn!(
            request_id = %id.0,
            accepted = exported.accepted,
            rejected = exported.rejected,
            reason = ?message,
            "OpenTelemetry data were refused in part"
        );
    }
}

async fn take(
    signal: Signal,
    form: Form,
    app: &Arc<App>,
    admitted: Option<Extension<Admitted>>,
    head: &Head,
    body: Body,
) -> Result<Exported, Refused> {
    let key = key(head)?;
    let principal = admitted.map(|Extension(admitted)| admitted.principal);
    let body = packed(form, app, head, body).await?;
    let export = Export {
        signal,
        encoding: match form {
            Form::Json => Encoding::Json,
            Form::Protobuf | Form::Grpc => Encoding::Protobuf,
        },
        key,
        principal,
        browser: browser(head),
    };
    let taken = otlp::take(app, body, export).await;
    taken.map_err(|refusal| (refusal.status, refusal.message))
}

/// The instrumentation key of the headers or of the URL.
fn key(head: &Head) -> Result<Option<String>, Refused> {
    for name in KEY_HEADERS {
        let mut values = head.headers.get_all(name).iter();
        let Some(value) = values.next() else { continue };
        let text = value.to_str().map(str::trim).unwrap_or_default();
        if values.next().is_some() {
            return Err((400, format!("'{name}' was sent more than once")));
        }
        if !text.is_empty() {
            return Ok(Some(text.to_owned()));
        }
    }
    let named = Params::parse(head.uri.query()).one(KEY_PARAMETER);
    let named = named.map_err(|error| (400, error.to_string()))?;
    Ok(named.filter(|key| !key.is_empty()))
}

/// Browsers name the page that sends, and are clients themselves.
fn browser(head: &Head) -> Option<Browser> {
    head.headers.get(header::ORIGIN)?;
    let agent = head.headers.get(header::USER_AGENT);
    Some(Browser {
        address: head.connection.address_text(),
        user_agent: agent
            .and_then(|agent| agent.to_str().ok())
            .unwrap_or_default()
            .to_owned(),
    })
}

/// The body of a request, or the message of a gRPC request, with its encoding.
async fn packed(form: Form, app: &App, head: &Head, body: Body) -> Result<PackedBody, Refused> {
    let codec = if form == Form::Grpc {
        Codec::Identity
    } else {
        body::codec(&head.headers).map_err(|error| (415, error.to_string()))?
    };
    let limit = app.settings.ingest_max_body_bytes;
    let address = head.connection.address();
    let read = body::read(app, address, &head.headers, body, limit).await;
    let whole = read.map_err(|unread| match unread {
        Unread::TooLarge => (
            413,
            format!("The body is larger than {limit} bytes (setting `ingest.max_body_bytes`)"),
        ),
        // The sender may try again: its network was slow, not its telemetry wrong.
        Unread::Slow => (503, body::slow(app.settings.body_timeout)),
        Unread::Broken => (400, "The body could not be read to its end".to_owned()),
        Unread::Closed => (503, body::CLOSED.to_owned()),
        Unread::TooMuchMemory => (413, body::TOO_MUCH_MEMORY.to_owned()),
    })?;
    let (codec, bytes) = if form == Form::Grpc {
        message(&head.headers, &whole.bytes)?
    } else {
        (codec, whole.bytes)
    };
    Ok(PackedBody {
        codec,
        bytes,
        arriving: Some(whole.memory),
    })
}

/// The one message of a gRPC request, and how it is compressed.
fn message(headers: &HeaderMap, body: &Bytes) -> Result<(Codec, Bytes), Refused> {
    let malformed = || (400, "The body is not one message of gRPC".to_owned());
    let (compressed, length) = match body.get(..FRAME) {
        Some(&[compressed @ (0 | 1), a, b, c, d]) => {
            (compressed == 1, u32::from_be_bytes([a, b, c, d]))
        }
        _ => return Err(malformed()),
    };
    let length = usize::try_from(length).map_err(|_| malformed())?;
    if body.len() - FRAME != length {
        return Err(malformed());
    }
    let message = body.slice(FRAME..);
    if !compressed {
        return Ok((Codec::Identity, message));
    }
    let encoding = headers.get("grpc-encoding");
    let encoding = encoding.map_or("?", |value| value.to_str().unwrap_or("?"));
    match Codec::parse(encoding) {
        Ok(codec @ (Codec::Gzip | Codec::Deflate | Codec::Zstd | Codec::Snappy)) => {
            Ok((codec, message))
        }
        _ => Err((
            415,
            format!("The encoding '{encoding}' of messages is not supported"),
        )),
    }
}
