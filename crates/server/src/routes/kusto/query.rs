//! Queries of the protocol: `POST /v1/rest/query` and `POST /v2/rest/query`.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::response::Response;
use hindsight_engine::{QueryOptions, QueryRequest, Summary};

use super::super::access::{Access, Version};
use super::super::body::{self, QueryBody};
use super::super::{JSON, query};
use super::payload::Payload;
use super::{client_id, database, management};
use crate::app::App;
use crate::auth::Principal;
use crate::auth::gate::Admitted;
use crate::directory::AppRecord;
use crate::error::ApiError;
use crate::middleware::outer::RequestId;
use crate::origin::Head;
use crate::wire::kusto::{Frames, Stamp, V1Writer, V2Writer};
use crate::wire::result::ResultWriter;

/// A request whose credential was admitted, and whose body was read.
pub(super) struct Asker {
    parts: Parts,
    admitted: Admitted,
    id: RequestId,
}

impl Asker {
    /// Reads a request. Its body's memory is held until the third value is dropped.
    ///
    /// # Errors
    /// [`ApiError`] for a body that cannot be read.
    pub(super) async fn read(
        app: &App,
        request: Request,
    ) -> Result<(Asker, Payload, QueryBody), ApiError> {
        let (mut parts, given) = request.into_parts();
        let admitted = parts.extensions.remove::<Admitted>();
        let admitted = admitted.ok_or(ApiError::Unauthenticated)?;
        let id = parts.extensions.get::<RequestId>().cloned();
        let id = id.ok_or_else(|| ApiError::Internal("a request without an id".to_owned()))?;
        let address = Head::of(&parts).connection.address();
        let reader = (address, &admitted.principal.id);
        let given = body::query(app, reader, &parts.headers, given).await?;
        let payload = Payload::parse(&given.bytes)?;
        let asker = Asker {
            parts,
            admitted,
            id,
        };
        Ok((asker, payload, given))
    }

    /// The principal.
    pub(super) fn principal(&self) -> &Principal {
        &self.admitted.principal
    }

    /// The address by which the client came.
    pub(super) fn address(&self, app: &App) -> String {
        Head::of(&self.parts).base(&app.settings)
    }

    fn stamp(&self, app: &App) -> Stamp {
        Stamp {
            now: app.now(),
            request_id: self.id.0.clone(),
            client_id: client_id(&self.parts.headers),
        }
    }
}

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
    let mut access = access(app, asker, record)?;
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
    let client_id = client_id(&asker.parts.headers);
    let key = format!("kusto\n{form:?}\n{client_id}\n{}", prepared.canonical());
    let begin = |summary: &Summary, out: &mut String| -> Box<dyn ResultWriter> {
        let stamp = asker.stamp(app);
        match form {
            Form::V1 { deferred } => Box::new(V1Writer::begin(stamp, deferred, out)),
            Form::V2(frames) => Box::new(V2Writer::begin(frames, stamp, &summary.renders, out)),
        }
    };
    let answer = query::execute(app, &access, &asker.id, &prepared, &key, &begin).await?;
    Ok(answer.respond(JSON, &access.conditions))
}

/// The request as one about this application.
///
/// # Errors
/// As [`Access::new`].
pub(super) fn access(app: &App, asker: &Asker, record: Arc<AppRecord>) -> Result<Access, ApiError> {
    let name = record.name.clone();
    let admitted = Admitted {
        app: Some(record),
        ..asker.admitted.clone()
    };
    Access::new(app, &asker.parts, Version::V1, name, admitted)
}
