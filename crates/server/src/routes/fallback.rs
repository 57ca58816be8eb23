//! What is no path, or not with this method.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, Uri};

use super::access::principal;
use crate::app::App;
use crate::error::ApiError;

/// Paths that exist for everybody are few; all others need a credential before they are said not to exist.
pub(crate) async fn unknown(State(app): State<Arc<App>>, headers: HeaderMap, uri: Uri) -> ApiError {
    refuse(&app, &headers, &uri, ApiError::PathNotFound).await
}

/// A known path with a method that it does not have; the router adds `Allow`.
pub(crate) async fn wrong_method(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    uri: Uri,
) -> ApiError {
    refuse(&app, &headers, &uri, ApiError::MethodNotAllowed).await
}

async fn refuse(app: &App, headers: &HeaderMap, uri: &Uri, error: ApiError) -> ApiError {
    let asks = ["/v1/", "/beta/"]
        .iter()
        .any(|prefix| uri.path().starts_with(prefix));
    if !asks {
        return error;
    }
    match principal(app, headers, uri).await {
        Ok(_) => error,
        Err(refusal) => refusal,
    }
}
