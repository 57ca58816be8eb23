//! Every URL on one page.

use std::sync::Arc;

use axum::http::header;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodRouter, get, post};
use axum::{Router, http::HeaderName};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::cors::{AllowHeaders, AllowMethods, Any, CorsLayer};

use hindsight_identity::Right;

use crate::app::App;
use crate::auth::gate::{Needs, guard};
use crate::error::ApiError;
use crate::middleware::outer;
use crate::routes::{
    events, fallback, health, ingest, metadata, metrics, oauth, prometheus, query,
};

/// The program as a service.
pub(crate) fn router(app: Arc<App>) -> Router {
    layered(routes(app))
}

/// What happens to every request and reply, outermost last.
pub(crate) fn layered(routes: Router) -> Router {
    routes
        .layer(CompressionLayer::new())
        .layer(CatchPanicLayer::custom(panicked))
        .layer(cors())
        .layer(from_fn(outer::run))
}

fn routes(app: Arc<App>) -> Router {
    let telemetry = |methods| guarded(&app, Needs::Telemetry, methods);
    let open = |methods| guarded(&app, Needs::Nothing, methods);
    let read = |methods| guarded(&app, Needs::App(Right::Read), methods);
    Router::new()
        // Telemetry in
        .route("/v2/track", telemetry(post(ingest::track)))
        .route("/v2.1/track", telemetry(post(ingest::track)))
        // Exporters append their path to an endpoint that ends in a slash, which makes two.
        .route("//v2/track", telemetry(post(ingest::track)))
        .route("//v2.1/track", telemetry(post(ingest::track)))
        // Questions in
        .route(
            "/{version}/apps/{app}/query",
            read(get(query::get).post(query::post)),
        )
        .route(
            "/{version}/workspaces/{app}/query",
            read(get(query::workspace_get).post(query::workspace_post)),
        )
        .route("/{version}/apps/{app}/metrics", read(post(metrics::post)))
        .route(
            "/{version}/apps/{app}/metrics/{*metric}",
            read(get(metrics::get)),
        )
        .route(
            "/{version}/apps/{app}/events/{event_type}",
            read(get(events::list)),
        )
        .route(
            "/{version}/apps/{app}/events/{event_type}/{event_id}",
            read(get(events::single)),
        )
        // What can be asked
        .route(
            "/{version}/apps/{app}/metrics/metadata",
            read(get(metadata::metrics)),
        )
        .route(
            "/{version}/apps/{app}/events/$metadata",
            read(get(metadata::events)),
        )
        .route(
            "/{version}/apps/{app}/events/%24metadata",
            read(get(metadata::events)),
        )
        .route(
            "/{version}/apps/{app}/query/schema",
            read(get(metadata::schema)),
        )
        .route(
            "/{version}/apps/{app}/metadata",
            read(get(metadata::get).post(metadata::post)),
        )
        // The server itself
        .route("/health", open(get(health::health)))
        .route("/ready", open(get(health::ready)))
        .route("/version", open(get(health::version)))
        .route("/metrics", open(get(prometheus::render)))
        .merge(oauth::routes())
        .fallback(fallback::unknown)
        .method_not_allowed_fallback(fallback::wrong_method)
        .with_state(app)
}

/// Handlers behind the gate.
fn guarded(
    app: &Arc<App>,
    needs: Needs,
    methods: MethodRouter<Arc<App>>,
) -> MethodRouter<Arc<App>> {
    methods.route_layer(from_fn_with_state((app.clone(), needs), guard))
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
