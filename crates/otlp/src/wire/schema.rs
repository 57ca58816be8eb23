//! The messages of OTLP by the names of their fields in JSON, as far as the mapping reads them. What is not listed is ignored.

/// A message.
#[derive(Debug)]
pub(super) struct Message(pub(super) &'static [FieldOf]);

/// A field of a message: its name, its number and its type.
#[derive(Debug)]
pub(super) struct FieldOf(pub(super) &'static str, pub(super) u32, pub(super) Kind);

/// The type of a field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// A message.
    One(&'static Message),
    /// Messages.
    Many(&'static Message),
    /// `string`
    Text,
    /// `bytes` that JSON writes in hexadecimal digits.
    Hex,
    /// `bytes` that JSON writes in base64.
    Base64,
    /// `fixed64` and `sfixed64`.
    Fixed64,
    /// `int64`
    Int64,
    /// `uint32`
    Uint32,
    /// `double`
    Double,
    /// `bool`
    Bool,
    /// An enum: a number or, though OTLP does not permit it, a name of the list.
    Enum(&'static [&'static str]),
}

use Kind::{Base64, Bool, Double, Enum, Fixed64, Hex, Int64, Many, One, Text, Uint32};

static ANY: Message = Message(&[
    FieldOf("stringValue", 1, Text),
    FieldOf("boolValue", 2, Bool),
    FieldOf("intValue", 3, Int64),
    FieldOf("doubleValue", 4, Double),
    FieldOf("arrayValue", 5, One(&ARRAY)),
    FieldOf("kvlistValue", 6, One(&LIST)),
    FieldOf("bytesValue", 7, Base64),
]);
static ARRAY: Message = Message(&[FieldOf("values", 1, Many(&ANY))]);
static LIST: Message = Message(&[FieldOf("values", 1, Many(&PAIR))]);
static PAIR: Message = Message(&[FieldOf("key", 1, Text), FieldOf("value", 2, One(&ANY))]);
static RESOURCE: Message = Message(&[FieldOf("attributes", 1, Many(&PAIR))]);
static SCOPE: Message = Message(&[FieldOf("name", 1, Text), FieldOf("version", 2, Text)]);

/// `ExportTraceServiceRequest`
pub(super) static TRACES: Message = Message(&[FieldOf("resourceSpans", 1, Many(&RESOURCE_SPANS))]);
static RESOURCE_SPANS: Message = Message(&[
    FieldOf("resource", 1, One(&RESOURCE)),
    FieldOf("scopeSpans", 2, Many(&SCOPE_SPANS)),
    FieldOf("instrumentationLibrarySpans", 2, Many(&SCOPE_SPANS)),
]);
static SCOPE_SPANS: Message = Message(&[
    FieldOf("scope", 1, One(&SCOPE)),
    FieldOf("instrumentationLibrary", 1, One(&SCOPE)),
    FieldOf("spans", 2, Many(&SPAN)),
]);
static SPAN: Message = Message(&[
    FieldOf("traceId", 1, Hex),
    FieldOf("spanId", 2, Hex),
    FieldOf("traceState", 3, Text),
    FieldOf("parentSpanId", 4, Hex),
    FieldOf("name", 5, Text),
    FieldOf("kind", 6, Enum(KINDS)),
    FieldOf("startTimeUnixNano", 7, Fixed64),
    FieldOf("endTimeUnixNano", 8, Fixed64),
    FieldOf("attributes", 9, Many(&PAIR)),
    FieldOf("events", 11, Many(&EVENT)),
    FieldOf("links", 13, Many(&LINK)),
    FieldOf("status", 15, One(&STATUS)),
]);
const KINDS: &[&str] = &[
    "SPAN_KIND_UNSPECIFIED",
    "SPAN_KIND_INTERNAL",
    "SPAN_KIND_SERVER",
    "SPAN_KIND_CLIENT",
    "SPAN_KIND_PRODUCER",
    "SPAN_KIND_CONSUMER",
];
static EVENT: Message = Message(&[
    FieldOf("timeUnixNano", 1, Fixed64),
    FieldOf("name", 2, Text),
    FieldOf("attributes", 3, Many(&PAIR)),
]);
static LINK: Message = Message(&[
    FieldOf("traceId", 1, Hex),
    FieldOf("spanId", 2, Hex),
    FieldOf("attributes", 4, Many(&PAIR)),
]);
static STATUS: Message = Message(&[FieldOf("message", 2, Text), FieldOf("code", 3, Enum(CODES))]);
const CODES: &[&str] = &["STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"];

/// `ExportLogsServiceRequest`
pub(super) static LOGS: Message = Message(&[FieldOf("resourceLogs", 1, Many(&RESOURCE_LOGS))]);
static RESOURCE_LOGS: Message = Message(&[
    FieldOf("resource", 1, One(&RESOURCE)),
    FieldOf("scopeLogs", 2, Many(&SCOPE_LOGS)),
    FieldOf("instrumentationLibraryLogs", 2, Many(&SCOPE_LOGS)),
]);
static SCOPE_LOGS: Message = Message(&[
    FieldOf("scope", 1, One(&SCOPE)),
    FieldOf("instrumentationLibrary", 1, One(&SCOPE)),
    FieldOf("logRecords", 2, Many(&LOG_RECORD)),
]);
static LOG_RECORD: Message = Message(&[
    FieldOf("timeUnixNano", 1, Fixed64),
    FieldOf("severityNumber", 2, Enum(SEVERITIES)),
    FieldOf("body", 5, One(&ANY)),
    FieldOf("attributes", 6, Many(&PAIR)),
    FieldOf("traceId", 9, Hex),
    FieldOf("spanId", 10, Hex),
    FieldOf("observedTimeUnixNano", 11, Fixed64),
    FieldOf("eventName", 12, Text),
]);
const SEVERITIES: &[&str] = &[
    "SEVERITY_NUMBER_UNSPECIFIED",
    "SEVERITY_NUMBER_TRACE",
    "SEVERITY_NUMBER_TRACE2",
    "SEVERITY_NUMBER_TRACE3",
    "SEVERITY_NUMBER_TRACE4",
    "SEVERITY_NUMBER_DEBUG",
    "SEVERITY_NUMBER_DEBUG2",
    "SEVERITY_NUMBER_DEBUG3",
    "SEVERITY_NUMBER_DEBUG4",
    "SEVERITY_NUMBER_INFO",
    "SEVERITY_NUMBER_INFO2",
    "SEVERITY_NUMBER_INFO3",
    "SEVERITY_NUMBER_INFO4",
    "SEVERITY_NUMBER_WARN",
    "SEVERITY_NUMBER_WARN2",
    "SEVERITY_NUMBER_WARN3",
    "SEVERITY_NUMBER_WARN4",
    "SEVERITY_NUMBER_ERROR",
    "SEVERITY_NUMBER_ERROR2",
    "SEVERITY_NUMBER_ERROR3",
    "SEVERITY_NUMBER_ERROR4",
    "SEVERITY_NUMBER_FATAL",
    "SEVERITY_NUMBER_FATAL2",
    "SEVERITY_NUMBER_FATAL3",
    "SEVERITY_NUMBER_FATAL4",
];

/// `ExportMetricsServiceRequest`
pub(super) static METRICS: Message =
    Message(&[FieldOf("resourceMetrics", 1, Many(&RESOURCE_METRICS))]);
static RESOURCE_METRICS: Message = Message(&[
    FieldOf("resource", 1, One(&RESOURCE)),
    FieldOf("scopeMetrics", 2, Many(&SCOPE_METRICS)),
    FieldOf("instrumentationLibraryMetrics", 2, Many(&SCOPE_METRICS)),
]);
static SCOPE_METRICS: Message = Message(&[
    FieldOf("scope", 1, One(&SCOPE)),
    FieldOf("instrumentationLibrary", 1, One(&SCOPE)),
    FieldOf("metrics", 2, Many(&METRIC)),
]);
static METRIC: Message = Message(&[
    FieldOf("name", 1, Text),
    FieldOf("unit", 3, Text),
    FieldOf("gauge", 5, One(&GAUGE)),
    FieldOf("sum", 7, One(&SUM)),
    FieldOf("histogram", 9, One(&HISTOGRAM)),
    FieldOf("exponentialHistogram", 10, One(&EXPONENTIAL)),
    FieldOf("summary", 11, One(&SUMMARY)),
]);
const TEMPORALITIES: &[&str] = &[
    "AGGREGATION_TEMPORALITY_UNSPECIFIED",
    "AGGREGATION_TEMPORALITY_DELTA",
    "AGGREGATION_TEMPORALITY_CUMULATIVE",
];
static GAUGE: Message = Message(&[FieldOf("dataPoints", 1, Many(&NUMBER))]);
static SUM: Message = Message(&[
    FieldOf("dataPoints", 1, Many(&NUMBER)),
    FieldOf("aggregationTemporality", 2, Enum(TEMPORALITIES)),
    FieldOf("isMonotonic", 3, Bool),
]);
static HISTOGRAM: Message = Message(&[
    FieldOf("dataPoints", 1, Many(&HISTOGRAM_POINT)),
    FieldOf("aggregationTemporality", 2, Enum(TEMPORALITIES)),
]);
static EXPONENTIAL: Message = Message(&[
    FieldOf("dataPoints", 1, Many(&EXPONENTIAL_POINT)),
    FieldOf("aggregationTemporality", 2, Enum(TEMPORALITIES)),
]);
static SUMMARY: Message = Message(&[FieldOf("dataPoints", 1, Many(&SUMMARY_POINT))]);
static NUMBER: Message = Message(&[
    FieldOf("startTimeUnixNano", 2, Fixed64),
    FieldOf("timeUnixNano", 3, Fixed64),
    FieldOf("asDouble", 4, Double),
    FieldOf("asInt", 6, Fixed64),
    FieldOf("attributes", 7, Many(&PAIR)),
    FieldOf("flags", 8, Uint32),
]);
static HISTOGRAM_POINT: Message = Message(&[
    FieldOf("startTimeUnixNano", 2, Fixed64),
    FieldOf("timeUnixNano", 3, Fixed64),
    FieldOf("count", 4, Fixed64),
    FieldOf("sum", 5, Double),
    FieldOf("attributes", 9, Many(&PAIR)),
    FieldOf("flags", 10, Uint32),
    FieldOf("min", 11, Double),
    FieldOf("max", 12, Double),
]);
static EXPONENTIAL_POINT: Message = Message(&[
    FieldOf("attributes", 1, Many(&PAIR)),
    FieldOf("startTimeUnixNano", 2, Fixed64),
    FieldOf("timeUnixNano", 3, Fixed64),
    FieldOf("count", 4, Fixed64),
    FieldOf("sum", 5, Double),
    FieldOf("flags", 10, Uint32),
    FieldOf("min", 12, Double),
    FieldOf("max", 13, Double),
]);
static SUMMARY_POINT: Message = Message(&[
    FieldOf("startTimeUnixNano", 2, Fixed64),
    FieldOf("timeUnixNano", 3, Fixed64),
    FieldOf("count", 4, Fixed64),
    FieldOf("sum", 5, Double),
    FieldOf("quantileValues", 6, Many(&QUANTILE)),
    FieldOf("attributes", 7, Many(&PAIR)),
    FieldOf("flags", 8, Uint32),
]);
static QUANTILE: Message = Message(&[FieldOf("quantile", 1, Double), FieldOf("value", 2, Double)]);
