//! Whether the server lives, whether it can work, and what it is.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::app::App;

/// The addresses that are answered also when all connections are in use.
pub(crate) const PATHS: [&str; 2] = ["/health", "/ready"];

/// 200 while the process answers at all.
pub(crate) async fn health() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// 200 while telemetry can be stored.
pub(crate) async fn ready(State(app): State<Arc<App>>) -> (StatusCode, Json<Value>) {
    let health = app.store.health();
    let status = if health.writable {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    // The reason may name files of this machine; it is in the log.
    let text = match (health.writable, health.reason.is_some()) {
        (false, _) => "read-only",
        (true, true) => "degraded",
        (true, false) => "ready",
    };
    (status, Json(json!({ "status": text })))
}

/// The program's name and version.
pub(crate) async fn version() -> Json<Value> {
    Json(json!({ "name": "hindsight", "version": env!("CARGO_PKG_VERSION") }))
}
