//! Errors of requests. The server turns them into status codes and JSON in one place.

use std::time::Duration;

use hindsight_kql_syntax::Diagnostic;

/// An engine error.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EngineError {
    /// The KQL text is wrong: 400 with line, position and token.
    #[error("{}", first_message(diagnostics))]
    Query {
        /// The text that the spans point into.
        text: String,
        /// All errors that were found, at least one.
        diagnostics: Vec<Diagnostic>,
    },
    /// A parameter is wrong: 400.
    #[error("{message}")]
    BadParameter {
        /// Which: `timespan`, `$filter`, …
        parameter: String,
        /// A sentence that says what is wrong and what would be right.
        message: String,
        /// Where in the parameter's text, in characters from 0.
        position: Option<usize>,
    },
    /// The metric, event type or event does not exist: 404.
    #[error("{0}")]
    NotFound(String),
    /// The principal may not read an application of the query: 403 without details.
    #[error("The provided credentials have insufficient access to perform the requested operation")]
    Forbidden,
    /// Ran longer than allowed: 504.
    #[error("The query ran longer than {}", in_words(*limit))]
    TimedOut {
        /// The limit that was in force.
        limit: Duration,
    },
    /// Needs more than the configured resources: 400 with the limit's name and value.
    #[error("{0}")]
    ResourcesExceeded(String),
    /// A run-time failure that the query asked for (`assert`): 400.
    #[error("{0}")]
    Failed(String),
    /// Telemetry that the answer depends on cannot be read, because a segment of the store is damaged (`D34`): 500.
    #[error("{0}")]
    Unreadable(String),
    /// Telemetry that the answer depends on cannot be read now: another node that holds rows of the query cannot be reached, or the object
    /// store does not serve a segment: 503.
    #[error("{0}")]
    Unavailable(String),
    /// An internal failure: 500; the text goes to the log, not to the caller.
    #[error("internal error: {0}")]
    Internal(String),
}

/// `5 s`; less than whole seconds in milliseconds, `1500 ms`.
fn in_words(limit: Duration) -> String {
    if limit.subsec_nanos() == 0 {
        format!("{} s", limit.as_secs())
    } else {
        format!("{} ms", limit.as_millis().max(1))
    }
}

fn first_message(diagnostics: &[Diagnostic]) -> String {
    diagnostics.first().map_or_else(
        || "The query is not valid".to_owned(),
        |d| d.message.clone(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_names_its_limit_in_full() {
        for (milliseconds, limit) in [(5_000, "5 s"), (1, "1 ms"), (1_500, "1500 ms")] {
            let limit_of = Duration::from_millis(milliseconds);
            let message = EngineError::TimedOut { limit: limit_of }.to_string();
            assert_eq!(message, format!("The query ran longer than {limit}"));
        }
    }
}
