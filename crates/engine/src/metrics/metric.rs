//! What a metric is: its source, unit, aggregations and dimensions (`D8`, `D9`, `D10`).

use hindsight_store::Table;

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
