//! `GET` and `PUT /test/clock`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::Value;

use super::request::test_mode;
use super::values::{duration, in_range, invalid, time};
use crate::app::App;
use crate::error::ApiError;
use crate::routes::asked::Asked;
use crate::test_mode::{Reading, TestMode};
use crate::wire::test_mode as wire;

/// What the clock is set to: one of the three.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Body {
    /// A time.
    fixed: Option<String>,
    /// A duration.
    offset: Option<Value>,
    machine: Option<bool>,
}

/// `GET /test/clock`
pub(super) async fn get(State(app): State<Arc<App>>) -> Result<Json<Value>, ApiError> {
    Ok(shown(&app, test_mode(&app)?))
}

/// `PUT /test/clock`. When it is answered, everything that depends on the time follows: the clock is trusted, what is past its retention
/// at the new time is expired, and no reply is cached.
pub(super) async fn put(
    State(app): State<Arc<App>>,
    Asked(body): Asked<Body>,
) -> Result<Json<Value>, ApiError> {
    let test = test_mode(&app)?;
    let reading = reading(test, &body)?;
    let _one = test.setting_clock.lock().await;
    if reading == test.clock.reading() {
        return Ok(shown(&app, test));
    }
    test.clock.set(reading);
    app.store.trust_clock().await?;
    app.store.expire_with_memory().await?;
    app.replies.clear();
    Ok(shown(&app, test))
}

fn shown(app: &App, test: &TestMode) -> Json<Value> {
    Json(wire::clock(app.now(), test.clock.reading()))
}

fn reading(test: &TestMode, body: &Body) -> Result<Reading, ApiError> {
    match (&body.fixed, &body.offset, body.machine) {
        (Some(text), None, None) => Ok(Reading::Fixed(time("fixed", text)?)),
        (None, Some(value), None) => {
            let nanoseconds = duration("offset", value)?.as_nanos();
            let ticks = i64::try_from(nanoseconds / 100).unwrap_or(i64::MAX);
            let reading = Reading::Offset(ticks);
            in_range("offset", test.clock.time_of(reading))?;
            Ok(reading)
        }
        (None, None, Some(true)) => Ok(Reading::Machine),
        _ => Err(invalid(
            "body",
            "Expected is one of {\"fixed\": \"<time>\"}, {\"offset\": \"<duration>\"} and {\"machine\": true}"
                .to_owned(),
        )),
    }
}
