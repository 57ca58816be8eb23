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

/// 200 while telemetry can be stored; the body says what else is wrong.
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
    let mut body = json!({ "status": text });
    if let Some(object) = body.as_object_mut() {
        let damaged = app.store.damaged_segments();
        if damaged > 0 {
            object.insert("damagedSegments".to_owned(), damaged.into());
        }
        let objects = app.store.object_figures();
        if objects.is_some_and(|figures| figures.is_failing) {
            object.insert("objectStore".to_owned(), "failing".into());
        }
        if !app.store.clock_trust().is_trusted() {
            object.insert("clock".to_owned(), "suspect".into());
        }
    }
    (status, Json(body))
}

/// The program's name and version.
pub(crate) async fn version() -> Json<Value> {
    Json(json!({ "name": "hindsight", "version": env!("CARGO_PKG_VERSION") }))
}
