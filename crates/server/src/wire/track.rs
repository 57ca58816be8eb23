//! Replies to track requests.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use hindsight_ingest::ItemError;
use serde::Serialize;

use crate::error::ApiError;
use crate::intake::Verdict;

/// The JSON of a reply.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TrackReply<'v> {
    items_received: usize,
    items_accepted: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_id: Option<&'v str>,
    errors: Vec<TrackError<'v>>,
}

/// Why an item was not taken, in a reply.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TrackError<'v> {
    index: usize,
    status_code: u16,
    message: &'v str,
}

impl<'v> TrackReply<'v> {
    fn of(verdict: &'v Verdict) -> TrackReply<'v> {
        let errors = verdict.errors.iter().map(|error| TrackError {
            index: error.index,
            status_code: error.status,
            message: &error.message,
        });
        TrackReply {
            items_received: verdict.items_received,
            items_accepted: verdict.items_accepted,
            app_id: verdict.app_id.as_deref(),
            errors: errors.collect(),
        }
    }
}

/// A refusal in the shape that senders read.
pub(crate) fn refused(error: ApiError) -> Response {
    let verdict = Verdict::refused(0, error.status().as_u16(), error.to_string());
    let mut response = reply(verdict);
    let told = error.into_response();
    for name in [header::WWW_AUTHENTICATE, header::RETRY_AFTER] {
        if let Some(value) = told.headers().get(&name) {
            response.headers_mut().insert(name, value.clone());
        }
    }
    response
}

/// Items that are listed although the sender cannot do anything about them: a small body must not get a large reply.
const LISTED: usize = 100;

/// Headers of a reply, with those that are added on its way to the connection.
const HEADERS: usize = 12;

/// The reply that says what became of each item.
pub(crate) fn reply(mut verdict: Verdict) -> Response {
    let status =
        StatusCode::from_u16(verdict.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    metrics::counter!("hindsight_ingest_items_total", "outcome" => "accepted")
        .increment(verdict.items_accepted as u64);
    metrics::counter!("hindsight_ingest_items_total", "outcome" => "refused")
        .increment(verdict.errors.len() as u64);
    let again = verdict.errors.iter().any(ItemError::is_repeatable);
    verdict.shorten(LISTED);
    let text = serde_json::to_string(&TrackReply::of(&verdict)).unwrap_or_default();
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.reserve(HEADERS);
    let json = HeaderValue::from_static("application/json; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, json);
    if again {
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_has_the_recorded_keys() {
        let verdict = Verdict::refused(1, 400, "Invalid instrumentation key");
        assert_eq!(
            serde_json::to_string(&TrackReply::of(&verdict)).unwrap(),
            r#"{"itemsReceived":1,"itemsAccepted":0,"errors":[{"index":0,"statusCode":400,"message":"Invalid instrumentation key"}]}"#
        );
    }
}
