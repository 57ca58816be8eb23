//! Values of requests: times and durations.

use hindsight_kql_types::datetime;
use jiff::{SignedDuration, SpanRelativeTo};
use serde_json::Value;

use crate::error::ApiError;
use crate::test_mode::{LATEST, may_show};

/// A refusal that names the property.
pub(super) fn invalid(target: &str, message: String) -> ApiError {
    ApiError::Bad {
        message,
        target: Some(target.to_owned()),
        position: None,
    }
}

/// A duration: ISO 8601 text, or a number of seconds. A day has 24 hours.
pub(super) fn duration(target: &str, value: &Value) -> Result<SignedDuration, ApiError> {
    let found = match value {
        Value::Number(number) => number
            .as_f64()
            .and_then(|seconds| SignedDuration::try_from_secs_f64(seconds).ok()),
        Value::String(text) => text.parse::<jiff::Span>().ok().and_then(|span| {
            let days = SpanRelativeTo::days_are_24_hours();
            span.to_duration(days).ok()
        }),
        _ => None,
    };
    found.ok_or_else(|| {
        let expected = "an ISO 8601 duration without months and years, such as \"PT10S\" or \"-P1D\", or a number of seconds";
        invalid(target, format!("'{target}' is {value}; expected is {expected}"))
    })
}

/// A time of day that the clock may show, in ticks.
pub(super) fn time(target: &str, text: &str) -> Result<i64, ApiError> {
    let time = datetime::parse(text).ok_or_else(|| {
        invalid(
            target,
            format!(
                "'{target}' is \"{text}\"; expected is a time such as \"2026-03-01T12:00:00Z\""
            ),
        )
    })?;
    in_range(target, time)
}

/// The time, if the clock may show it.
pub(super) fn in_range(target: &str, time: i64) -> Result<i64, ApiError> {
    if may_show(time) {
        return Ok(time);
    }
    Err(invalid(
        target,
        format!(
            "The clock of test mode shows times from the year 1970 to the year {}",
            LATEST - 1
        ),
    ))
}
