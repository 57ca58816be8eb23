//! The metrics that every application has (`D8`, `D10`), in the order and with the names that were recorded.

use super::dimension_names::{
    AVAILABILITY, BILLING, BROWSER_TIMING, CUSTOM_EVENT, DEPENDENCY, EXCEPTION, PAGE_VIEW, PEOPLE,
    PERFORMANCE_COUNTER, REQUEST, TRACE, WHERE_AND_WHO,
};
use super::metric::{Aggregation, Metric, MetricSource, RowFilter};

use Aggregation::{Avg, Count, Max, Min, Sum, Unique};

const SUM: &[Aggregation] = &[Sum];
const UNIQUE: &[Aggregation] = &[Unique];
const DURATION: &[Aggregation] = &[Avg, Min, Max, Sum, Count];
/// Of counters.
pub(super) const COUNTER: &[Aggregation] = &[Avg, Min, Max, Count];
/// Of custom metrics and measurements.
pub(super) const CUSTOM: &[Aggregation] = &[Avg, Min, Max, Sum, Count, Unique];

/// A standard metric as it is written down.
pub(super) struct Row {
    /// The id under which it is answered.
    pub(super) id: &'static str,
    /// Its other ids.
    pub(super) aliases: &'static [&'static str],
    display_name: &'static str,
    unit: Option<&'static str>,
    supported: &'static [Aggregation],
    kind: Kind,
    dimensions: Dimensions,
}

const fn row(
    id: &'static str,
    aliases: &'static [&'static str],
    display_name: &'static str,
    unit: Option<&'static str>,
    supported: &'static [Aggregation],
    kind: Kind,
    dimensions: Dimensions,
) -> Row {
    Row {
        id,
        aliases,
        display_name,
        unit,
        supported,
        kind,
        dimensions,
    }
}

/// Which dimensions a metric has.
enum Dimensions {
    /// These, and those of nearly every metric.
    And(&'static [&'static str]),
    /// These alone.
    Only(&'static [&'static str]),
}

use Dimensions::{And, Only};

/// What a standard metric is computed from.
pub(super) enum Kind {
    Items(&'static str, RowFilter),
    Column(&'static str, &'static str),
    Distinct(&'static str),
    Availability,
    TelemetryItems,
    TelemetrySize,
    Counter(&'static str, &'static str, &'static str),
}

use Kind::{Availability, Column, Counter, Distinct, Items, TelemetryItems, TelemetrySize};

/// All of them, in the order of the service.
#[rustfmt::skip]
pub(super) static STANDARD: &[Row] = &[
    row("requests/count", &[], "Server requests", None, SUM, Items("requests", RowFilter::All), And(REQUEST)),
    row("requests/duration", &[], "Server response time", Some("ms"), DURATION, Column("requests", "duration"), And(REQUEST)),
    row("requests/failed", &[], "Failed requests", None, SUM, Items("requests", RowFilter::Failed), And(REQUEST)),
    row("pageViews/count", &[], "Page views", None, SUM, Items("pageViews", RowFilter::All), And(PAGE_VIEW)),
    row("pageViews/duration", &[], "Page view load time", Some("ms"), DURATION, Column("pageViews", "duration"), And(PAGE_VIEW)),
    row("browserTimings/networkDuration", &["client/networkDuration"], "Page load network connect time", Some("ms"), DURATION, Column("browserTimings", "networkDuration"), And(BROWSER_TIMING)),
    row("browserTimings/sendDuration", &["client/sendDuration"], "Send request time", Some("ms"), DURATION, Column("browserTimings", "sendDuration"), And(BROWSER_TIMING)),
    row("browserTimings/receiveDuration", &["client/receiveDuration"], "Receiving response time", Some("ms"), DURATION, Column("browserTimings", "receiveDuration"), And(BROWSER_TIMING)),
    row("browserTimings/processingDuration", &["client/processingDuration"], "Client processing time", Some("ms"), DURATION, Column("browserTimings", "processingDuration"), And(BROWSER_TIMING)),
    row("browserTimings/totalDuration", &["client/totalDuration"], "Browser page load time", Some("ms"), DURATION, Column("browserTimings", "totalDuration"), And(BROWSER_TIMING)),
    row("users/count", &[], "Users", None, UNIQUE, Distinct("user_Id"), Only(PEOPLE)),
    row("users/authenticated", &[], "Users, authenticated", None, UNIQUE, Distinct("user_AuthenticatedId"), Only(PEOPLE)),
    row("sessions/count", &[], "Sessions", None, UNIQUE, Distinct("session_Id"), Only(PEOPLE)),
    row("customEvents/count", &[], "Events", None, SUM, Items("customEvents", RowFilter::All), And(CUSTOM_EVENT)),
    row("dependencies/count", &[], "Dependency calls", None, SUM, Items("dependencies", RowFilter::All), And(DEPENDENCY)),
    row("dependencies/failed", &[], "Dependency failures", None, SUM, Items("dependencies", RowFilter::Failed), And(DEPENDENCY)),
    row("dependencies/duration", &[], "Dependency duration", Some("ms"), DURATION, Column("dependencies", "duration"), And(DEPENDENCY)),
    row("exceptions/count", &[], "Exceptions", None, SUM, Items("exceptions", RowFilter::All), And(EXCEPTION)),
    row("exceptions/browser", &[], "Browser exceptions", None, SUM, Items("exceptions", RowFilter::Browser), And(EXCEPTION)),
    row("exceptions/server", &[], "Server exceptions", None, SUM, Items("exceptions", RowFilter::Server), And(EXCEPTION)),
    row("availabilityResults/count", &[], "Availability test results count", None, SUM, Items("availabilityResults", RowFilter::All), And(AVAILABILITY)),
    row("availabilityResults/duration", &[], "Test duration", Some("ms"), DURATION, Column("availabilityResults", "duration"), And(AVAILABILITY)),
    row("availabilityResults/availabilityPercentage", &[], "Availability", Some("percent"), &[Avg, Count], Availability, And(AVAILABILITY)),
    row("billingMeters/telemetryCount", &["billing/telemetryCount"], "Data point count", None, SUM, TelemetryItems, Only(BILLING)),
    row("billingMeters/telemetrySize", &["billing/telemetrySize"], "Data point volume", Some("bytes"), SUM, TelemetrySize, Only(BILLING)),
    row("performanceCounters/requestExecutionTime", &[], "ASP.NET request execution time", Some("ms"), DURATION, Counter("ASP.NET Applications", "Request Execution Time", "requestExecutionTime"), And(PERFORMANCE_COUNTER)),
    row("performanceCounters/requestsPerSecond", &[], "ASP.NET request rate", Some("perSec"), COUNTER, Counter("ASP.NET Applications", "Requests/Sec", "requestsPerSecond"), And(PERFORMANCE_COUNTER)),
    row("performanceCounters/requestsInQueue", &[], "ASP.NET requests in application queue", None, COUNTER, Counter("ASP.NET Applications", "Requests In Application Queue", "requestsInQueue"), And(PERFORMANCE_COUNTER)),
    row("performanceCounters/memoryAvailableBytes", &[], "Available memory", Some("bytes"), COUNTER, Counter("Memory", "Available Bytes", "availableMemory"), And(PERFORMANCE_COUNTER)),
    row("performanceCounters/exceptionsPerSecond", &[], "Exception rate", Some("perSec"), COUNTER, Counter(".NET CLR Exceptions", "# of Exceps Thrown / sec", "exceptionRate"), And(PERFORMANCE_COUNTER)),
    row("performanceCounters/processCpuPercentage", &[], "Process CPU", Some("percent"), COUNTER, Counter("Process", "% Processor Time Normalized", "processCpuPercentage"), And(PERFORMANCE_COUNTER)),
    row("performanceCounters/processCpuPercentageTotal", &[], "Process CPU (all cores)", Some("percent"), COUNTER, Counter("Process", "% Processor Time", "processCpuPercentageTotal"), And(PERFORMANCE_COUNTER)),
    row("performanceCounters/processIOBytesPerSecond", &[], "Process IO rate", Some("bytesPerSec"), COUNTER, Counter("Process", "IO Data Bytes/sec", "processIOBytesPerSecond"), And(PERFORMANCE_COUNTER)),
    row("performanceCounters/processPrivateBytes", &[], "Process private bytes", Some("bytes"), COUNTER, Counter("Process", "Private Bytes", "processPrivateBytes"), And(PERFORMANCE_COUNTER)),
    row("performanceCounters/processorCpuPercentage", &[], "Processor time", Some("percent"), COUNTER, Counter("Processor", "% Processor Time", "processorCpuPercentage"), And(PERFORMANCE_COUNTER)),
    row("traces/count", &[], "Traces", None, SUM, Items("traces", RowFilter::All), Only(TRACE)),
];

/// The metrics that every application has.
pub fn standard_metrics() -> Vec<Metric> {
    STANDARD.iter().map(standard).collect()
}

/// The metric of a row.
pub(super) fn standard(row: &Row) -> Metric {
    let source = match row.kind {
        Items(table, filter) => MetricSource::Items { table, filter },
        Column(table, column) => MetricSource::Column { table, column },
        Distinct(column) => MetricSource::Distinct { column },
        Availability => MetricSource::AvailabilityPercentage,
        TelemetryItems => MetricSource::TelemetryItems,
        TelemetrySize => MetricSource::TelemetrySize,
        Counter(category, counter, name) => MetricSource::Counter {
            windows: Some((category, counter)),
            name: name.to_owned(),
        },
    };
    Metric {
        id: row.id.to_owned(),
        aliases: row.aliases,
        display_name: row.display_name.to_owned(),
        unit: row.unit,
        default: row.supported.first().copied().unwrap_or(Sum),
        supported: row.supported,
        source,
        dimensions: match row.dimensions {
            And(own) => [own, WHERE_AND_WHO].concat(),
            Only(all) => all.to_vec(),
        },
        custom_dimensions: !matches!(row.kind, TelemetryItems | TelemetrySize),
    }
}
