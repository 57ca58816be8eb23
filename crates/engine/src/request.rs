//! What a caller asks: one typed request for each operation. No HTTP and no JSON here.

use std::sync::Arc;

use hindsight_kql_syntax::ast::{BinaryOp, Expr, Query};
use hindsight_store::AppId;

/// Which applications a principal may read. Decided by the server's identity layer before the engine is asked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Access {
    /// Every application.
    All,
    /// These only.
    Only(Vec<AppId>),
}

/// Who asks and for which application.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Who it is; the processors are shared between principals.
    pub principal: Arc<str>,
    /// What the principal may read.
    pub access: Access,
    /// The application named in the URL; the server has checked that `access` covers it.
    pub app: AppId,
    /// Seconds that it is ready to wait (`Prefer: wait=`).
    pub wait: Option<u64>,
}

impl Caller {
    /// The application and what the principal may read, as text: two callers with one scope get the same answers.
    pub fn scope(&self) -> String {
        let visible = match &self.access {
            Access::All => "all".to_owned(),
            Access::Only(apps) => ids(apps),
        };
        format!("{}\n{visible}", self.app)
    }
}

fn ids(apps: &[AppId]) -> String {
    let mut ids: Vec<String> = apps.iter().map(AppId::to_string).collect();
    ids.sort();
    ids.join(",")
}

/// Half-open range of time, 100 ns ticks since 0001-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeRange {
    /// First tick.
    pub start: i64,
    /// One past the last tick.
    pub end: i64,
}

impl TimeRange {
    /// `start <= timestamp < end`
    pub(crate) fn to_kql(self) -> Expr {
        let bound = |op, ticks| Expr::binary(op, Expr::name("timestamp"), Expr::datetime(ticks));
        bound(BinaryOp::GreaterOrEqual, self.start).and(bound(BinaryOp::Less, self.end))
    }
}

/// A KQL query (operations 5 and 6).
#[derive(Debug, Clone)]
pub struct QueryRequest {
    /// Who.
    pub caller: Caller,
    /// The text.
    pub query: Arc<str>,
    /// ISO 8601 timespans of URL and body as they were written; they intersect.
    pub timespans: Vec<String>,
    /// `applications` of the body: names or ids.
    pub applications: Vec<String>,
    /// The names of tables: `App*` where the request came through `/workspaces/`.
    pub workspace_names: bool,
}

/// A KQL query that was read: its text is well-formed and its applications are within reach.
#[derive(Debug)]
pub struct PreparedQuery {
    pub(crate) request: QueryRequest,
    /// What it ranges over.
    pub(crate) apps: Vec<AppId>,
    pub(crate) query: Query,
}

impl PreparedQuery {
    /// What the answer depends on beside the telemetry, as text: requests that mean the same have the same (`D18`).
    pub fn canonical(&self) -> String {
        format!(
            "{}\n{}\n{}\n{:?}\n{}",
            self.request.caller.scope(),
            ids(&self.apps),
            self.request.workspace_names,
            self.request.timespans,
            self.query
        )
    }
}

/// A metric (operation 1, and each member of operation 2). Texts are as the caller wrote them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct MetricParameters {
    /// The metric under any of its names.
    pub metric: String,
    /// ISO 8601 period; `PT12H` when absent.
    pub timespan: Option<String>,
    /// ISO 8601 duration.
    pub interval: Option<String>,
    /// Aggregations; the metric's default when empty.
    pub aggregation: Vec<String>,
    /// Dimensions, outermost first.
    pub segment: Vec<String>,
    /// How many segments.
    pub top: Option<i64>,
    /// `sum desc`
    pub orderby: Option<String>,
    /// OData filter over dimensions.
    pub filter: Option<String>,
}

/// An events query (operation 3). Texts are as the caller wrote them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct EventsParameters {
    /// `traces`, …, or `$all`.
    pub event_type: String,
    /// ISO 8601 period.
    pub timespan: Option<String>,
    /// `$filter`
    pub filter: Option<String>,
    /// `$search`
    pub search: Option<String>,
    /// `$orderby`
    pub orderby: Option<String>,
    /// `$select`
    pub select: Option<String>,
    /// `$skip`
    pub skip: Option<String>,
    /// `$top`
    pub top: Option<String>,
    /// `$count`
    pub count: Option<String>,
    /// `$apply`
    pub apply: Option<String>,
}

/// One event by id (operation 4).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct EventParameters {
    /// `traces`, …, or `$all`.
    pub event_type: String,
    /// The `itemId`.
    pub id: String,
    /// ISO 8601 period.
    pub timespan: Option<String>,
}
