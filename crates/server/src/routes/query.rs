//! KQL queries (operations 5 and 6) and their workspace alias (`D17`).

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use hindsight_engine::{EngineError, PreparedQuery, QueryOptions, QueryRequest, Summary};
use serde::Deserialize;

use super::access::{Access, Version};
use super::json::{self, Property, wrong};
use super::{JSON, body, respond};
use crate::app::App;
use crate::error::ApiError;
use crate::middleware::outer::RequestId;
use crate::reply::{self, Answer, Writing};
use crate::resource;
use crate::throttle::Permit;
use crate::wire::query::{Extras, Form, Stamp, Writer};
use crate::wire::result::ResultWriter;

/// What a query asks: the body of a POST. Unknown members are ignored, as clients send more than is documented.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AskedBody {
    query: Property,
    timespan: Property,
    applications: Property,
    workspaces: Property,
    resources: Property,
    query_datetimescope_column: Property,
    query_datetimescope_from: Property,
    query_datetimescope_to: Property,
}

/// What a query asks.
#[derive(Debug, Default)]
pub(super) struct Asked {
    query: Option<String>,
    timespan: Option<String>,
    applications: Option<Vec<String>>,
    workspaces: Option<Vec<String>>,
    /// Ids of resources.
    resources: Option<Vec<String>>,
    /// Dashboards name the column, the start and the end of their time range beside the timespan.
    scope_column: Option<String>,
    scope_from: Option<String>,
    scope_to: Option<String>,
}

impl Asked {
    /// Reads a body.
    ///
    /// # Errors
    /// [`ApiError::InvalidBody`] for what is not a JSON object, [`ApiError::Bad`] for a property of another type.
    pub(super) fn parse(body: &[u8]) -> Result<Asked, ApiError> {
        let description = "a JSON object with the property 'query'";
        let body: AskedBody = json::body(body, b'{', description)?;
        Ok(Asked {
            query: body.query.text("query")?,
            timespan: body.timespan.text("timespan")?,
            applications: body.applications.texts("applications")?,
            workspaces: body.workspaces.texts("workspaces")?,
            resources: body.resources.texts("resources")?,
            scope_column: body
                .query_datetimescope_column
                .text("query_datetimescope_column")?,
            scope_from: body
                .query_datetimescope_from
                .text("query_datetimescope_from")?,
            scope_to: body.query_datetimescope_to.text("query_datetimescope_to")?,
        })
    }

    /// The applications of the lists.
    ///
    /// # Errors
    /// [`ApiError::Bad`] for the id of a resource that is no application.
    fn applications(&mut self) -> Result<Vec<String>, ApiError> {
        let resources = self.resources.take().into_iter().flatten();
        let resources = resources.map(|id| match resource::application(&id) {
            Some(name) => Ok(name.to_owned()),
            None => Err(wrong(
                "resources",
                format!("'{id}' is not the id of an application"),
            )),
        });
        let named = self.applications.take().into_iter();
        let named = named.chain(self.workspaces.take()).flatten().map(Ok);
        named.chain(resources).collect()
    }

    /// The timespans, of which the query reads the intersection.
    ///
    /// # Errors
    /// As [`TimeRange::timespan`].
    fn timespans(&mut self) -> Result<Vec<String>, ApiError> {
        let range = TimeRange {
            column: self.scope_column.take(),
            from: self.scope_from.take(),
            to: self.scope_to.take(),
        };
        Ok(filled(self.timespan.take())
            .into_iter()
            .chain(range.timespan()?)
            .collect())
    }
}

/// The time range of a dashboard: `query_datetimescope_column`, `…_from` and `…_to`.
#[derive(Debug, Default)]
pub(super) struct TimeRange {
    pub(super) column: Option<String>,
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
}

impl TimeRange {
    /// The range as a timespan; `None` if there is none.
    ///
    /// # Errors
    /// [`ApiError::Bad`] for a time range of another column than that of the tables' time, or one without a start or end.
    pub(super) fn timespan(self) -> Result<Option<String>, ApiError> {
        let range = match (filled(self.from), filled(self.to)) {
            (Some(from), Some(to)) => Some(format!("{from}/{to}")),
            (None, None) => None,
            _ => {
                let message = "A time range has a start and an end".to_owned();
                return Err(wrong("query_datetimescope_from", message));
            }
        };
        let is_time = |column: &String| matches!(column.as_str(), "timestamp" | "TimeGenerated");
        let column = filled(self.column).filter(|column| range.is_some() && !is_time(column));
        if let Some(column) = column {
            let message = format!(
                "A time range of the column '{column}' is not supported; those of 'timestamp' and 'TimeGenerated' are"
            );
            return Err(wrong("query_datetimescope_column", message));
        }
        Ok(range)
    }
}

/// A text that is not empty.
fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
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
    match read_and_run(app, access, id, headers, body, workspace).await {
        Ok(answer) => respond(answer, JSON, access),
        Err(error) => {
            let mut response = error.into_response();
            reply::applied(&mut response, access.prefer.wait);
            response
        }
    }
}

async fn read_and_run(
    app: &App,
    access: &Access,
    id: &RequestId,
    headers: &HeaderMap,
    body: Option<axum::body::Body>,
    workspace: bool,
) -> Result<Answer, ApiError> {
    let Some(given) = body else {
        let asked = Asked {
            query: access.params.one("query")?,
            ..Asked::default()
        };
        return run(app, access, id, headers, asked, workspace).await;
    };
    // The memory of the body is held until the query is answered.
    let given = body::query(app, access.reader(), headers, given).await?;
    let asked = Asked::parse(&given.bytes)?;
    run(app, access, id, headers, asked, workspace).await
}

/// The answer of a query, from the cache or made. `workspace`: tables have their workspace names in wildcards.
///
/// # Errors
/// [`ApiError`]: what is wrong with the query, or why it was not run.
pub(super) async fn run(
    app: &App,
    access: &Access,
    id: &RequestId,
    headers: &HeaderMap,
    asked: Asked,
    workspace: bool,
) -> Result<Answer, ApiError> {
    let request = request(access, asked, workspace)?;
    let prepared = app.engine.prepare(request).await?;
    let spelling = Spelling::of(access, headers);
    let key = format!("query\n{spelling:?}\n{}", prepared.canonical());
    let begin = |_: &Summary, out: &mut String| -> Box<dyn ResultWriter> {
        Box::new(Writer::begin(spelling.form(app.now(), &id.0), out))
    };
    execute(app, access, id, &prepared, &key, &begin).await
}

/// The answer of a prepared query, from the cache under `key` or made with the writer that `begin` makes.
///
/// # Errors
/// [`ApiError`]: why the query was not run or failed.
pub(super) async fn execute(
    app: &App,
    access: &Access,
    id: &RequestId,
    prepared: &PreparedQuery,
    key: &str,
    begin: &(impl Fn(&Summary, &mut String) -> Box<dyn ResultWriter> + Sync),
) -> Result<Answer, ApiError> {
    let make = |permit: Arc<Permit>| async move {
        loop {
            let query = app.engine.start(prepared).await;
            let written = match query {
                Ok(query) => {
                    let shutdown = app.shutdown.watch();
                    let writing =
                        Writing::new(query, begin, id.0.clone(), permit.clone(), shutdown);
                    reply::make(writing, app.settings.cache_max_reply_bytes).await
                }
                Err(error) => Err(error.into()),
            };
            // A query that met a damaged segment runs again without it. Each round knows of another one.
            if !matches!(written, Err(ApiError::Engine(EngineError::Unreadable(_)))) {
                return written;
            }
        }
    };
    super::answer(app, access, key, make).await
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

/// The query with everything that it reads.
fn request(access: &Access, mut asked: Asked, workspace: bool) -> Result<QueryRequest, ApiError> {
    let params = &access.params;
    let mut timespans: Vec<String> = params.one("timespan")?.into_iter().collect();
    timespans.extend(asked.timespans()?);
    let mut applications = params.list("applications");
    applications.extend(asked.applications()?);
    let query = asked
        .query
        .filter(|text| !text.trim().is_empty())
        .ok_or_else(|| ApiError::bad("'query' property is required"))?;
    Ok(QueryRequest {
        caller: access.caller(),
        query: query.into(),
        timespans,
        applications,
        workspace_names: workspace,
        options: QueryOptions::default(),
    })
}
