//! What the engine answers: typed tables, metrics and events. The server turns them into the wire's JSON.

use std::time::Duration;

use arrow::record_batch::RecordBatch;
use hindsight_kql_syntax::Diagnostic;
use hindsight_kql_types::{ScalarType, Value};
use hindsight_store::MissingData;

use crate::request::TimeRange;

/// A column of a result table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultColumn {
    /// The KQL name.
    pub name: String,
    /// Its type.
    pub kind: ScalarType,
}

/// What binding a query tells of it.
#[derive(Debug, Clone)]
pub enum Checked {
    /// The query is not valid.
    Invalid(Vec<Diagnostic>),
    /// It is valid: the name and the columns of each result, in order. `None` if columns depend on rows.
    Valid(Option<Vec<(String, Vec<ResultColumn>)>>),
}

/// A table of a query's result.
#[derive(Debug, Clone)]
pub struct ResultTable {
    /// `PrimaryResult` for the first; `getschema` where that is the last operator.
    pub name: String,
    /// The columns.
    pub columns: Vec<ResultColumn>,
    /// The rows: each batch has the columns in order, with the Arrow types of [`ScalarType::arrow`].
    pub batches: Vec<RecordBatch>,
}

impl ResultTable {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

/// The `render` of a query: properties by name as the wire shows them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RenderInfo {
    /// `timechart`, …; `table` where the query says nothing.
    pub visualization: String,
    /// The properties that were written, lower-case name and value.
    pub properties: Vec<(String, String)>,
    /// The rows are ordered by the query.
    pub is_query_sorted: bool,
}

/// What a query cost. Real figures of this run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Statistics {
    /// Wall-clock time of execution.
    pub execution_time: Duration,
    /// Time that the operators of the plan computed, on all cores together.
    pub cpu_time: Duration,
    /// Rows read from the store.
    pub rows_scanned: u64,
    /// Bytes read from the store.
    pub bytes_scanned: u64,
    /// The most memory that the query had reserved.
    pub memory_peak: u64,
}

/// What a query read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataSource {
    /// The application's name.
    pub application: String,
    /// Its tables that the query names, in the order of their names.
    pub tables: Vec<String>,
}

/// Why a result is not whole (`docs/api-facts.md §2`, partial errors).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialError {
    /// `E_QUERY_RESULT_SET_TOO_LARGE` and which limit.
    pub message: String,
}

/// How large a table is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableSize {
    /// Its rows.
    pub rows: u64,
    /// The bytes of their values.
    pub bytes: u64,
}

/// What there is to say of a query once its rows are known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// How the last table is rendered.
    pub render: RenderInfo,
    /// How each table is rendered, in order. It is known when the query starts.
    pub renders: Vec<RenderInfo>,
    /// What it cost.
    pub statistics: Statistics,
    /// The size of each table, in order.
    pub tables: Vec<TableSize>,
    /// What was read from.
    pub data_sources: Vec<DataSource>,
    /// What was cut, if anything was.
    pub partial: Option<PartialError>,
    /// What could not be read and is left out (`D34`).
    pub missing: Vec<MissingData>,
    /// What else the reply has to say.
    pub notices: Vec<Notice>,
}

/// What a result lacks because of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// The query called `geo_info_from_ip_address` and no database of addresses is configured.
    NoAddressDatabase,
}

/// The answer to a KQL query.
#[derive(Debug, Clone)]
pub struct QueryResult {
    /// One table for each tabular statement.
    pub tables: Vec<ResultTable>,
    /// How it is rendered.
    pub render: RenderInfo,
    /// What it cost.
    pub statistics: Statistics,
    /// What was cut, if anything was.
    pub partial: Option<PartialError>,
    /// What could not be read and is left out (`D34`).
    pub missing: Vec<MissingData>,
    /// What else the reply has to say.
    pub notices: Vec<Notice>,
}

/// The answer to a metric request.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricResult {
    /// The metric's full id, the key of its values in the reply.
    pub metric: String,
    /// The time that was really used.
    pub range: TimeRange,
    /// The interval that was really used, as an ISO 8601 duration.
    pub interval: Option<String>,
    /// The aggregations in order.
    pub aggregations: Vec<String>,
    /// The values.
    pub body: MetricBody,
    /// The KQL that was run, for `ai.include-query-payload`.
    pub query: String,
    /// What the values do not tell: `(code, message)`.
    pub messages: Vec<(String, String)>,
    /// What could not be read and is left out (`D34`).
    pub missing: Vec<MissingData>,
}

/// The values of a metric.
#[derive(Debug, Clone, PartialEq)]
pub enum MetricBody {
    /// No interval and no segments: a value for each aggregation.
    Values(MetricValues),
    /// Segments without an interval.
    Segments(Vec<MetricSegment>),
    /// An interval: buckets in order of time.
    Buckets(Vec<MetricBucket>),
}

/// One value for each aggregation, in their order; none where there is no data.
pub type MetricValues = Vec<Option<f64>>;

/// An interval's bucket.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricBucket {
    /// Its time, clipped to the request's.
    pub range: TimeRange,
    /// Values where the request has no segments.
    pub values: Option<MetricValues>,
    /// Segments where it has.
    pub segments: Vec<MetricSegment>,
}

/// A segment: a dimension's value with inner segments, or with values at the innermost level.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricSegment {
    /// The dimension's name as the caller wrote it.
    pub dimension: String,
    /// Its value with its type (`D2`).
    pub value: Value,
    /// Its value as it is recorded, which is text.
    pub text: String,
    /// The values, at the innermost level.
    pub values: Option<MetricValues>,
    /// The next level.
    pub segments: Vec<MetricSegment>,
}

/// The answer to an events query.
#[derive(Debug, Clone)]
pub struct EventsResult {
    /// What was cut or added, said aloud: `(code, message)`.
    pub messages: Vec<(String, String)>,
    /// `$count=true`: matches before `$top` and `$skip`.
    pub count: Option<u64>,
    /// The rows, as the flat columns of the tables (`union` of them for `$all`), with `itemType` telling the shape.
    pub table: ResultTable,
    /// `$select`: the OData paths that were asked for.
    pub select: Option<Vec<String>>,
    /// The rows are of `$apply` and not events: the columns are its own, named by their paths.
    pub applied: bool,
    /// Properties that `$apply` adds to events, and the columns that hold them.
    pub computed: Vec<(String, String)>,
    /// What could not be read and is left out (`D34`).
    pub missing: Vec<MissingData>,
}
