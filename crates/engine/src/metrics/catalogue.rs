//! The metrics that exist, with unit, aggregations and dimensions (`D8`, `D9`, `D10`).

use hindsight_store::Table;

use super::dimension_names::{CUSTOM_EVENT, CUSTOM_METRIC, PERFORMANCE_COUNTER, WHERE_AND_WHO};
use super::standard::{COUNTER, CUSTOM, Row, STANDARD, standard};

/// How the items of a metric are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Aggregation {
    /// The mean, weighted by `itemCount` where the metric is sampled.
    Avg,
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// The sum.
    Sum,
    /// The number of items.
    Count,
    /// The number of distinct values.
    Unique,
}

impl Aggregation {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Aggregation::Avg => "avg",
            Aggregation::Min => "min",
            Aggregation::Max => "max",
            Aggregation::Sum => "sum",
            Aggregation::Count => "count",
            Aggregation::Unique => "unique",
        }
    }

    /// The aggregation called `name`, in any case.
    pub fn parse(name: &str) -> Option<Aggregation> {
        use Aggregation::{Avg, Count, Max, Min, Sum, Unique};
        [Avg, Min, Max, Sum, Count, Unique]
            .into_iter()
            .find(|a| a.name().eq_ignore_ascii_case(name))
    }
}

/// What a metric is computed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetricSource {
    /// `sum(itemCount)` of a table's rows.
    Items {
        /// The table.
        table: &'static str,
        /// Only rows that meet this.
        filter: RowFilter,
    },
    /// A real column of a table, weighted by `itemCount`.
    Column {
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
    },
    /// Distinct values of a column over the tables that people leave traces in.
    Distinct {
        /// The column.
        column: &'static str,
    },
    /// The share of availability tests that passed, in percent.
    AvailabilityPercentage,
    /// Items of every type, as they are billed.
    TelemetryItems,
    /// Their bytes: the lengths of all columns as text, but for those that the service adds and does not bill.
    TelemetrySize,
    /// A performance counter: the category and counter of Windows, or the short name of other SDKs.
    Counter {
        /// `category` and `counter` of the column pair, where the counter is a standard one.
        windows: Option<(&'static str, &'static str)>,
        /// `name`
        name: String,
    },
    /// A pre-aggregated custom metric.
    CustomMetric {
        /// Its name.
        name: String,
    },
    /// A measurement of custom events.
    Measurement {
        /// Its key.
        key: String,
    },
    /// A bare name: the custom metric or the measurement that has it, whichever exists.
    Bare {
        /// The name.
        name: String,
    },
}

/// Which rows of a table count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFilter {
    /// All.
    All,
    /// `success == 'False'`
    Failed,
    /// `client_Type == 'Browser'`
    Browser,
    /// `client_Type != 'Browser'`
    Server,
}

/// A metric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metric {
    /// The id under which it is answered.
    pub id: String,
    /// Its other ids (`D8`).
    pub aliases: &'static [&'static str],
    /// For people.
    pub display_name: String,
    /// `ms`, `bytes`, `percent`, …
    pub unit: Option<&'static str>,
    /// The aggregation where the request names none.
    pub default: Aggregation,
    /// The aggregations it has.
    pub supported: &'static [Aggregation],
    /// What it is computed from.
    pub source: MetricSource,
    /// The paths of the dimensions that apply, in the order of the service.
    pub dimensions: Vec<&'static str>,
    /// Whether `customDimensions/<key>` applies besides.
    pub custom_dimensions: bool,
}

impl Metric {
    /// The tables that it is computed from.
    pub fn tables(&self) -> Vec<&'static str> {
        match &self.source {
            MetricSource::Items { table, .. } | MetricSource::Column { table, .. } => vec![table],
            MetricSource::Distinct { .. } => PEOPLE_TABLES.to_vec(),
            MetricSource::AvailabilityPercentage => vec!["availabilityResults"],
            MetricSource::TelemetryItems | MetricSource::TelemetrySize => {
                Table::ALL.map(Table::name).to_vec()
            }
            MetricSource::Counter { .. } => vec!["performanceCounters"],
            MetricSource::CustomMetric { .. } => vec!["customMetrics"],
            MetricSource::Measurement { .. } => vec!["customEvents"],
            MetricSource::Bare { .. } => vec!["customEvents", "customMetrics"],
        }
    }
}

/// The tables that people leave traces in: all but performance counters.
pub(super) const PEOPLE_TABLES: &[&str] = &[
    "traces",
    "requests",
    "pageViews",
    "dependencies",
    "customEvents",
    "availabilityResults",
    "exceptions",
    "customMetrics",
    "browserTimings",
];

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
