//! The Kusto protocol, for tools that speak only it (`docs/kusto.md`): queries of version 1 and 2, and the management commands
//! that read. A database is an application.

mod asker;
mod command;
mod database;
mod management;
mod payload;
mod properties;
mod query;
mod table;

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use serde_json::Value;

use crate::app::App;
use crate::error::ErrorBody;
use crate::middleware::outer::RequestId;
use crate::origin::Head;
use crate::wire::kusto::error::Context;
use crate::wire::kusto::schema;

pub(super) use table::ROUTES;

/// The header with the server's id of a request.
const ACTIVITY_ID: HeaderName = HeaderName::from_static("x-ms-activity-id");

/// `GET /v1/rest/auth/metadata`: where clients sign in.
pub(super) async fn authentication(State(app): State<Arc<App>>, head: Head) -> Json<Value> {
    let base = head.issuer_base(&app.settings, &app.issuer.base());
    Json(schema::authentication(&base, app.issuer.tenant(), &base))
}

/// The middleware before every route of the protocol: errors get its form, and replies the id of the request.
pub(crate) async fn in_form(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let client_id = client_id(request.headers());
    let id = request.extensions().get::<RequestId>().cloned();
    let mut response = next.run(request).await;
    if let Some(id) = id.and_then(|id| HeaderValue::from_str(&id.0).ok()) {
        response.headers_mut().insert(ACTIVITY_ID, id);
    }
    if response.extensions().get::<ErrorBody>().is_some() {
        let now = app.now();
        let context = Context { now, client_id };
        response.extensions_mut().insert(context);
    }
    response
}

/// What the client calls its request.
fn client_id(headers: &HeaderMap) -> String {
    let value = headers.get("x-ms-client-request-id");
    let value = value.and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_owned()
}
