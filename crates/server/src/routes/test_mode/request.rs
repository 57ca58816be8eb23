//! What the requests of test mode share: their bodies, and the application that they name.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use hindsight_store::AppId;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::connection::Connection;
use crate::error::ApiError;
use crate::routes::body;
use crate::test_mode::TestMode;

/// The body of a request of test mode. No body is an empty object; an unknown property is refused.
pub(super) struct Asked<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Asked<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request<Body>, app: &Arc<App>) -> Result<Asked<T>, ApiError> {
        let (parts, content) = request.into_parts();
        let address = Connection::of(&parts.extensions).address();
        let bytes = body::small(app, address, &parts.headers, content).await?;
        let text = match bytes.trim_ascii() {
            [] => b"{}",
            text => text,
        };
        let parsed = serde_json::from_slice(text);
        parsed
            .map(Asked)
            .map_err(|error| ApiError::InvalidBody(error.to_string()))
    }
}

/// The state of test mode. Without it there is no route that asks.
pub(super) fn test_mode(app: &App) -> Result<&TestMode, ApiError> {
    app.test.as_ref().ok_or(ApiError::PathNotFound)
}

/// The application with this name or id.
pub(super) async fn application(app: &App, name: &str) -> Result<AppId, ApiError> {
    let known = app.directory.current().await?;
    let found = known.app(name).map(|record| record.id);
    found.ok_or_else(|| ApiError::NotFound(format!("There is no application '{name}'")))
}
