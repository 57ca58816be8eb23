//! KQL queries (operations 5 and 6) and their workspace alias (`D17`).

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use hindsight_engine::{EngineError, PreparedQuery, QueryRequest};
use serde::Deserialize;

use super::access::{Access, Version};
use super::{JSON, body, respond};
use crate::app::App;
use crate::bodies::shares::Share;
use crate::error::ApiError;
use crate::middleware::outer::RequestId;
use crate::reply::{self, Answer, Made, Writing};
use crate::throttle::Permit;
use crate::wire::query::{Extras, Form, Stamp};

/// The body of a POST. Unknown fields are ignored, as clients send more than is documented.
#[derive(Debug, Deserialize)]
struct Body {
    query: Option<String>,
    timespan: Option<String>,
    applications: Option<Vec<String>>,
    workspaces: Option<Vec<String>>,
    resources: Option<serde::de::IgnoredAny>,
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
    match run(app, access, id, headers, body, workspace).await {
        Ok(answer) => respond(answer, JSON, access),
        Err(error) => {
            let mut response = error.into_response();
            reply::applied(&mut response, access.prefer.wait);
            response
        }
    }
}

async fn run(
    app: &App,
    access: &Access,
    id: &RequestId,
    headers: &HeaderMap,
    body: Option<axum::body::Body>,
    workspace: bool,
) -> Result<Answer, ApiError> {
    access.must_accept(&["application/json"])?;
    let (request, _memory) = request(app, access, headers, body, workspace).await?;
    let prepared = app.engine.prepare(request).await?;
    let spelling = Spelling::of(access, headers);
    let key = format!("query\n{spelling:?}\n{}", prepared.canonical());
    let (prepared, spelling) = (&prepared, &spelling);
    let make = |permit: Arc<Permit>| async move {
        loop {
            let written = write(app, prepared, spelling, id, &permit).await;
            // A query that met a damaged segment runs again without it. Each round knows of another one.
            if !matches!(written, Err(ApiError::Engine(EngineError::Unreadable(_)))) {
                return written;
            }
        }
    };
    super::answer(app, access, &key, make).await
}

async fn write(
    app: &App,
    prepared: &PreparedQuery,
    spelling: &Spelling,
    id: &RequestId,
    permit: &Arc<Permit>,
) -> Result<Made, ApiError> {
    let query = app.engine.start(prepared).await?;
    let form = spelling.form(app.now(), &id.0);
    let writing = Writing::new(query, form, id.0.clone(), permit.clone());
    reply::make(writing, app.settings.cache_max_reply_bytes).await
}

/// What the form of the reply depends on.
#[derive(Debug, Clone)]
enum Spelling {
    Thin(Extras),
    /// With what the client calls its request: the reply repeats it.
    Full(String),
}

impl Spelling {
    fn of(access: &Access, headers: &HeaderMap) -> Spelling {
        let prefer = access.prefer;
        if prefer.thin.unwrap_or(access.version == Version::V1) {
            return Spelling::Thin(Extras {
                render: prefer.render,
                statistics: prefer.statistics,
                data_sources: prefer.data_sources,
            });
        }
        let client_id = headers.get("x-ms-client-request-id");
        let client_id = client_id.and_then(|value| value.to_str().ok());
        Spelling::Full(client_id.unwrap_or_default().to_owned())
    }

    fn form(&self, now: i64, request_id: &str) -> Form {
        match self {
            Spelling::Thin(extras) => Form::Thin(*extras),
            Spelling::Full(client_id) => Form::Full(Stamp {
                now,
                request_id: request_id.to_owned(),
                client_id: client_id.clone(),
            }),
        }
    }
}

/// The query of a request, and the memory that its body holds until it is answered.
async fn request(
    app: &App,
    access: &Access,
    headers: &HeaderMap,
    body: Option<axum::body::Body>,
    workspace: bool,
) -> Result<(QueryRequest, Option<Share<Arc<str>>>), ApiError> {
    let params = &access.params;
    let mut timespans: Vec<String> = params.one("timespan")?.into_iter().collect();
    let mut applications = params.list("applications");
    let (mut query, mut memory) = (None, None);
    match body {
        Some(given) => {
            let given = body::query(app, access, headers, given).await?;
            let body = parse(&given.bytes)?;
            memory = Some(given.memory);
            if body.resources.is_some() {
                return Err(ApiError::Bad {
                    message: "The property 'resources' is not supported; name applications in 'applications'"
                        .to_owned(),
                    target: Some("resources".to_owned()),
                    position: None,
                });
            }
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
    let request = QueryRequest {
        caller: access.caller(),
        query: query.into(),
        timespans,
        applications,
        workspace_names: workspace,
    };
    Ok((request, memory))
}

fn parse(body: &[u8]) -> Result<Body, ApiError> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    serde_json::from_slice(body).map_err(|error| ApiError::InvalidBody(error.to_string()))
}
