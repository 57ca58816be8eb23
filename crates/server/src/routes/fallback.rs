//! Unknown paths, and paths that do not support a method.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};

use super::portal::{to_portal, wants_page};
use crate::app::App;
use crate::auth::guard::principal;
use crate::connection::Connection;
use crate::error::ApiError;

/// Paths that exist for everybody are few; all others need a credential before they are said not to exist.
/// Browsers find the portal at `/`.
pub(crate) async fn unknown(State(app): State<Arc<App>>, request: Request) -> Response {
    let parts = request.into_parts().0;
    let reads = matches!(parts.method, Method::GET | Method::HEAD);
    if parts.uri.path() == "/" && reads && app.settings.portal_enabled && wants_page(&parts.headers)
    {
        return to_portal();
    }
    refuse(&app, &parts).await.into_response()
}

/// A known path with a method that it does not support gets the same reply (`D32`); the router adds `Allow`.
pub(crate) async fn wrong_method(State(app): State<Arc<App>>, request: Request) -> ApiError {
    refuse(&app, &request.into_parts().0).await
}

async fn refuse(app: &App, request: &Parts) -> ApiError {
    let uri = &request.uri;
    let asks = ["/v1/", "/beta/"]
        .iter()
        .any(|prefix| uri.path().starts_with(prefix));
    if !asks {
        return ApiError::PathNotFound;
    }
    let address = Connection::of(&request.extensions).address();
    match principal(app, &request.headers, uri, address).await {
        Ok(_) => ApiError::PathNotFound,
        Err(refusal) => refusal,
    }
}
