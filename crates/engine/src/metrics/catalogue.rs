//! The metrics that exist, with unit, aggregations and dimensions (`D8`, `D9`, `D10`).

use super::dimension_names::{CUSTOM_EVENT, CUSTOM_METRIC, PERFORMANCE_COUNTER, WHERE_AND_WHO};
use super::metric::{Aggregation, Metric, MetricSource};
use super::standard::{COUNTER, CUSTOM, Row, STANDARD, standard};

/// The metric that `id` names: a standard one under any of its names, or an application's own (`D8`). `None` where an id
/// with a slash names nothing.
pub fn find(id: &str) -> Option<Metric> {
    let named = |row: &&Row| row.id == id || row.aliases.contains(&id);
    if let Some(row) = STANDARD.iter().find(named) {
        // What was asked for under its other name is answered under that.
        return Some(Metric {
            id: id.to_owned(),
            ..standard(row)
        });
    }
    let custom = |source: MetricSource, own: &[&'static str], supported| Metric {
        id: id.to_owned(),
        aliases: &[],
        display_name: id.rsplit('/').next().unwrap_or(id).to_owned(),
        unit: None,
        default: Aggregation::Avg,
        supported,
        source,
        dimensions: [own, WHERE_AND_WHO].concat(),
        custom_dimensions: true,
    };
    let rest = |prefix: &str| {
        id.strip_prefix(prefix)
            .filter(|rest| !rest.is_empty())
            .map(str::to_owned)
    };
    if let Some(key) = rest("customEvents/custom/") {
        return Some(custom(
            MetricSource::Measurement { key },
            CUSTOM_EVENT,
            CUSTOM,
        ));
    }
    if let Some(name) = rest("customMetrics/") {
        return Some(custom(
            MetricSource::CustomMetric { name },
            CUSTOM_METRIC,
            CUSTOM,
        ));
    }
    if let Some(name) = rest("performanceCounters/") {
        return Some(custom(
            MetricSource::Counter {
                windows: None,
                name,
            },
            PERFORMANCE_COUNTER,
            COUNTER,
        ));
    }
    let bare = !id.is_empty() && !id.contains('/');
    bare.then(|| {
        custom(
            MetricSource::Bare {
                name: id.to_owned(),
            },
            &[],
            CUSTOM,
        )
    })
}

/// The name where `id` is a bare one, which may be a measurement or a custom metric (`D8`).
pub(crate) fn bare_name(id: &str) -> Option<String> {
    match find(id)?.source {
        MetricSource::Bare { name } => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::standard::standard_metrics;
    use super::*;

    #[test]
    fn both_families_of_names_are_one_metric() {
        for (asked, answered) in [
            ("requests/count", Some("requests/count")),
            ("client/totalDuration", Some("client/totalDuration")),
            ("billing/telemetryCount", Some("billing/telemetryCount")),
            (
                "customMetrics/queue length",
                Some("customMetrics/queue length"),
            ),
            ("customEvents/custom/size", Some("customEvents/custom/size")),
            ("size", Some("size")),
            ("requests/nothing", None),
            ("customMetrics/", None),
            ("", None),
        ] {
            assert_eq!(find(asked).map(|m| m.id).as_deref(), answered, "{asked}");
        }
    }

    #[test]
    fn ids_are_unique_and_defaults_are_supported() {
        let all = standard_metrics();
        for metric in &all {
            assert!(metric.supported.contains(&metric.default), "{}", metric.id);
            assert_eq!(
                all.iter().filter(|m| m.id == metric.id).count(),
                1,
                "{}",
                metric.id
            );
        }
    }
}
