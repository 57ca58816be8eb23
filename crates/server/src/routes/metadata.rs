//! Descriptions: `metrics/metadata`, `events/$metadata`, `metadata`, `query/schema` (`D17`).

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::AsArray;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use hindsight_engine::metrics::{find, standard_metrics};
use hindsight_engine::{EngineError, QueryOptions, QueryRequest, QueryResult};
use hindsight_store::Table;
use serde::Deserialize;

use super::access::Access;
use hindsight_identity::Right;

use super::{JSON, answer, body, json, respond};
use crate::app::App;
use crate::directory::AppRecord;
use crate::error::ApiError;
use crate::reply::{Answer, Made, Reads};
use crate::wire::{csdl, metadata};

/// How far back an application's own metrics are looked for.
const RECENT: &str = "P7D";
/// Items of each table that are looked through for keys of `customDimensions`.
const MAX_ITEMS: usize = 10_000;
/// Names of own metrics, and keys, that are listed.
const MAX_NAMES: usize = 1_000;
/// Which custom metrics there are.
const CUSTOM_METRICS: &str = "customMetrics | distinct name | take 1000";
/// Which measurements of events there are.
const MEASUREMENTS: &str = "customEvents | mv-expand key = bag_keys(customMeasurements) | project key = tostring(key) | distinct key | take 1000";

/// `GET …/metrics/metadata`
pub(crate) async fn metrics(
    State(app): State<Arc<App>>,
    access: Access,
) -> Result<Response, ApiError> {
    let (app, access) = (&app, &access);
    let key = format!("metadata/metrics\n{}", access.caller().scope());
    let make = |_permit| async {
        let mut list = standard_metrics();
        for (prefix, query) in [
            ("customMetrics", CUSTOM_METRICS),
            ("customEvents/custom", MEASUREMENTS),
        ] {
            let found = recent(app, access, query).await?;
            let names = names(&found);
            list.extend(
                names
                    .iter()
                    .filter_map(|name| find(&format!("{prefix}/{name}"))),
            );
        }
        let keys = dimension_keys(app, access).await?;
        let reads = Reads::tables(access.app.id, Table::ALL);
        Ok(Made::whole(metadata::metrics(&list, &keys), reads))
    };
    let answer = answer(app, access, &key, make).await?;
    Ok(respond(answer, JSON, access))
}

/// A query over what is recent, for a description.
async fn recent(app: &App, access: &Access, query: &str) -> Result<QueryResult, EngineError> {
    let request = QueryRequest {
        caller: access.caller(),
        query: query.into(),
        timespans: vec![RECENT.to_owned()],
        applications: Vec::new(),
        workspace_names: false,
        options: QueryOptions::default(),
    };
    // In a box: a query's future is large, and this one runs within another.
    Box::pin(app.engine.query(&request)).await
}

/// The texts of a query's first column, in order.
fn names(result: &QueryResult) -> BTreeSet<String> {
    texts(result, 0)
        .filter(|name| !name.is_empty())
        .take(MAX_NAMES)
        .map(str::to_owned)
        .collect()
}

/// The texts of a column.
fn texts(result: &QueryResult, column: usize) -> impl Iterator<Item = &str> {
    let batches = result.tables.iter().flat_map(|table| &table.batches);
    let columns =
        batches.filter_map(move |batch| batch.columns().get(column)?.as_string_view_opt());
    columns.flat_map(|column| column.iter().flatten())
}

/// Which keys of `customDimensions` the items of each table have: `(table, key)`.
async fn dimension_keys(app: &App, access: &Access) -> Result<Vec<(String, String)>, EngineError> {
    let some = |table: Table| {
        let name = table.name();
        format!("({name} | take {MAX_ITEMS} | project source_ = '{name}', customDimensions)")
    };
    let query = format!(
        "union {} | mv-expand key = bag_keys(customDimensions) | project source_, key = tostring(key) \
         | distinct source_, key | where isnotempty(key) | sort by source_ asc, key asc | take {MAX_NAMES}",
        Table::ALL.map(some).join(", ")
    );
    let result = recent(app, access, &query).await?;
    let pairs = texts(&result, 0).zip(texts(&result, 1));
    Ok(pairs
        .map(|(table, key)| (table.to_owned(), key.to_owned()))
        .collect())
}

/// `GET …/events/$metadata`
pub(crate) async fn events(
    State(app): State<Arc<App>>,
    access: Access,
) -> Result<Response, ApiError> {
    let key = format!("metadata/events\n{}", access.caller().scope());
    let answer = described(&app, &access, &key, csdl::document).await?;
    let xml = HeaderValue::from_static("application/xml;charset=utf-8");
    Ok(respond(answer, xml, &access))
}

/// `GET …/events/{eventType}/$metadata`: the address that the context of a single event names.
pub(crate) async fn event(
    State(app): State<Arc<App>>,
    Path((_, _, event_type)): Path<(String, String, String)>,
    access: Access,
) -> Result<Response, ApiError> {
    if event_type != "$all" && Table::from_name(&event_type).is_none() {
        let message = format!("'{event_type}' is not an event type.");
        return Err(EngineError::NotFound(message).into());
    }
    events(State(app), access).await
}

/// `GET …/query/schema`
pub(crate) async fn schema(
    State(app): State<Arc<App>>,
    access: Access,
) -> Result<Response, ApiError> {
    let key = format!("metadata/schema\n{}", access.caller().scope());
    let answer = described(&app, &access, &key, metadata::schema).await?;
    Ok(respond(answer, JSON, &access))
}

/// A text that is made without asking the store; no limit of queries applies to it.
async fn described(
    app: &App,
    access: &Access,
    key: &str,
    text: impl Fn() -> String,
) -> Result<Answer, ApiError> {
    match app.replies.find(key, access.cache).await {
        Some(found) => Ok(found),
        None => {
            let make = || std::future::ready(Ok(Made::whole(text(), Reads::nothing())));
            app.replies.make(key, access.cache, make).await
        }
    }
}

/// The body of a POST; it may be absent.
#[derive(Debug, Default, Deserialize)]
struct Wanted {
    #[serde(alias = "workspaces")]
    applications: Option<Vec<String>>,
}

/// The family of names under which tables are described.
#[derive(Debug, Clone, Copy)]
enum Names {
    Applications,
    Workspaces,
}

/// `GET /{version}/apps/{id}/metadata`
pub(crate) async fn get(State(app): State<Arc<App>>, access: Access) -> Result<Response, ApiError> {
    describe(&app, &access, Wanted::default(), Names::Applications).await
}

/// `POST /{version}/apps/{id}/metadata`
pub(crate) async fn post(
    State(app): State<Arc<App>>,
    access: Access,
    headers: HeaderMap,
    given: Body,
) -> Result<Response, ApiError> {
    let wanted = read(&app, &access, &headers, given).await?;
    describe(&app, &access, wanted, Names::Applications).await
}

/// `GET /{version}/workspaces/{id}/metadata`
pub(crate) async fn workspace_get(
    State(app): State<Arc<App>>,
    access: Access,
) -> Result<Response, ApiError> {
    describe(&app, &access, Wanted::default(), Names::Workspaces).await
}

/// `POST /{version}/workspaces/{id}/metadata`
pub(crate) async fn workspace_post(
    State(app): State<Arc<App>>,
    access: Access,
    headers: HeaderMap,
    given: Body,
) -> Result<Response, ApiError> {
    let wanted = read(&app, &access, &headers, given).await?;
    describe(&app, &access, wanted, Names::Workspaces).await
}

async fn read(
    app: &App,
    access: &Access,
    headers: &HeaderMap,
    given: Body,
) -> Result<Wanted, ApiError> {
    let body = body::query(app, access.reader(), headers, given).await?;
    if body.bytes.trim_ascii().is_empty() {
        return Ok(Wanted::default());
    }
    let description = "a JSON object, whose lists are arrays of strings";
    json::body(&body.bytes, b'{', description)
}

async fn describe(
    app: &App,
    access: &Access,
    wanted: Wanted,
    names: Names,
) -> Result<Response, ApiError> {
    let mut apps: Vec<Arc<AppRecord>> = vec![access.app.clone()];
    let further = access.params.list("applications").into_iter();
    let snapshot = app.directory.snapshot().await?;
    for name in further.chain(wanted.applications.into_iter().flatten()) {
        let found = access.principal.app(&snapshot, &name, Right::Read)?;
        if !apps.iter().any(|known| known.id == found.id) {
            apps.push(found);
        }
    }
    let named: Vec<&str> = apps
        .iter()
        .flat_map(|app| [app.id_text.as_str(), &app.name])
        .collect();
    let scope = access.caller().scope();
    let key = format!("metadata\n{names:?}\n{scope}\n{}", named.join("\n"));
    let text = || {
        let apps = apps.iter().map(Arc::as_ref);
        match names {
            Names::Applications => metadata::application(apps),
            Names::Workspaces => metadata::workspace(apps),
        }
    };
    let answer = described(app, access, &key, text).await?;
    Ok(respond(answer, JSON, access))
}
