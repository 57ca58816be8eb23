//! One typed request for each operation. No HTTP and no JSON here.

use std::collections::BTreeMap;
use std::sync::Arc;

use hindsight_kql::QueryPrincipal;
use hindsight_kql_syntax::ast::Query;
use hindsight_store::AppId;

/// The applications that a principal may read, as the server's authorization decides before a request reaches the engine.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Access {
    /// Every application.
    All,
    /// These only.
    Only(Vec<AppId>),
}

/// The caller of a request, and the application of its URL.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The principal's id; the processors are shared between principals.
    pub principal: Arc<str>,
    /// The principal of `current_principal()`; `None` for a request without one.
    pub sender: Option<Arc<QueryPrincipal>>,
    /// The host and port of `current_cluster_endpoint()`: by which the client reaches the server.
    pub endpoint: Option<Arc<str>>,
    /// What the principal may read.
    pub access: Access,
    /// The application named in the URL; the server has checked that `access` covers it.
    pub app: AppId,
    /// The timeout that the client prefers, seconds (`Prefer: wait=`).
    pub wait: Option<u64>,
}

impl Caller {
    /// The application and the applications that the principal may read, as text: callers of one scope get the same results.
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

/// A KQL query (operations 5 and 6).
#[derive(Debug, Clone)]
pub struct QueryRequest {
    /// The caller.
    pub caller: Caller,
    /// The text.
    pub query: Arc<str>,
    /// ISO 8601 timespans of URL and body as they were written; they intersect.
    pub timespans: Vec<String>,
    /// `applications` of the body: names or ids.
    pub applications: Vec<String>,
    /// The names of tables: `App*` where the request came through `/workspaces/`.
    pub workspace_names: bool,
    /// What the request says beside the text.
    pub options: QueryOptions,
}

/// Options of a query that are not in its text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct QueryOptions {
    /// Values of `declare query_parameters` by name, as text: bare or as literals of KQL.
    pub parameters: BTreeMap<String, String>,
    /// `database('x')` denotes the application of this name or id, as `app('x')` does.
    pub databases: bool,
    /// The most rows of a result. The configured limit stays in force.
    pub max_rows: Option<u64>,
    /// The most bytes of a result. The configured limit stays in force.
    pub max_bytes: Option<u64>,
}

/// What the names of all functions that read the principal begin with.
const PRINCIPAL_FUNCTIONS: &str = "current_principal";
const ENDPOINT_FUNCTION: &str = "current_cluster_endpoint";

/// A parsed KQL query whose applications are resolved and permitted.
#[derive(Debug)]
pub struct PreparedQuery {
    pub(crate) request: QueryRequest,
    /// The applications that it reads.
    pub(crate) apps: Vec<AppId>,
    pub(crate) query: Query,
    /// Whether `query` is the text of the request parsed, without a condition.
    pub(crate) is_text_parsed: bool,
}

impl PreparedQuery {
    /// All that the result depends on besides the telemetry, as text: equivalent requests have equal texts (`D18`).
    pub fn canonical(&self) -> String {
        let query = self.query.to_string();
        // A query that names a function of the principal, also in a string, is not shared between principals.
        let sender = query.contains(PRINCIPAL_FUNCTIONS);
        let sender = sender.then_some(&self.request.caller.sender);
        let endpoint = query.contains(ENDPOINT_FUNCTION);
        let endpoint = endpoint.then_some(&self.request.caller.endpoint);
        format!(
            "{}\n{}\n{}\n{:?}\n{:?}\n{sender:?}\n{endpoint:?}\n{query}",
            self.request.caller.scope(),
            ids(&self.apps),
            self.request.workspace_names,
            self.request.timespans,
            self.request.options,
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
