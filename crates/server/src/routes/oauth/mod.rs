//! The embedded issuer's addresses (`{auth_url}`).

mod authorize;
pub(super) mod cookies;
mod device;
mod discovery;
mod pages;
mod table;
mod token;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hindsight_identity::issuer::{Form, Issuer, OAuthError};
use hindsight_identity::secret;
use serde_json::Value;

use super::body::{self, Unread};
use crate::app::App;
use crate::origin::Head;
use crate::wire;

/// Seconds after which a request that found no room may be sent again.
const RETRY_SECONDS: u64 = 5;
/// Bytes of a request's body.
const LARGEST_BODY: usize = 64 << 10;

pub(super) use table::ROUTES;

/// The issuer at the address by which a request reaches it.
fn issuer_at(app: &App, head: &Head) -> Issuer {
    let located = app.issuer.base();
    let issuer = app.issuer.at(&head.issuer_base(&app.settings, &located));
    issuer.with_origin(&head.origin(&app.settings))
}

/// The parameters of a form.
async fn form(app: &App, head: &Head, body: Body) -> Result<Form, OAuthError> {
    let media = head
        .headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim();
    if !media.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(OAuthError::invalid_request(
            "The body must be of type application/x-www-form-urlencoded.",
        ));
    }
    Ok(Form::parse(&read(app, head, body).await?))
}

/// A body, bounded in bytes and in time.
async fn read(app: &App, head: &Head, body: Body) -> Result<Bytes, OAuthError> {
    let timeout = app.settings.body_timeout;
    let address = head.connection.address();
    body::read(app, address, &head.headers, body, LARGEST_BODY)
        .await
        .map(|whole| whole.bytes)
        .map_err(|unread| {
            let (status, message) = match unread {
                Unread::TooLarge => (
                    413,
                    format!("The body is larger than {LARGEST_BODY} bytes."),
                ),
                Unread::Slow => (408, body::slow(timeout)),
                Unread::Broken => (400, "The body could not be read to its end.".to_owned()),
                Unread::Closed => (503, body::CLOSED.to_owned()),
                Unread::TooMuchMemory => (413, body::TOO_MUCH_MEMORY.to_owned()),
            };
            OAuthError {
                status,
                retry_after: (status == 503).then_some(RETRY_SECONDS),
                ..OAuthError::invalid_request(message)
            }
        })
}

/// A reply that no cache keeps (RFC 6749 §5.1).
fn unstored(status: StatusCode, body: &Value) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::PRAGMA, "no-cache"),
    ];
    (status, headers, body.to_string()).into_response()
}

/// An error as JSON, with the client's id of the request where it sent one.
fn refused(app: &App, headers: &HeaderMap, error: &OAuthError) -> Response {
    let trace = secret::new_id().to_string();
    let correlation = client_request_id(headers).unwrap_or_else(|| trace.clone());
    let mut now = String::new();
    // Writing into a text cannot fail.
    let _ =
        hindsight_kql_types::datetime::write_trimmed(app.now() / 10_000_000 * 10_000_000, &mut now);
    let now = now.replace('T', " ");
    let body = wire::oauth::error(error, &trace, &correlation, &now);
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::BAD_REQUEST);
    let mut response = unstored(status, &body);
    if status == StatusCode::UNAUTHORIZED {
        let offer = HeaderValue::from_static("Basic realm=\"hindsight\", charset=\"UTF-8\"");
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, offer);
    }
    say_when(&mut response, error);
    response
}

/// Says when another try makes sense.
fn say_when(response: &mut Response, error: &OAuthError) {
    if let Some(seconds) = error.retry_after {
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
}

/// The id that a client gave its request, if it is a UUID.
fn client_request_id(headers: &HeaderMap) -> Option<String> {
    let value = headers.get("client-request-id")?.to_str().ok()?;
    uuid::Uuid::parse_str(value).ok().map(|id| id.to_string())
}

/// Sends a client's id of its request back where it asks for that.
fn echo(headers: &HeaderMap, mut response: Response) -> Response {
    const ID: HeaderName = HeaderName::from_static("client-request-id");
    let wants = headers
        .get("return-client-request-id")
        .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"true"));
    let id = client_request_id(headers).filter(|_| wants);
    if let Some(value) = id.and_then(|id| HeaderValue::from_str(&id).ok()) {
        response.headers_mut().insert(ID, value);
    }
    response
}
