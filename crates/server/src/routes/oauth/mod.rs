//! The embedded issuer's addresses (`{auth_url}`).

mod authorize;
mod cookies;
mod device;
mod discovery;
mod pages;
mod token;

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use hindsight_identity::issuer::{Form, OAuthError};
use serde_json::Value;

use super::table::{Admission, Operation, Route};
use crate::app::App;
use crate::wire;

/// Bytes of a request's body.
const LARGEST_BODY: usize = 64 << 10;

type Add = fn(MethodRouter<Arc<App>>) -> MethodRouter<Arc<App>>;

/// An operation for everybody: who signs in shows a password or a secret in the request itself. The issuer's own discovery
/// documents describe it, so that `/openapi.json` need not.
const fn open(method: &'static str, add: Add) -> Operation {
    Operation {
        method,
        id: "",
        summary: "",
        admission: Admission::Open,
        parameters: &[],
        body: None,
        replies: &[],
        add,
    }
}

const fn route(path: &'static str, operations: &'static [Operation]) -> Route {
    Route {
        path,
        alias: true,
        operations,
    }
}

/// All of the issuer's addresses.
pub(super) static ROUTES: &[Route] = &[
    route(
        "/{tenant}/oauth2/authorize",
        &[
            open("get", |r| r.get(authorize::authorize_v1)),
            open("post", |r| r.post(authorize::post_authorize_v1)),
        ],
    ),
    route(
        "/{tenant}/oauth2/v2.0/authorize",
        &[
            open("get", |r| r.get(authorize::authorize_v2)),
            open("post", |r| r.post(authorize::post_authorize_v2)),
        ],
    ),
    route(
        "/{tenant}/oauth2/signin",
        &[open("post", |r| r.post(authorize::sign_in_v1))],
    ),
    route(
        "/{tenant}/oauth2/v2.0/signin",
        &[open("post", |r| r.post(authorize::sign_in_v2))],
    ),
    route("/{tenant}/oauth2/logout", SIGN_OUT),
    route("/{tenant}/oauth2/v2.0/logout", SIGN_OUT),
    route(
        "/{tenant}/oauth2/token",
        &[open("post", |r| r.post(token::token_v1))],
    ),
    route(
        "/{tenant}/oauth2/v2.0/token",
        &[open("post", |r| r.post(token::token_v2))],
    ),
    route(
        "/{tenant}/oauth2/devicecode",
        &[open("post", |r| r.post(token::device_code_v1))],
    ),
    route(
        "/{tenant}/oauth2/v2.0/devicecode",
        &[open("post", |r| r.post(token::device_code_v2))],
    ),
    route(
        "/devicelogin",
        &[
            open("get", |r| r.get(device::device_page)),
            open("post", |r| r.post(device::device_post)),
        ],
    ),
    route(
        "/{tenant}/.well-known/openid-configuration",
        &[open("get", |r| r.get(discovery::configuration_v1))],
    ),
    route(
        "/{tenant}/v2.0/.well-known/openid-configuration",
        &[open("get", |r| r.get(discovery::configuration_v2))],
    ),
    route(
        "/{tenant}/openid/userinfo",
        &[
            open("get", |r| r.get(discovery::user_info)),
            open("post", |r| r.post(discovery::user_info)),
        ],
    ),
    route("/{tenant}/discovery/keys", KEYS),
    route("/{tenant}/discovery/v2.0/keys", KEYS),
    route(
        "/{tenant}/discovery/instance",
        &[open("get", |r| r.get(discovery::instance))],
    ),
];

const SIGN_OUT: &[Operation] = &[
    open("get", |r| r.get(authorize::sign_out)),
    open("post", |r| r.post(authorize::sign_out)),
];
const KEYS: &[Operation] = &[open("get", |r| r.get(discovery::keys))];

/// The parameters of a form.
async fn form(headers: &HeaderMap, body: Body) -> Result<Form, OAuthError> {
    let media = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim();
    if !media.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(OAuthError::invalid_request(
            "The body must be of type application/x-www-form-urlencoded.",
        ));
    }
    let bytes = axum::body::to_bytes(body, LARGEST_BODY)
        .await
        .map_err(|_| OAuthError::invalid_request("The body is too large or could not be read."))?;
    Ok(Form::parse(&bytes))
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
    let trace = uuid::Uuid::new_v4().to_string();
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
    response
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
