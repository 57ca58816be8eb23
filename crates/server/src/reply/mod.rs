//! Replies as bytes: made once and cached for a while, or streamed when they are too large for that.

mod arrivals;
mod cache;
mod conditions;
mod stream;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

pub(crate) use arrivals::{Arrivals, Reads};
pub(crate) use cache::{CacheControl, ReplyCache};
pub(crate) use conditions::Conditions;
pub(crate) use stream::{Writing, make};

use crate::wire::missing;

/// A reply that was just made.
pub(crate) enum Made {
    /// All of it.
    Whole {
        /// The body.
        body: Bytes,
        /// What it lacks because segments are damaged (`D34`): the value of a header.
        missing: Option<HeaderValue>,
        /// The telemetry that it was made from.
        reads: Reads,
    },
    /// A body whose rest is made while it is sent.
    Streamed(Body),
}

impl Made {
    /// A reply that lacks nothing.
    pub(crate) fn whole(body: impl Into<Bytes>, reads: Reads) -> Made {
        Made::Whole {
            body: body.into(),
            missing: None,
            reads,
        }
    }
}

/// A whole reply with its validator.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) body: Bytes,
    etag: HeaderValue,
    missing: Option<HeaderValue>,
}

impl Kept {
    pub(crate) fn new(body: Bytes, missing: Option<HeaderValue>) -> Kept {
        let digest = Sha256::digest(&body);
        let mut text = String::from("W/\"");
        for byte in digest.iter().take(16) {
            text.push_str(&format!("{byte:02x}"));
        }
        text.push('"');
        // Weak: compressed forms of the reply have the same tag.
        let etag = HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("W/\"\""));
        Kept {
            body,
            etag,
            missing,
        }
    }
}

/// A reply for one caller.
pub(crate) enum Answer {
    /// All of it, and its age in seconds where it came from the cache.
    Whole(Kept, Option<u64>),
    /// Too large to be kept.
    Streamed(Body),
}

impl Answer {
    /// The response, or 304 where the caller has this very reply.
    pub(crate) fn respond(self, content_type: HeaderValue, conditions: &Conditions) -> Response {
        let (mut response, etag, missing, age) = match self {
            Answer::Whole(kept, age) if conditions.already_has(&kept.etag) => (
                StatusCode::NOT_MODIFIED.into_response(),
                Some(kept.etag),
                kept.missing,
                age,
            ),
            Answer::Whole(kept, age) => (
                ([(header::CONTENT_TYPE, content_type)], kept.body).into_response(),
                Some(kept.etag),
                kept.missing,
                age,
            ),
            Answer::Streamed(body) => (
                ([(header::CONTENT_TYPE, content_type)], body).into_response(),
                None,
                None,
                None,
            ),
        };
        let headers = response.headers_mut();
        if let Some(etag) = etag {
            headers.insert(header::ETAG, etag);
        }
        if let Some(missing) = missing {
            headers.insert(missing::HEADER, missing);
        }
        describe(headers, age);
        response
    }
}

/// Adds `Cache-Control`, `Vary` and `Age`.
fn describe(headers: &mut HeaderMap, age: Option<u64>) {
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private"));
    headers.insert(
        header::VARY,
        HeaderValue::from_static("Authorization, X-Api-Key, Prefer, Accept-Encoding"),
    );
    if let Some(age) = age {
        headers.insert(header::AGE, HeaderValue::from(age));
    }
}

/// Adds `Preference-Applied`, on errors too: a timeout is an effect of the preference.
pub(crate) fn applied(response: &mut Response, wait: Option<u64>) {
    if let Some(value) = wait.and_then(|wait| HeaderValue::from_str(&format!("wait={wait}")).ok()) {
        response
            .headers_mut()
            .insert(HeaderName::from_static("preference-applied"), value);
    }
}
