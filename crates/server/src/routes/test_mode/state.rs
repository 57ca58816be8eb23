//! `POST /test/reset`, `/test/snapshot` and `/test/restore`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::Value;

use super::request::{application, test_mode};
use super::values::invalid;
use crate::app::App;
use crate::error::ApiError;
use crate::routes::asked::Asked;
use crate::test_mode::TestMode;
use crate::wire::test_mode as wire;

/// The most characters of a snapshot's name.
const LONGEST_NAME: usize = 128;

/// Which application is reset; absent: all.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reset {
    application: Option<String>,
}

/// The name of a snapshot.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Named {
    name: String,
}

/// `POST /test/reset`. Applications and keys stay; the count of the daily cap and cumulative series begin again.
pub(super) async fn reset(
    State(app): State<Arc<App>>,
    Asked(body): Asked<Reset>,
) -> Result<Json<Value>, ApiError> {
    test_mode(&app)?;
    let which = match &body.application {
        Some(name) => Some(application(&app, name).await?),
        None => None,
    };
    app.store.reset(which);
    app.daily.forget(which);
    app.series.forget(which);
    app.replies.clear();
    Ok(Json(wire::done()))
}

/// `POST /test/snapshot`
pub(super) async fn snapshot(
    State(app): State<Arc<App>>,
    Asked(body): Asked<Named>,
) -> Result<Json<Value>, ApiError> {
    let test = test_mode(&app)?;
    if body.name.is_empty() || body.name.chars().count() > LONGEST_NAME {
        let message = format!("The name of a snapshot has 1 to {LONGEST_NAME} characters");
        return Err(invalid("name", message));
    }
    test.keep(&body.name, app.store.snapshot());
    Ok(names(test))
}

/// `POST /test/restore`
pub(super) async fn restore(
    State(app): State<Arc<App>>,
    Asked(body): Asked<Named>,
) -> Result<Json<Value>, ApiError> {
    let test = test_mode(&app)?;
    let snapshot = test.snapshot(&body.name).ok_or_else(|| {
        let known = test.snapshot_names().join(", ");
        let known = if known.is_empty() { "none" } else { &known };
        ApiError::NotFound(format!(
            "There is no snapshot '{}'; the snapshots are: {known}",
            body.name
        ))
    })?;
    app.store.restore(&snapshot);
    app.replies.clear();
    Ok(names(test))
}

fn names(test: &TestMode) -> Json<Value> {
    Json(wire::snapshots(&test.snapshot_names()))
}
