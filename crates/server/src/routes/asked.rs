//! The body of a request of the program's own interfaces: JSON of which every property is known.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use serde::de::DeserializeOwned;

use super::body;
use crate::app::App;
use crate::connection::Connection;
use crate::error::ApiError;

/// The decoded body. No body is an empty object; an unknown property is refused if the type says so.
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
