//! The handlers: one file for each family of URLs.

pub(crate) mod access;
mod body;
pub(crate) mod events;
pub(crate) mod fallback;
pub(crate) mod health;
pub(crate) mod ingest;
pub(crate) mod metadata;
pub(crate) mod metrics;
pub(crate) mod oauth;
pub(crate) mod prometheus;
pub(crate) mod query;

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};

use crate::middleware::cache_control;
use crate::prefer::Prefer;

/// The content type of everything but events.
const JSON: &str = "application/json; charset=utf-8";

/// A JSON reply with what the cache says of it.
fn json(text: String, age: Option<u64>, prefer: &Prefer) -> Response {
    typed(text, HeaderValue::from_static(JSON), age, prefer)
}

fn typed(text: String, content_type: HeaderValue, age: Option<u64>, prefer: &Prefer) -> Response {
    let mut response = ([(header::CONTENT_TYPE, content_type)], text).into_response();
    cache_control::write(response.headers_mut(), age);
    applied(&mut response, prefer);
    response
}

/// `Preference-Applied`, on errors too: a time-out is the preference at work.
fn applied(response: &mut Response, prefer: &Prefer) {
    if let Some(value) = prefer
        .wait
        .and_then(|wait| HeaderValue::from_str(&format!("wait={wait}")).ok())
    {
        response
            .headers_mut()
            .insert(HeaderName::from_static("preference-applied"), value);
    }
}
