//! How many rows and how much time a request takes, and what is said where it did not say itself (`D13`).

use hindsight_kql_types::ticks::TICKS_PER_HOUR;

use crate::error::EngineError;
use crate::odata::{Fault, whole_number};
use crate::request::{EventsParameters, TimeRange};
use crate::time::parse_period;

/// The rows of a request without `$top`.
const DEFAULT_ROWS: usize = 500;
/// The most rows of a reply.
const MOST_ROWS: usize = 10_000;
/// The most rows that are passed over: they are read and sorted before they are dropped.
const MOST_SKIPPED: usize = 100_000;
/// The time before now that is read where the request says nothing of time.
const DEFAULT_TIME: i64 = 12 * TICKS_PER_HOUR;
/// The code of what was added.
const ADDED_LIMIT: &str = "AddedLimitToQuery";
/// The code of what was left out.
const NOT_APPLICABLE: &str = "FilterNotApplicable";

/// What bounds the rows of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowLimits {
    /// Rows of the reply.
    pub(super) top: usize,
    /// Rows before the first of the reply.
    pub(super) skip: usize,
}

/// `$top` and `$skip`. Says so in `messages` where there is no `$top`.
pub(super) fn rows(
    parameters: &EventsParameters,
    messages: &mut Vec<(String, String)>,
) -> Result<RowLimits, EngineError> {
    let number = |text: &str, most: usize, parameter: &str| {
        whole_number(text, most).map_err(|f: Fault| f.of(parameter))
    };
    let skip = parameters
        .skip
        .as_deref()
        .map_or(Ok(0), |text| number(text, MOST_SKIPPED, "$skip"))?;
    let top = match &parameters.top {
        Some(text) => number(text, MOST_ROWS, "$top")?,
        None => {
            messages.push(added(format!(
                "The query was limited to {DEFAULT_ROWS} rows"
            )));
            DEFAULT_ROWS
        }
    };
    Ok(RowLimits { top, skip })
}

/// The time of a request; none where only its filter bounds it. Says so in `messages` where nothing does.
pub(super) fn time(
    timespan: Option<&str>,
    filter_has_time: bool,
    now: i64,
    messages: &mut Vec<(String, String)>,
) -> Result<Option<TimeRange>, EngineError> {
    if let Some(text) = timespan {
        return parse_period(text).map(|period| Some(period.resolve(now)));
    }
    if filter_has_time {
        return Ok(None);
    }
    let text = "The query was limited to last 12 hours, since no other limit for timestamp field was specified";
    messages.push(added(text.to_owned()));
    Ok(Some(TimeRange {
        start: now.saturating_sub(DEFAULT_TIME),
        end: now,
    }))
}

/// What is said of a condition that is of other event types.
pub(super) fn not_applicable(event_type: &str, paths: &[&str]) -> (String, String) {
    let message = format!(
        "A condition of $filter on {} was left out, since events of the type {event_type} have no such property",
        paths.join(", ")
    );
    (NOT_APPLICABLE.to_owned(), message)
}

fn added(message: String) -> (String, String) {
    (ADDED_LIMIT.to_owned(), message)
}
