//! `POST /v1/apps/{appId}/import`: items with their columns, of any age that is kept.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::access::Version;
use super::body::{self, Unread};
use crate::app::App;
use crate::auth::gate::Admitted;
use crate::connection::Connection;
use crate::error::ApiError;
use crate::intake::{self, ImportOutcome, PackedBody};

/// Refused items that the reply names. Further ones are only counted.
const NAMED: usize = 100;

/// Stores the lines of the body; 200 means that all that were not refused are on disk, each once.
pub(crate) async fn import(
    State(app): State<Arc<App>>,
    _version: Version,
    connection: Option<Extension<Connection>>,
    admitted: Option<Extension<Admitted>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let record = admitted.and_then(|Extension(admitted)| admitted.app);
    let record = record.ok_or(ApiError::Unauthenticated)?;
    let codec =
        body::codec(&headers).map_err(|error| ApiError::UnsupportedMedia(error.to_string()))?;
    let limit = app.settings.ingest_max_body_bytes;
    let address = connection.unwrap_or_default().0.address();
    let read = body::read(&app, address, &headers, body, limit).await;
    let read = read.map_err(|unread| match unread {
        Unread::TooLarge => ApiError::TooLarge(format!(
            "The body is larger than {limit} bytes (setting `ingest.max_body_bytes`)"
        )),
        Unread::Slow => ApiError::Slow(body::slow(app.settings.body_timeout)),
        Unread::Broken => ApiError::InvalidBody("The body could not be read to its end".to_owned()),
        Unread::Closed => ApiError::Unavailable(body::CLOSED.to_owned()),
        Unread::TooMuchMemory => ApiError::TooLarge(body::TOO_MUCH_MEMORY.to_owned()),
    })?;
    let packed = PackedBody {
        codec,
        bytes: read.bytes,
        arriving: Some(read.memory),
    };
    match intake::import(&app, packed, record).await {
        Ok(outcome) => Ok(axum::Json(shape(&outcome)).into_response()),
        Err(error) => Err(match error.status {
            413 => ApiError::TooLarge(error.message),
            503 => ApiError::Unavailable(error.message),
            500 => ApiError::Internal(error.message),
            _ => ApiError::InvalidBody(error.message),
        }),
    }
}

fn shape(outcome: &ImportOutcome) -> Value {
    let named = outcome.errors.iter().take(NAMED);
    let named = named.map(|(line, message)| json!({ "line": line, "message": message }));
    json!({
        "received": outcome.received,
        "stored": outcome.stored,
        "duplicates": outcome.duplicates,
        "refused": outcome.errors.len(),
        "errors": named.collect::<Value>(),
    })
}
