//! The metrics that exist, with unit, aggregations and dimensions (`D8`, `D9`, `D10`).

use super::dimension::COMMON_DIMENSIONS;

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
    /// Its own dimensions; the common ones apply besides where `common` says so.
    pub own_dimensions: &'static [&'static str],
    /// Whether [`COMMON_DIMENSIONS`] apply.
    pub common: bool,
}

impl Metric {
    /// Every dimension path that applies, but for `customDimensions/<key>`, which always does on sources that have bags.
    pub fn dimensions(&self) -> Vec<&'static str> {
        let common = if self.common { COMMON_DIMENSIONS } else { &[] };
        self.own_dimensions.iter().chain(common).copied().collect()
    }
}

use Aggregation::{Avg, Count, Max, Min, Sum, Unique};

const SUM: &[Aggregation] = &[Sum];
const UNIQUE: &[Aggregation] = &[Unique];
const DURATION: &[Aggregation] = &[Avg, Min, Max, Sum, Count];
const COUNTER: &[Aggregation] = &[Avg, Min, Max, Count];
const CUSTOM: &[Aggregation] = &[Avg, Min, Max, Sum, Count, Unique];

const REQUEST: &[&str] = &[
    "request/source",
    "request/name",
    "request/urlHost",
    "request/urlPath",
    "request/success",
    "request/resultCode",
    "request/performanceBucket",
];
const PAGE_VIEW: &[&str] = &[
    "pageView/name",
    "pageView/urlPath",
    "pageView/urlHost",
    "pageView/performanceBucket",
];
const BROWSER_TIMING: &[&str] = &[
    "browserTiming/name",
    "browserTiming/urlHost",
    "browserTiming/urlPath",
    "browserTiming/performanceBucket",
];
const DEPENDENCY: &[&str] = &[
    "dependency/target",
    "dependency/type",
    "dependency/name",
    "dependency/success",
    "dependency/resultCode",
    "dependency/performanceBucket",
];
const EXCEPTION: &[&str] = &[
    "exception/problemId",
    "exception/handledAt",
    "exception/type",
    "exception/assembly",
    "exception/method",
    "exception/severityLevel",
];
const AVAILABILITY: &[&str] = &[
    "availabilityResult/name",
    "availabilityResult/location",
    "availabilityResult/success",
];
const BILLING: &[&str] = &["billing/telemetryItemSource", "billing/telemetryItemType"];
const PERFORMANCE_COUNTER: &[&str] = &[
    "performanceCounter/name",
    "performanceCounter/category",
    "performanceCounter/counter",
    "performanceCounter/instance",
];
const CUSTOM_METRIC: &[&str] = &["customMetric/name"];
const CUSTOM_EVENT: &[&str] = &["customEvent/name"];
const TRACE: &[&str] = &["trace/severityLevel"];
/// What people leave: every dimension of every table but performance counters.
const PEOPLE: &[&str] = &[
    "trace/severityLevel",
    "type",
    "request/source",
    "request/name",
    "request/urlHost",
    "request/urlPath",
    "request/success",
    "request/resultCode",
    "request/performanceBucket",
    "pageView/name",
    "pageView/urlPath",
    "pageView/urlHost",
    "pageView/performanceBucket",
    "dependency/target",
    "dependency/type",
    "dependency/name",
    "dependency/success",
    "dependency/resultCode",
    "dependency/performanceBucket",
    "customEvent/name",
    "availabilityResult/name",
    "availabilityResult/location",
    "availabilityResult/success",
    "exception/problemId",
    "exception/handledAt",
    "exception/type",
    "exception/assembly",
    "exception/method",
    "exception/severityLevel",
    "browserTiming/name",
    "browserTiming/urlHost",
    "browserTiming/urlPath",
    "browserTiming/performanceBucket",
];

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

struct Row(
    &'static str,
    &'static [&'static str],
    &'static str,
    Option<&'static str>,
    &'static [Aggregation],
    Kind,
    &'static [&'static str],
);

enum Kind {
    Items(&'static str, RowFilter),
    Column(&'static str, &'static str),
    Distinct(&'static str),
    Availability,
    TelemetryItems,
    Counter(&'static str, &'static str, &'static str),
}

use Kind::{Availability, Column, Counter, Distinct, Items, TelemetryItems};

#[rustfmt::skip]
static STANDARD: &[Row] = &[
    Row("requests/count", &[], "Server requests", None, SUM, Items("requests", RowFilter::All), REQUEST),
    Row("requests/duration", &[], "Server response time", Some("ms"), DURATION, Column("requests", "duration"), REQUEST),
    Row("requests/failed", &[], "Failed requests", None, SUM, Items("requests", RowFilter::Failed), REQUEST),
    Row("pageViews/count", &[], "Page views", None, SUM, Items("pageViews", RowFilter::All), PAGE_VIEW),
    Row("pageViews/duration", &[], "Page view load time", Some("ms"), DURATION, Column("pageViews", "duration"), PAGE_VIEW),
    Row("browserTimings/networkDuration", &["client/networkDuration"], "Page load network connect time", Some("ms"), DURATION, Column("browserTimings", "networkDuration"), BROWSER_TIMING),
    Row("browserTimings/sendDuration", &["client/sendDuration"], "Send request time", Some("ms"), DURATION, Column("browserTimings", "sendDuration"), BROWSER_TIMING),
    Row("browserTimings/receiveDuration", &["client/receiveDuration"], "Receiving response time", Some("ms"), DURATION, Column("browserTimings", "receiveDuration"), BROWSER_TIMING),
    Row("browserTimings/processingDuration", &["client/processingDuration"], "Client processing time", Some("ms"), DURATION, Column("browserTimings", "processingDuration"), BROWSER_TIMING),
    Row("browserTimings/totalDuration", &["client/totalDuration"], "Browser page load time", Some("ms"), DURATION, Column("browserTimings", "totalDuration"), BROWSER_TIMING),
    Row("users/count", &[], "Users", None, UNIQUE, Distinct("user_Id"), PEOPLE),
    Row("users/authenticated", &[], "Users, authenticated", None, UNIQUE, Distinct("user_AuthenticatedId"), PEOPLE),
    Row("sessions/count", &[], "Sessions", None, UNIQUE, Distinct("session_Id"), PEOPLE),
    Row("customEvents/count", &[], "Events", None, SUM, Items("customEvents", RowFilter::All), CUSTOM_EVENT),
    Row("dependencies/count", &[], "Dependency calls", None, SUM, Items("dependencies", RowFilter::All), DEPENDENCY),
    Row("dependencies/failed", &[], "Dependency failures", None, SUM, Items("dependencies", RowFilter::Failed), DEPENDENCY),
    Row("dependencies/duration", &[], "Dependency duration", Some("ms"), DURATION, Column("dependencies", "duration"), DEPENDENCY),
    Row("exceptions/count", &[], "Exceptions", None, SUM, Items("exceptions", RowFilter::All), EXCEPTION),
    Row("exceptions/browser", &[], "Browser exceptions", None, SUM, Items("exceptions", RowFilter::Browser), EXCEPTION),
    Row("exceptions/server", &[], "Server exceptions", None, SUM, Items("exceptions", RowFilter::Server), EXCEPTION),
    Row("availabilityResults/count", &[], "Availability test results count", None, SUM, Items("availabilityResults", RowFilter::All), AVAILABILITY),
    Row("availabilityResults/duration", &[], "Test duration", Some("ms"), DURATION, Column("availabilityResults", "duration"), AVAILABILITY),
    Row("availabilityResults/availabilityPercentage", &[], "Availability", Some("percent"), &[Avg, Count], Availability, AVAILABILITY),
    Row("billingMeters/telemetryCount", &["billing/telemetryCount"], "Data point count", None, SUM, TelemetryItems, BILLING),
    Row("performanceCounters/requestExecutionTime", &[], "ASP.NET request execution time", Some("ms"), DURATION, Counter("ASP.NET Applications", "Request Execution Time", "requestExecutionTime"), PERFORMANCE_COUNTER),
    Row("performanceCounters/requestsPerSecond", &[], "ASP.NET request rate", Some("perSec"), COUNTER, Counter("ASP.NET Applications", "Requests/Sec", "requestsPerSecond"), PERFORMANCE_COUNTER),
    Row("performanceCounters/requestsInQueue", &[], "ASP.NET requests in application queue", None, COUNTER, Counter("ASP.NET Applications", "Requests In Application Queue", "requestsInQueue"), PERFORMANCE_COUNTER),
    Row("performanceCounters/memoryAvailableBytes", &[], "Available memory", Some("bytes"), COUNTER, Counter("Memory", "Available Bytes", "availableMemory"), PERFORMANCE_COUNTER),
    Row("performanceCounters/exceptionsPerSecond", &[], "Exception rate", Some("perSec"), COUNTER, Counter(".NET CLR Exceptions", "# of Exceps Thrown / sec", "exceptionRate"), PERFORMANCE_COUNTER),
    Row("performanceCounters/processCpuPercentage", &[], "Process CPU", Some("percent"), COUNTER, Counter("Process", "% Processor Time Normalized", "processCpuPercentage"), PERFORMANCE_COUNTER),
    Row("performanceCounters/processCpuPercentageTotal", &[], "Process CPU (all cores)", Some("percent"), COUNTER, Counter("Process", "% Processor Time", "processCpuPercentageTotal"), PERFORMANCE_COUNTER),
    Row("performanceCounters/processIOBytesPerSecond", &[], "Process IO rate", Some("bytesPerSec"), COUNTER, Counter("Process", "IO Data Bytes/sec", "processIOBytesPerSecond"), PERFORMANCE_COUNTER),
    Row("performanceCounters/processPrivateBytes", &[], "Process private bytes", Some("bytes"), COUNTER, Counter("Process", "Private Bytes", "processPrivateBytes"), PERFORMANCE_COUNTER),
    Row("performanceCounters/processorCpuPercentage", &[], "Processor time", Some("percent"), COUNTER, Counter("Processor", "% Processor Time", "processorCpuPercentage"), PERFORMANCE_COUNTER),
    Row("traces/count", &[], "Traces", None, SUM, Items("traces", RowFilter::All), TRACE),
];

/// The metrics that every application has.
pub fn standard_metrics() -> Vec<Metric> {
    STANDARD.iter().map(standard).collect()
}

fn standard(row: &Row) -> Metric {
    let source = match row.5 {
        Items(table, filter) => MetricSource::Items { table, filter },
        Column(table, column) => MetricSource::Column { table, column },
        Distinct(column) => MetricSource::Distinct { column },
        Availability => MetricSource::AvailabilityPercentage,
        TelemetryItems => MetricSource::TelemetryItems,
        Counter(category, counter, name) => MetricSource::Counter {
            windows: Some((category, counter)),
            name: name.to_owned(),
        },
    };
    Metric {
        id: row.0.to_owned(),
        aliases: row.1,
        display_name: row.2.to_owned(),
        unit: row.3,
        default: row.4.first().copied().unwrap_or(Sum),
        supported: row.4,
        source,
        own_dimensions: row.6,
        common: !matches!(row.5, TelemetryItems),
    }
}

/// The metric that `id` names: a standard one under any of its names, or an application's own (`D8`). `None` where an id
/// with a slash names nothing.
pub fn find(id: &str) -> Option<Metric> {
    if let Some(row) = STANDARD
        .iter()
        .find(|row| row.0 == id || row.1.contains(&id))
    {
        return Some(standard(row));
    }
    let custom = |source: MetricSource, own_dimensions, supported| Metric {
        id: id.to_owned(),
        aliases: &[],
        display_name: id.rsplit('/').next().unwrap_or(id).to_owned(),
        unit: None,
        default: Avg,
        supported,
        source,
        own_dimensions,
        common: true,
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
    use super::*;

    #[test]
    fn both_families_of_names_are_one_metric() {
        for (asked, answered) in [
            ("requests/count", Some("requests/count")),
            ("client/totalDuration", Some("browserTimings/totalDuration")),
            (
                "billing/telemetryCount",
                Some("billingMeters/telemetryCount"),
            ),
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
