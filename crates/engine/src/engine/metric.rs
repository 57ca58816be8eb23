//! Metrics.

use hindsight_kql_types::ticks::TICKS_PER_SECOND;

use super::QueryEngine;
use crate::deadline::Deadline;
use crate::error::EngineError;
use crate::metrics::{self, MetricPlan};
use crate::request::{Caller, MetricParameters};
use crate::result::{MetricBody, MetricResult, MetricSegment};
use crate::time::format_duration;

impl QueryEngine {
    /// Computes a metric.
    ///
    /// # Errors
    /// [`EngineError`] as its variants say.
    pub async fn metric(
        &self,
        caller: &Caller,
        parameters: &MetricParameters,
    ) -> Result<MetricResult, EngineError> {
        let deadline = Deadline::after(self.query_timeout(caller));
        deadline
            .bound(self.compute_metric(caller, parameters))
            .await
    }

    async fn compute_metric(
        &self,
        caller: &Caller,
        parameters: &MetricParameters,
    ) -> Result<MetricResult, EngineError> {
        let now = self.clock.now_ticks();
        let oldest = now
            - i64::try_from(self.config.retention.as_secs()).unwrap_or(i64::MAX / 2)
                * TICKS_PER_SECOND;
        let Some(name) = metrics::bare_name(&parameters.metric) else {
            let plan = metrics::plan(parameters, now, oldest)?;
            return self.run_metric(caller, &plan).await;
        };
        // A bare name is a measurement of custom events or a custom metric, whichever has data (`D8`).
        let mut refused = None;
        for id in [
            format!("customEvents/custom/{name}"),
            format!("customMetrics/{name}"),
        ] {
            let parameters = MetricParameters {
                metric: id,
                ..parameters.clone()
            };
            // A dimension may apply to the one and not to the other.
            match metrics::plan(&parameters, now, oldest) {
                Ok(plan) => {
                    let result = self.run_metric(caller, &plan).await?;
                    if has_data(&result.body) {
                        return Ok(result);
                    }
                    if !result.missing.is_empty() {
                        return Err(EngineError::Unreadable(format!(
                            "The telemetry that says what the metric '{name}' is cannot be read; it is damaged"
                        )));
                    }
                }
                Err(error) => refused = Some(error),
            }
        }
        Err(refused.unwrap_or_else(|| {
            EngineError::NotFound(format!(
                "There is no metric '{name}' and no data of that name in the timespan."
            ))
        }))
    }

    async fn run_metric(
        &self,
        caller: &Caller,
        plan: &MetricPlan,
    ) -> Result<MetricResult, EngineError> {
        let query = metrics::to_kql(plan);
        let text = query.to_string();
        let executed = self.run_for_caller(caller, &query, &text).await?;
        if let Some(partial) = executed.partial {
            return Err(EngineError::ResourcesExceeded(partial.message));
        }
        let table = executed
            .tables
            .first()
            .ok_or_else(|| EngineError::Internal("a metric without rows".to_owned()))?;
        let body = metrics::assemble(plan, table)?;
        Ok(MetricResult {
            metric: plan.metric.id.clone(),
            range: plan.range,
            interval: plan.interval.map(format_duration),
            aggregations: plan
                .aggregations
                .iter()
                .map(|a| a.name().to_owned())
                .collect(),
            messages: untold(plan, &body),
            body,
            query: text,
            missing: executed.missing,
        })
    }
}

/// A message for each dimension without a column that no item tells.
fn untold(plan: &MetricPlan, body: &MetricBody) -> Vec<(String, String)> {
    let segments = match body {
        MetricBody::Values(_) => Vec::new(),
        MetricBody::Segments(segments) => segments.iter().collect(),
        MetricBody::Buckets(buckets) => buckets.iter().flat_map(|b| &b.segments).collect(),
    };
    let mut level: Vec<&MetricSegment> = segments;
    let mut messages = Vec::new();
    for dimension in &plan.segments {
        let empty = !level.is_empty() && level.iter().all(|segment| segment.text.is_empty());
        if let (true, Some(advice)) = (empty, dimension.advice()) {
            messages.push(("DimensionNotRecorded".to_owned(), advice));
        }
        level = level.iter().flat_map(|segment| &segment.segments).collect();
    }
    messages
}

fn has_data(body: &MetricBody) -> bool {
    match body {
        MetricBody::Values(values) => values.iter().any(Option::is_some),
        MetricBody::Segments(segments) => !segments.is_empty(),
        MetricBody::Buckets(buckets) => !buckets.is_empty(),
    }
}
