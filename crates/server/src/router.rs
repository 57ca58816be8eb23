//! Every URL on one page.

use std::sync::Arc;

use axum::http::header;
use axum::middleware::from_fn;
use axum::routing::{get, post};
use axum::{Router, http::HeaderName};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::cors::{AllowHeaders, AllowMethods, Any, CorsLayer};

use crate::app::App;
use crate::error::ApiError;
use crate::middleware::outer;
use crate::routes::{events, fallback, health, ingest, metadata, metrics, prometheus, query};

/// The program as a service.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        // Telemetry in
        .route("/v2/track", post(ingest::track))
        .route("/v2.1/track", post(ingest::track))
        // Exporters append their path to an endpoint that ends in a slash, which makes two.
        .route("//v2/track", post(ingest::track))
        .route("//v2.1/track", post(ingest::track))
        // Questions in
        .route(
            "/{version}/apps/{app}/query",
            get(query::get).post(query::post),
        )
        .route(
            "/{version}/workspaces/{app}/query",
            get(query::workspace_get).post(query::workspace_post),
        )
        .route("/{version}/apps/{app}/metrics", post(metrics::post))
        .route("/{version}/apps/{app}/metrics/{*metric}", get(metrics::get))
        .route(
            "/{version}/apps/{app}/events/{event_type}",
            get(events::list),
        )
        .route(
            "/{version}/apps/{app}/events/{event_type}/{event_id}",
            get(events::single),
        )
        // What can be asked
        .route(
            "/{version}/apps/{app}/metrics/metadata",
            get(metadata::metrics),
        )
        .route(
            "/{version}/apps/{app}/events/$metadata",
            get(metadata::events),
        )
        .route(
            "/{version}/apps/{app}/events/%24metadata",
            get(metadata::events),
        )
        .route("/{version}/apps/{app}/query/schema", get(metadata::schema))
        .route(
            "/{version}/apps/{app}/metadata",
            get(metadata::get).post(metadata::post),
        )
        // The server itself
        .route("/health", get(health::health))
        .route("/ready", get(health::ready))
        .route("/version", get(health::version))
        .route("/metrics", get(prometheus::render))
        .fallback(fallback::unknown)
        .method_not_allowed_fallback(fallback::wrong_method)
        .with_state(app)
        .layer(CompressionLayer::new())
        .layer(CatchPanicLayer::custom(panicked))
        .layer(cors())
        .layer(from_fn(outer::run))
}

/// Browsers of any origin may send telemetry and ask with a key; they may not send cookies, and there are none.
fn cors() -> CorsLayer {
    let exposed = [
        "retry-after",
        "age",
        "www-authenticate",
        "x-resource-identities",
        "x-ms-status-location",
    ];
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods(AllowMethods::mirror_request())
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(exposed.map(HeaderName::from_static))
        .vary([header::ACCEPT_ENCODING])
}

/// A panic is a bug; the caller sees 500 and the log the text.
fn panicked(payload: Box<dyn std::any::Any + Send + 'static>) -> axum::response::Response {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied());
    axum::response::IntoResponse::into_response(ApiError::Internal(format!(
        "panic: {}",
        text.unwrap_or("unknown")
    )))
}
