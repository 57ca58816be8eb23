//! The router, made of the table of routes, and what happens to every request and reply.

use std::sync::{Arc, LazyLock};

use axum::Extension;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::header;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::{MethodRouter, post};
use axum::{
    Router,
    http::{HeaderName, HeaderValue},
};
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::cors::{AllowHeaders, AllowMethods, Any, CorsLayer};

use crate::app::App;
use crate::auth::guard::guard;
use crate::error::ApiError;
use crate::middleware::outer;
use crate::nodes;
use crate::openapi;
use crate::routes::fallback;
use crate::routes::health;
use crate::routes::kusto;
use crate::routes::openapi::Document;
use crate::routes::portal::is_portal;
use crate::routes::prometheus;
use crate::routes::route::{Admission, Operation, Route};
use crate::routes::table;

static DOCUMENT: LazyLock<Bytes> =
    LazyLock::new(|| openapi::document(table::all()).to_string().into());
static WITHOUT_PORTAL: LazyLock<Bytes> = LazyLock::new(|| {
    let routes = table::all().filter(|route| !is_portal(route.path));
    openapi::document(routes).to_string().into()
});
static TEST_MODE: LazyLock<Bytes> = LazyLock::new(|| {
    openapi::document_of_test_mode(table::of_test_mode())
        .to_string()
        .into()
});
static TEST_MODE_WITHOUT_PORTAL: LazyLock<Bytes> = LazyLock::new(|| {
    let routes = table::of_test_mode().filter(|route| !is_portal(route.path));
    openapi::document_of_test_mode(routes).to_string().into()
});

/// The program as a service.
pub(crate) fn router(app: Arc<App>) -> Router {
    layered(routes(app))
}

/// What happens to every request and reply, outermost first. One layer of these: a router boxes and clones each layer of its own for each
/// request.
pub(crate) fn layered(routes: Router) -> Router {
    let layers = ServiceBuilder::new()
        .layer(from_fn(outer::run))
        .layer(from_fn(without_origin))
        .layer(cors())
        .layer(CatchPanicLayer::custom(panicked))
        .layer(CompressionLayer::new());
    routes.layer(layers)
}

/// The routes of OpenTelemetry, and those that tell the server's health, for ports of their own.
pub(crate) fn open_telemetry_router(app: Arc<App>) -> Router {
    let mut router = Router::new();
    let health = table::all().filter(|route| health::PATHS.contains(&route.path));
    for route in table::OPEN_TELEMETRY.iter().chain(health) {
        router = router.route(route.path, guarded(&app, route));
    }
    layered(
        router
            .fallback(fallback::unknown)
            .method_not_allowed_fallback(fallback::wrong_method)
            .with_state(app),
    )
}

fn routes(app: Arc<App>) -> Router {
    let portal = app.settings.portal_enabled;
    let document = match (app.test.is_some(), portal) {
        (false, true) => &DOCUMENT,
        (false, false) => &WITHOUT_PORTAL,
        (true, true) => &TEST_MODE,
        (true, false) => &TEST_MODE_WITHOUT_PORTAL,
    };
    let routes: Vec<&Route> = if app.test.is_some() {
        table::of_test_mode().collect()
    } else {
        table::all().collect()
    };
    let mut router = Router::new();
    let served = routes
        .into_iter()
        .filter(|route| portal || !is_portal(route.path));
    for route in served {
        router = router.route(route.path, guarded(&app, route));
    }
    if app.settings.node_secret.is_some() {
        router = router.route(nodes::PATH, post(nodes::call));
    }
    router
        .fallback(fallback::unknown)
        .method_not_allowed_fallback(fallback::wrong_method)
        .layer(Extension(Document(document)))
        .with_state(app)
}

/// A path's operations, each behind the gate that its admission asks for.
fn guarded(app: &Arc<App>, route: &Route) -> MethodRouter<Arc<App>> {
    let gated = |operation: &Operation| {
        let admission = operation.admission;
        let state = (app.clone(), admission.needs(), admission.duty());
        let gate = from_fn_with_state(state, guard);
        let routes = (operation.add)(MethodRouter::new()).route_layer(gate);
        if operation.admission == Admission::Kusto {
            return routes.route_layer(from_fn_with_state(app.clone(), kusto::in_form));
        }
        routes
    };
    let operations = route.operations.iter().map(gated);
    operations.fold(MethodRouter::new(), MethodRouter::merge)
}

/// The headers that scripts of other origins may read.
const EXPOSED: [&str; 5] = [
    "retry-after",
    "age",
    "www-authenticate",
    "x-resource-identities",
    "x-ms-status-location",
];

/// Browsers of any origin may send telemetry and ask with a key; they may not send cookies, and there are none.
fn cors() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods(AllowMethods::mirror_request())
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(EXPOSED.map(HeaderName::from_static))
        .vary([header::ACCEPT_ENCODING])
}

/// Adds the headers of [`cors`] to a reply that does not pass through its layer.
pub(crate) fn let_scripts_read(response: &mut Response) {
    static NAMES: LazyLock<Option<HeaderValue>> =
        LazyLock::new(|| HeaderValue::from_str(&EXPOSED.join(",")).ok());
    let headers = response.headers_mut();
    let any = HeaderValue::from_static("*");
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, any);
    let encoding = HeaderValue::from_static("accept-encoding");
    headers.append(header::VARY, encoding);
    if let Some(names) = NAMES.clone() {
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, names);
    }
}

/// Scripts of other origins read telemetry with a key; the server's own figures are not for them.
async fn without_origin(request: Request, next: Next) -> Response {
    let figures = request.uri().path() == prometheus::PATH;
    let mut response = next.run(request).await;
    if figures {
        response
            .headers_mut()
            .remove(header::ACCESS_CONTROL_ALLOW_ORIGIN);
    }
    response
}

/// A panic is a bug; the caller sees 500 and the log the text.
pub(crate) fn panicked(payload: Box<dyn std::any::Any + Send + 'static>) -> Response {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied());
    axum::response::IntoResponse::into_response(ApiError::Internal(format!(
        "panic: {}",
        text.unwrap_or("unknown")
    )))
}
