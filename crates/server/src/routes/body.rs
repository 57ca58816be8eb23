//! A request's body: bounded in bytes and in time.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};

use crate::app::App;
use crate::error::ApiError;
use crate::ingest::body::{BodyError, Codec, decode};

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread {
    /// More bytes than the limit.
    TooLarge,
    /// It did not arrive in time.
    Slow,
    /// The connection ended in it.
    Broken,
}

/// Reads a body of at most `limit` bytes that arrives within `timeout`.
pub(super) async fn read(body: Body, limit: usize, timeout: Duration) -> Result<Bytes, Unread> {
    use std::error::Error;
    match tokio::time::timeout(timeout, axum::body::to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => Err(
            if error
                .source()
                .is_some_and(|source| source.is::<http_body_util::LengthLimitError>())
            {
                Unread::TooLarge
            } else {
                Unread::Broken
            },
        ),
        Err(_) => Err(Unread::Slow),
    }
}

/// The message for a slow sender.
pub(super) fn slow(timeout: Duration) -> String {
    format!(
        "The body did not arrive within {} seconds (setting `http.body_timeout`)",
        timeout.as_secs_f64()
    )
}

/// The `Content-Encoding` of a request. Several are refused, as stacked ones are.
pub(super) fn codec(headers: &HeaderMap) -> Result<Codec, BodyError> {
    let mut values = headers.get_all(header::CONTENT_ENCODING).iter();
    let first = values
        .next()
        .map(|value| value.to_str().unwrap_or("?"))
        .unwrap_or_default();
    if values.next().is_some() {
        return Err(BodyError::Unsupported("several".to_owned()));
    }
    Codec::parse(first)
}

/// Refuses a body that says to be something else than JSON. Nothing said, plain text and forms pass: that is what `curl -d` and
/// simple programs say when nobody chose.
fn media(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else {
        return Ok(());
    };
    let text = value.to_str().unwrap_or_default().to_ascii_lowercase();
    let name = text.split(';').next().unwrap_or_default().trim();
    let passes = matches!(
        name,
        "" | "application/json" | "text/json" | "text/plain" | "application/x-www-form-urlencoded"
    ) || name.ends_with("+json");
    if passes {
        return Ok(());
    }
    Err(ApiError::UnsupportedMedia(format!(
        "The body is said to be '{name}', but only application/json is read here"
    )))
}

/// The body of a query, decoded.
pub(super) async fn query(app: &App, headers: &HeaderMap, body: Body) -> Result<Vec<u8>, ApiError> {
    let limit = app.settings.query_max_body_bytes;
    let timeout = app.settings.body_timeout;
    let too_large = || {
        ApiError::TooLarge(format!(
            "The body is larger than {limit} bytes (`query.max_body_bytes`)"
        ))
    };
    media(headers)?;
    let codec = codec(headers).map_err(|error| ApiError::UnsupportedMedia(error.to_string()))?;
    let packed = read(body, limit, timeout)
        .await
        .map_err(|unread| match unread {
            Unread::TooLarge => too_large(),
            Unread::Slow => ApiError::Slow(slow(timeout)),
            Unread::Broken => {
                ApiError::InvalidBody("The body could not be read to its end".to_owned())
            }
        })?;
    match decode(codec, &packed, limit) {
        Ok(plain) => Ok(plain.into_owned()),
        Err(BodyError::TooLarge { .. }) => Err(too_large()),
        Err(error) => Err(ApiError::InvalidBody(error.to_string())),
    }
}
