//! The way of a request: through the router, or past it where telemetry may have to be refused.
//!
//! At a hundred times the capacity, refusals are most of what the program does, and what happens to a request before and after
//! its handler costs more than the refusal (`bench/overload.py`). While some application's queue is full, and shortly after many refusals,
//! telemetry without a credential goes straight to its handler.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::response::Response;
use axum::{Extension, Router};
use futures::FutureExt;
use tower::ServiceExt;

use crate::app::App;
use crate::auth::credential::{self, Credential};
use crate::auth::guard::Duty;
use crate::connection::Connection;
use crate::middleware::outer::{self, RequestId};
use crate::moderation;
use crate::router;
use crate::routes::ingest;

/// Answers requests.
#[derive(Clone)]
pub(crate) struct Service {
    router: Router,
    /// Whose telemetry may go past the router.
    app: Option<Arc<App>>,
}

impl From<Router> for Service {
    /// All requests go through the router.
    fn from(router: Router) -> Service {
        Service { router, app: None }
    }
}

impl Service {
    /// The program as a service.
    pub(crate) fn new(app: Arc<App>) -> Service {
        Service {
            router: router::router(app.clone()),
            app: Some(app),
        }
    }

    /// Answers a request.
    pub(crate) async fn answer(self, request: Request) -> Response {
        if let Some(app) = self.app
            && let Some(route) = may_be_refused(&app, &request)
        {
            let handle = async |id, request| track(app, id, request).await;
            return outer::around(request, route, handle).await;
        }
        let Ok(response) = self.router.oneshot(request).await;
        response
    }
}

/// The route of telemetry that is let in without a credential and may be refused: some application's queue is full, or many requests were
/// refused a moment ago. `None` for other requests.
pub(crate) fn may_be_refused(app: &App, request: &Request) -> Option<&'static str> {
    let path = request.uri().path();
    let route = ingest::PATHS.into_iter().find(|route| *route == path)?;
    let may_be = request.method() == Method::POST
        && !app.settings.ingest_require_credential
        && Duty::Ingestion.check(app.settings.node_role).is_ok()
        && (app.bodies.telemetry.is_any_full() || moderation::refusals_are_many())
        && credential::find(request.headers(), request.uri()) == Credential::Absent;
    may_be.then_some(route)
}

/// The handler of telemetry, with what the layers of the router add that matters to it.
async fn track(app: Arc<App>, id: RequestId, request: Request<Body>) -> Response {
    let (mut parts, body) = request.into_parts();
    let connection = parts.extensions.remove::<Connection>().map(Extension);
    let handled = ingest::track(
        State(app),
        connection,
        None,
        Extension(id),
        parts.headers,
        body,
    );
    let handled = AssertUnwindSafe(handled).catch_unwind().await;
    let mut response = handled.unwrap_or_else(router::panicked);
    router::let_scripts_read(&mut response);
    response
}
