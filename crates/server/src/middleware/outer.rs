//! The outermost layer: request ids, error bodies, recorded headers, one log line.

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use hindsight_identity::{api_key, secret};
use tokio::time::Instant;

use crate::connection::Connection;
use crate::error::{ApiError, ErrorBody};
use crate::middleware::request_metrics;
use crate::wire::kusto::error::{self as kusto, Context};

/// This request's id; in the reply, in errors and in the log.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(pub(crate) String);

/// The reply's header.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-request-id");
/// The client's own id of the request.
const CLIENT_REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-client-request-id");

/// The layer of a router.
pub(crate) async fn run(request: Request, next: Next) -> Response {
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "none".to_owned(), |path| path.as_str().to_owned());
    let handle = async |id, mut request: Request| {
        request.extensions_mut().insert(id);
        next.run(request).await
    };
    around(request, &route, handle).await
}

/// Handles a request with an id and finishes its reply.
pub(crate) async fn around(
    request: Request,
    route: &str,
    handle: impl AsyncFnOnce(RequestId, Request) -> Response,
) -> Response {
    let begun = Instant::now();
    let id = secret::new_id().to_string();
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let client_id = client_request_id(request.headers());

    let mut response = if lacks_host(&request) {
        ApiError::bad("A request of HTTP/1.1 needs exactly one header 'Host' (RFC 9112 §3.2)")
            .into_response()
    } else {
        handle(RequestId(id.clone()), request).await
    };
    finish(&mut response, &id, client_id);
    let status = response.status().as_u16();
    let milliseconds = begun.elapsed().as_secs_f64() * 1000.0;
    if status < 400 {
        tracing::debug!(request_id = %id, %method, url = %redacted(&uri), status, milliseconds, "request");
    } else {
        tracing::info!(request_id = %id, %method, url = %redacted(&uri), status, milliseconds, "request");
    }
    request_metrics::record(route, status, milliseconds / 1000.0);
    response
}

/// Whether a request that came over a connection names no host, or several.
fn lacks_host(request: &Request) -> bool {
    let hosts = request.headers().get_all(header::HOST).iter().count();
    let peer = Connection::of(request.extensions()).peer;
    peer.is_some() && request.version() == Version::HTTP_11 && hosts != 1
}

/// The reply to a request that does not reach the router.
pub(crate) fn overloaded(message: &str) -> Response {
    let mut response = ApiError::Unavailable(message.to_owned()).into_response();
    finish(&mut response, &secret::new_id().to_string(), None);
    response
}

/// An id that may be echoed: short and printable.
fn client_request_id(headers: &HeaderMap) -> Option<HeaderValue> {
    headers
        .get(&CLIENT_REQUEST_ID)
        .filter(|value| value.len() <= 128 && value.to_str().is_ok())
        .cloned()
}

/// Writes the body of an error, with the id of its request.
pub(crate) fn write_error(response: &mut Response, id: &str) {
    let Some(ErrorBody(error)) = response.extensions_mut().remove() else {
        return;
    };
    if response.status().is_server_error() {
        tracing::error!(request_id = %id, error = ?error, "request failed");
    }
    let body = match response.extensions_mut().remove::<Context>() {
        Some(context) => kusto::document(&error, id, &context),
        None => error.body(Some(id)),
    };
    let text = body.to_string();
    let json = HeaderValue::from_static("application/json; charset=utf-8");
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, json);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(text.len()));
    *response.body_mut() = Body::from(text);
}

fn finish(response: &mut Response, id: &str, client_id: Option<HeaderValue>) {
    write_error(response, id);
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, value);
    }
    if let Some(value) = client_id {
        headers.insert(CLIENT_REQUEST_ID, value);
    }
    join_vary(headers);
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    );
}

/// Merges the `Vary` headers of several layers into one.
fn join_vary(headers: &mut HeaderMap) {
    if headers.get_all(header::VARY).iter().nth(1).is_none() {
        return;
    }
    let mut names: Vec<String> = Vec::new();
    for value in headers.get_all(header::VARY) {
        for name in value.to_str().unwrap_or_default().split(',') {
            let name = name.trim();
            let known = names.iter().any(|known| known.eq_ignore_ascii_case(name));
            if !name.is_empty() && !known {
                names.push(name.to_owned());
            }
        }
    }
    if let Ok(value) = HeaderValue::from_str(&names.join(", "))
        && !names.is_empty()
    {
        headers.insert(header::VARY, value);
    }
}

/// The URL without secrets: values of parameters that hold one by their name, and API keys wherever they stand.
fn redacted(uri: &Uri) -> String {
    let path = without_keys(uri.path());
    let Some(query) = uri.query() else {
        return path;
    };
    let shown: Vec<String> = query
        .split('&')
        .map(|pair| {
            let secret = crate::params::pairs(pair).any(|(name, _)| is_secret(&name));
            if secret {
                format!("{}=***", pair.split('=').next().unwrap_or_default())
            } else {
                without_keys(pair)
            }
        })
        .collect();
    format!("{path}?{}", shown.join("&"))
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words = [
        "token",
        "secret",
        "password",
        "code",
        "key",
        "credential",
        "assertion",
    ];
    words.iter().any(|word| name.contains(word))
}

/// A text with the secret part of every API key in it left out, also of mistyped ones.
fn without_keys(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(api_key::PREFIX) {
        let (before, key) = rest.split_at(at + api_key::PREFIX.len());
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = key.find(|c| !is_part(c)).unwrap_or(key.len());
        let (key, after) = key.split_at(length);
        shown.push_str(before);
        // What is as short as an id is no key, or only the public part of one.
        match key.split_once('_') {
            Some((id, _)) => shown.extend([id, "_***"]),
            None if key.len() > 16 => shown.push_str("***"),
            None => shown.push_str(key),
        }
        rest = after;
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_never_reach_the_log() {
        let check =
            |uri: &str, expected: &str| assert_eq!(redacted(&uri.parse().unwrap()), expected);
        check(
            "/v1/apps/a/query?query=x&api_key=hs_abc&b=1",
            "/v1/apps/a/query?query=x&api_key=***&b=1",
        );
        check("/v1?api%5Fkey=hs_abc", "/v1?api%5Fkey=***");
        check(
            "/v1?API_KEY=hs_abc&access_token=t",
            "/v1?API_KEY=***&access_token=***",
        );
        check("/health", "/health");
        check(
            "/v1/apps/hs_0123456789_secretSECRET/query",
            "/v1/apps/hs_0123456789_***/query",
        );
        check(
            "/t/oauth2/token?client_secret=x&password=y&code=z",
            "/t/oauth2/token?client_secret=***&password=***&code=***",
        );
        check(
            "/v1?query=where+a+%3D%3D+%22hs_0123456789_secret%22",
            "/v1?query=where+a+%3D%3D+%22hs_0123456789_***%22",
        );
    }
}
