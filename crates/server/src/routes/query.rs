//! KQL queries (operations 5 and 6) and their workspace alias (`D17`).

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use hindsight_engine::{Answer, QueryRequest, QueryResult};
use serde::Deserialize;

use super::access::{Access, Version};
use super::{applied, body, json};
use crate::app::App;
use crate::error::ApiError;
use crate::middleware::outer::RequestId;
use crate::wire::query::{self, Extras, Stamp};

/// The body of a POST. Unknown fields are ignored, as clients send more than is documented.
#[derive(Debug, Deserialize)]
struct Body {
    query: Option<String>,
    timespan: Option<String>,
    applications: Option<Vec<String>>,
    workspaces: Option<Vec<String>>,
}

/// `GET …/query?query=`
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    access: Access,
    id: Extension<RequestId>,
    headers: HeaderMap,
) -> Response {
    answer(&app, &access, &id.0, &headers, None, false).await
}

/// `POST …/query`
pub(crate) async fn post(
    State(app): State<Arc<App>>,
    access: Access,
    id: Extension<RequestId>,
    headers: HeaderMap,
    body: axum::body::Body,
) -> Response {
    answer(&app, &access, &id.0, &headers, Some(body), false).await
}

/// `GET /v1/workspaces/{id}/query`
pub(crate) async fn workspace_get(
    State(app): State<Arc<App>>,
    access: Access,
    id: Extension<RequestId>,
    headers: HeaderMap,
) -> Response {
    answer(&app, &access, &id.0, &headers, None, true).await
}

/// `POST /v1/workspaces/{id}/query`
pub(crate) async fn workspace_post(
    State(app): State<Arc<App>>,
    access: Access,
    id: Extension<RequestId>,
    headers: HeaderMap,
    body: axum::body::Body,
) -> Response {
    answer(&app, &access, &id.0, &headers, Some(body), true).await
}

async fn answer(
    app: &App,
    access: &Access,
    id: &RequestId,
    headers: &HeaderMap,
    body: Option<axum::body::Body>,
    workspace: bool,
) -> Response {
    let mut response = match run(app, access, headers, body, workspace).await {
        Ok(answer) => shown(app, access, id, headers, &answer),
        Err(error) => error.into_response(),
    };
    applied(&mut response, &access.prefer);
    response
}

async fn run(
    app: &App,
    access: &Access,
    headers: &HeaderMap,
    body: Option<axum::body::Body>,
    workspace: bool,
) -> Result<Answer<Arc<QueryResult>>, ApiError> {
    let request = request(app, access, headers, body, workspace).await?;
    let _permit = access.permit(app).await?;
    Ok(app.engine.query(&request, access.cache).await?)
}

async fn request(
    app: &App,
    access: &Access,
    headers: &HeaderMap,
    body: Option<axum::body::Body>,
    workspace: bool,
) -> Result<QueryRequest, ApiError> {
    let params = &access.params;
    let mut timespans: Vec<String> = params.one("timespan")?.into_iter().collect();
    let mut applications = params.list("applications");
    let mut query = None;
    match body {
        Some(given) => {
            let body = parse(&body::question(app, headers, given).await?)?;
            query = body.query;
            timespans.extend(body.timespan.filter(|text| !text.is_empty()));
            applications.extend(
                body.applications
                    .into_iter()
                    .chain(body.workspaces)
                    .flatten(),
            );
        }
        None => query = params.one("query")?.or(query),
    }
    let query = query
        .filter(|text| !text.trim().is_empty())
        .ok_or_else(|| ApiError::bad("'query' property is required"))?;
    Ok(QueryRequest {
        caller: access.caller(),
        query: query.into(),
        timespans,
        applications,
        workspace_names: workspace,
        wait: access.prefer.wait,
    })
}

fn parse(body: &[u8]) -> Result<Body, ApiError> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    serde_json::from_slice(body).map_err(|error| ApiError::InvalidBody(error.to_string()))
}

fn shown(
    app: &App,
    access: &Access,
    id: &RequestId,
    headers: &HeaderMap,
    answer: &Answer<Arc<QueryResult>>,
) -> Response {
    let thin = access.prefer.thin.unwrap_or(access.version == Version::V1);
    let text = if thin {
        let prefer = access.prefer;
        let extras = Extras {
            render: prefer.render,
            statistics: prefer.statistics,
            data_sources: prefer.data_sources,
        };
        query::thin(&answer.value, extras)
    } else {
        let client_id = headers
            .get("x-ms-client-request-id")
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        query::full(
            &answer.value,
            Stamp {
                now: app.now(),
                request_id: &id.0,
                client_id,
            },
        )
    };
    (StatusCode::OK, json(text, answer.age, &access.prefer)).into_response()
}
