//! The handlers: one file for each family of URLs.

pub(crate) mod access;
mod asked;
mod batch;
mod body;
pub(crate) mod events;
pub(crate) mod fallback;
pub(crate) mod health;
pub(crate) mod import;
pub(crate) mod ingest;
mod json;
pub(crate) mod kusto;
mod live;
mod management;
pub(crate) mod metadata;
pub(crate) mod metrics;
mod oauth;
pub(crate) mod openapi;
mod otlp;
pub(crate) mod portal;
pub(crate) mod prometheus;
pub(crate) mod query;
mod replies;
mod resource;
pub(crate) mod route;
mod sdk;
pub(crate) mod table;
mod test_mode;

use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderValue;
use axum::response::Response;
use hindsight_engine::EngineError;

use crate::app::App;
use crate::error::ApiError;
use crate::reply::{self, Answer, Made};
use crate::throttle::Permit;
use access::Access;

/// The content type of everything but events.
const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
/// How much longer than the query itself a request waits for the reply of an identical one.
const GRACE: Duration = Duration::from_millis(100);

/// The reply under `key`: from the cache, or made by `make` once the limits of the principal permit it.
async fn answer<F>(
    app: &App,
    access: &Access,
    key: &str,
    make: impl Fn(Arc<Permit>) -> F,
) -> Result<Answer, ApiError>
where
    F: Future<Output = Result<Made, ApiError>>,
{
    if let Some(found) = app.replies.find(key, access.cache).await {
        return Ok(found);
    }
    let permit = Arc::new(access.permit(app).await?);
    let made = app.replies.make(key, access.cache, || make(permit.clone()));
    let timeout = app.engine.query_timeout(&access.caller());
    let late = |_| EngineError::TimedOut { limit: timeout };
    // Boxed: a future within others needs stack at each level.
    let in_time = Box::pin(async {
        let made = tokio::time::timeout(timeout + GRACE, made).await;
        made.map_err(late)?
    });
    app.shutdown.or_ending(in_time).await
}

/// The response of an answer, with what was preferred.
fn respond(answer: Answer, content_type: HeaderValue, access: &Access) -> Response {
    let mut response = answer.respond(content_type, &access.conditions);
    reply::applied(&mut response, access.prefer.wait);
    response
}
