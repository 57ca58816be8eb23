//! Why a payload cannot be read, and why single items of it are not stored.

use hindsight_rows::{MIN_SAMPLE_RATE, OutsideWindow, Window};

/// The payload is no OTLP message: the whole request is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The bytes are not in protobuf's wire format, or hold what it no longer permits (groups).
    #[error("The payload is not valid protobuf: {0}")]
    Wire(&'static str),
    /// A text is not UTF-8.
    #[error("The payload is not valid protobuf: a string is not UTF-8")]
    Utf8,
    /// The text is not JSON, or not this message's JSON.
    #[error("The payload is not valid OTLP JSON: {0}")]
    Json(String),
    /// Values within values.
    #[error("The payload has a value that is nested more than {limit} levels deep")]
    TooDeep {
        /// The most levels.
        limit: usize,
    },
}

/// Why one item is not stored while others are.
#[derive(Debug, Clone, PartialEq)]
pub enum Rejection {
    /// The item's encoded form is too large.
    TooLarge {
        /// What it is.
        what: &'static str,
        /// Its bytes.
        bytes: usize,
        /// The most bytes.
        limit: usize,
    },
    /// The item's time is not accepted.
    Time {
        /// What it is.
        what: &'static str,
        /// Where the time lies.
        outside: OutsideWindow,
        /// What is accepted.
        window: Window,
    },
    /// A span without a valid trace id or span id.
    NoId,
    /// The share of items that sampling kept is too small.
    SampleRate,
    /// A metric without a name.
    NoName,
    /// A metric whose temporality is not given.
    NoTemporality,
    /// The application has too many cumulative series.
    TooManySeries {
        /// The most series.
        limit: usize,
    },
}

impl Rejection {
    /// Whether the item may be sent again later if the clock of the server is not trusted (`D33`).
    pub fn is_about_time(&self) -> bool {
        matches!(self, Rejection::Time { .. })
    }
}

impl std::fmt::Display for Rejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        /// Ticks in a second.
        const SECOND: i64 = 10_000_000;
        match self {
            Rejection::TooLarge { what, bytes, limit } => write!(
                f,
                "A {what} has {bytes} bytes, more than the limit of {limit} (`ingest.max_item_bytes`)"
            ),
            Rejection::Time {
                what,
                outside: OutsideWindow::TooOld(age),
                window,
            } => write!(
                f,
                "A {what} is {} s old, older than the limit of {} s (`ingest.max_age`, `retention.age`)",
                age / SECOND,
                window.max_age / SECOND
            ),
            Rejection::Time {
                what,
                outside: OutsideWindow::TooNew(ahead),
                window,
            } => write!(
                f,
                "A {what} is {} s ahead of now, more than the limit of {} s (`ingest.max_ahead`)",
                ahead / SECOND,
                window.max_ahead / SECOND
            ),
            Rejection::NoId => f.write_str(
                "A span has no valid trace id of 16 bytes or no valid span id of 8 bytes",
            ),
            Rejection::SampleRate => write!(
                f,
                "An item has a sampling rate of less than {MIN_SAMPLE_RATE} percent"
            ),
            Rejection::NoName => f.write_str("A metric has no name"),
            Rejection::NoTemporality => {
                f.write_str("A metric does not tell its aggregation temporality")
            }
            Rejection::TooManySeries { limit } => write!(
                f,
                "The application has more than {limit} cumulative series (`otlp.max_series`); senders with delta temporality (OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE=delta) need none"
            ),
        }
    }
}
