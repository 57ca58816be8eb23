//! `POST /portal/api/apps/{appId}/check`: whether a query is valid, where it is not, and which columns its results have. Nothing runs.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use hindsight_engine::{QueryOptions, QueryRequest};
use serde::Deserialize;

use super::access::unstored;
use crate::app::App;
use crate::error::ApiError;
use crate::routes::access::Access;
use crate::routes::asked::Asked;
use crate::wire::portal as wire;

/// A query.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    query: String,
    timespan: Option<String>,
}

pub(super) async fn check(
    State(app): State<Arc<App>>,
    access: Access,
    Asked(question): Asked<Question>,
) -> Result<Response, ApiError> {
    let text: Arc<str> = question.query.into();
    let request = QueryRequest {
        caller: access.caller(),
        query: Arc::clone(&text),
        timespans: question.timespan.into_iter().collect(),
        applications: Vec::new(),
        workspace_names: false,
        options: QueryOptions::default(),
    };
    let checked = app.shutdown.or_stopping(async {
        let checked = app.engine.check(request).await;
        checked.map_err(ApiError::from)
    });
    Ok(unstored(&wire::checked(&text, &checked.await?)))
}
