//! A metric request read and checked: what `MetricParameters` says in texts, as data.

use hindsight_kql_syntax::ast::Expr;
use hindsight_kql_types::ticks::TICKS_PER_SECOND;

use super::bins;
use super::catalogue;
use super::dimension::Dimension;
use super::metric::{Aggregation, Metric};
use crate::error::EngineError;
use crate::odata;
use crate::request::{MetricParameters, TimeRange};
use crate::time::{Period, is_duration, parse_duration, parse_period};

/// How many segments a request gets that does not say (`D12`).
const DEFAULT_TOP: usize = 10;

/// A metric request, ready to be translated.
#[derive(Debug, Clone)]
pub(crate) struct MetricPlan {
    /// The metric.
    pub(crate) metric: Metric,
    /// The time that is used.
    pub(crate) range: TimeRange,
    /// The interval that is used, ticks.
    pub(crate) interval: Option<i64>,
    /// The aggregations in order.
    pub(crate) aggregations: Vec<Aggregation>,
    /// The dimensions, outermost first.
    pub(crate) segments: Vec<Dimension>,
    /// How many outer segments.
    pub(crate) top: usize,
    /// What segments are ordered by.
    pub(crate) order: Aggregation,
    /// Smallest first.
    pub(crate) ascending: bool,
    /// The filter over dimensions.
    pub(crate) filter: Option<Expr>,
}

/// Reads a request at `now`; `oldest` is the start of retention.
pub(crate) fn plan(
    parameters: &MetricParameters,
    now: i64,
    oldest: i64,
) -> Result<MetricPlan, EngineError> {
    let metric = catalogue::find(&parameters.metric).ok_or_else(|| {
        EngineError::NotFound(format!("There is no metric '{}'.", parameters.metric))
    })?;
    let aggregations = aggregations(&parameters.aggregation, &metric)?;
    let segments = segments(&parameters.segment, &metric)?;
    let range = used_range(parameters.timespan.as_deref(), now, oldest)?;
    let interval = parameters
        .interval
        .as_deref()
        .map(|text| interval(text, range))
        .transpose()?;
    if segments.is_empty() {
        refuse_without_segments(parameters)?;
    }
    let top = top(parameters.top)?;
    let (order, ascending) = order(parameters.orderby.as_deref(), &aggregations, &metric)?;
    let filter = parameters
        .filter
        .as_deref()
        .map(|text| filter(text, &metric))
        .transpose()?;
    Ok(MetricPlan {
        metric,
        range,
        interval,
        aggregations,
        segments,
        top,
        order,
        ascending,
        filter,
    })
}

fn bad(parameter: &str, message: String) -> EngineError {
    EngineError::BadParameter {
        parameter: parameter.to_owned(),
        message,
        position: None,
    }
}

fn aggregations(written: &[String], metric: &Metric) -> Result<Vec<Aggregation>, EngineError> {
    if written.is_empty() {
        return Ok(vec![metric.default]);
    }
    let mut found = Vec::new();
    for text in written {
        let aggregation = supported(text, metric).map_err(|message| bad("aggregation", message))?;
        if !found.contains(&aggregation) {
            found.push(aggregation);
        }
    }
    Ok(found)
}

fn supported(text: &str, metric: &Metric) -> Result<Aggregation, String> {
    Aggregation::parse(text.trim())
        .filter(|a| metric.supported.contains(a))
        .ok_or_else(|| {
            let names: Vec<&str> = metric.supported.iter().map(|a| a.name()).collect();
            format!(
                "The metric '{}' has no aggregation '{}'. It has: {}.",
                metric.id,
                text.trim(),
                names.join(", ")
            )
        })
}

fn segments(written: &[String], metric: &Metric) -> Result<Vec<Dimension>, EngineError> {
    let mut found: Vec<Dimension> = Vec::new();
    for text in written.iter().map(|text| text.trim()) {
        let dimension = dimension(text, metric).map_err(|message| bad("segment", message))?;
        if found.contains(&dimension) {
            return Err(bad(
                "segment",
                format!("The dimension '{text}' is listed twice."),
            ));
        }
        found.push(dimension);
    }
    Ok(found)
}

fn dimension(text: &str, metric: &Metric) -> Result<Dimension, String> {
    Dimension::find(text, metric).ok_or_else(|| {
        let applicable = metric.dimensions.join(", ");
        let custom = if metric.custom_dimensions {
            ", customDimensions/<key>"
        } else {
            ""
        };
        format!(
            "The dimension '{text}' does not apply to '{}'. These do: {applicable}{custom}.",
            metric.id
        )
    })
}

/// The time of the request: the last 12 hours without one, cut to now and to what is kept (`D11`).
fn used_range(timespan: Option<&str>, now: i64, oldest: i64) -> Result<TimeRange, EngineError> {
    let period = timespan.map_or(Ok(Period::hours(12)), parse_period)?;
    let range = period.resolve(now);
    let end = range.end.min(now);
    let start = range.start.max(oldest).min(end);
    Ok(TimeRange { start, end })
}

fn interval(text: &str, range: TimeRange) -> Result<i64, EngineError> {
    let ticks = parse_duration(text).ok_or_else(|| {
        let message = if is_duration(text) {
            format!("'{text}' has no fixed length, which an interval needs: use days in place of months and years.")
        } else {
            format!("'{text}' is not an ISO 8601 duration such as PT5M, PT1H or P1D.")
        };
        bad("interval", message)
    })?;
    if ticks < TICKS_PER_SECOND {
        return Err(bad(
            "interval",
            format!("The interval '{text}' is shorter than one second, the least there is."),
        ));
    }
    Ok(bins::adjust(ticks, range))
}

fn refuse_without_segments(parameters: &MetricParameters) -> Result<(), EngineError> {
    let written = [
        ("top", parameters.top.is_some()),
        ("orderby", parameters.orderby.is_some()),
    ];
    match written.iter().find(|(_, present)| *present) {
        Some((name, _)) => Err(bad(name, format!("'{name}' is valid only with 'segment'."))),
        None => Ok(()),
    }
}

fn top(written: Option<i64>) -> Result<usize, EngineError> {
    match written {
        None => Ok(DEFAULT_TOP),
        Some(n) => usize::try_from(n)
            .ok()
            .filter(|n| (1..=10_000).contains(n))
            .ok_or_else(|| bad("top", format!("'top' is {n}; it must be from 1 to 10000."))),
    }
}

fn order(
    written: Option<&str>,
    asked: &[Aggregation],
    metric: &Metric,
) -> Result<(Aggregation, bool), EngineError> {
    let first = asked.first().copied().unwrap_or(metric.default);
    let Some(text) = written else {
        return Ok((first, false));
    };
    let mut words = text.split_whitespace();
    let aggregation =
        supported(words.next().unwrap_or(""), metric).map_err(|message| bad("orderby", message))?;
    let ascending = match words.next().map(str::to_ascii_lowercase).as_deref() {
        None | Some("desc") => false,
        Some("asc") => true,
        Some(other) => {
            return Err(bad(
                "orderby",
                format!("'{other}' is not a direction; use asc or desc."),
            ));
        }
    };
    if words.next().is_some() {
        return Err(bad(
            "orderby",
            format!("'{text}' is not an aggregation and a direction, such as 'sum desc'."),
        ));
    }
    Ok((aggregation, ascending))
}

fn filter(text: &str, metric: &Metric) -> Result<Expr, EngineError> {
    odata::dimension_filter(text, &|path| dimension(path, metric).map(|d| d.to_kql()))
}
