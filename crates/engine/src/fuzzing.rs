//! What the fuzz targets call, compiled for them alone (`cfg(fuzzing)`): the translation of requests, without a store.

use crate::error::EngineError;
use crate::request::{EventsParameters, MetricParameters};
use crate::{events, metrics};

/// The KQL of a request for events at `now` (ticks): the query, and that of the count.
///
/// # Errors
/// As the request itself.
pub fn events_as_kql(
    parameters: &EventsParameters,
    now: i64,
) -> Result<Vec<hindsight_kql_syntax::ast::Query>, EngineError> {
    let plan = events::plan(parameters, now)?;
    Ok(std::iter::once(plan.query).chain(plan.count).collect())
}

/// The KQL of a request for a metric at `now`, with data since `oldest` (ticks).
///
/// # Errors
/// As the request itself.
pub fn metric_as_kql(
    parameters: &MetricParameters,
    now: i64,
    oldest: i64,
) -> Result<hindsight_kql_syntax::ast::Query, EngineError> {
    Ok(metrics::to_kql(&metrics::plan(parameters, now, oldest)?))
}
