//! Queries of the protocol: `POST /v1/rest/query` and `POST /v2/rest/query`.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use hindsight_engine::{QueryOptions, QueryRequest, Summary};

use super::super::{JSON, query};
use super::asker::Asker;
use super::payload::Payload;
use super::{database, management};
use crate::app::App;
use crate::error::ApiError;
use crate::wire::kusto::{Frames, V1Writer, V2Writer};
use crate::wire::result::ResultWriter;

/// The version of a data set, with its form.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// `deferred`: as [`Frames::deferred`].
    V1 {
        deferred: bool,
    },
    V2(Frames),
}

/// `POST /v1/rest/query`. Clients send management commands here too.
pub(super) async fn v1(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, ApiError> {
    let (asker, payload, _memory) = Asker::read(&app, request).await?;
    if payload.is_command() {
        return management::run(&app, &asker, &payload).await;
    }
    let deferred = payload.properties.frames.deferred;
    run(&app, &asker, payload, Form::V1 { deferred }).await
}

/// `POST /v2/rest/query`
pub(super) async fn v2(
    State(app): State<Arc<App>>,
    request: Request,
) -> Result<Response, ApiError> {
    let (asker, payload, _memory) = Asker::read(&app, request).await?;
    let frames = payload.properties.frames;
    run(&app, &asker, payload, Form::V2(frames)).await
}

async fn run(app: &App, asker: &Asker, payload: Payload, form: Form) -> Result<Response, ApiError> {
    let named = payload.database.as_deref();
    let record = database::find(app, asker.principal(), named).await?;
    let mut access = asker.access(app, record)?;
    let properties = payload.properties;
    access.prefer.wait = properties.wait;
    access.cache.bypass |= properties.refresh;
    let request = QueryRequest {
        caller: access.caller(),
        query: payload.text.into(),
        timespans: properties.timespan.into_iter().collect(),
        applications: Vec::new(),
        workspace_names: false,
        options: QueryOptions {
            parameters: properties.parameters,
            databases: true,
            max_rows: properties.max_rows,
            max_bytes: properties.max_bytes,
        },
    };
    let prepared = app.engine.prepare(request).await?;
    let client_id = asker.stamp(app).client_id;
    let key = format!("kusto\n{form:?}\n{client_id}\n{}", prepared.canonical());
    let begin = |summary: &Summary, out: &mut String| -> Box<dyn ResultWriter> {
        let stamp = asker.stamp(app);
        match form {
            Form::V1 { deferred } => Box::new(V1Writer::begin(stamp, deferred, out)),
            Form::V2(frames) => Box::new(V2Writer::begin(frames, stamp, &summary.renders, out)),
        }
    };
    let answer = query::execute(app, &access, asker.id(), &prepared, &key, &begin).await?;
    Ok(answer.respond(JSON, &access.conditions))
}
