//! What is shown beside the tables: render, statistics, and what is missing.

use hindsight_engine::{DataSource, Notice, RenderInfo, Statistics, Summary};
use hindsight_kql_types::timespan;
use serde_json::{Value, json};

use super::super::missing;
use crate::directory::{REGION, resource_id};

/// What a reply says of [`Notice::NoAddressDatabase`].
const NO_ADDRESS_DATABASE: &str = "geo_info_from_ip_address() knows no address, because no database of addresses is configured (`geo.database`)";

/// What of a result is shown beside its tables.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Extras {
    /// `Prefer: include-render=true`
    pub(crate) render: bool,
    /// `Prefer: include-statistics=true`
    pub(crate) statistics: bool,
    /// `Prefer: include-dataSources=true`
    pub(crate) data_sources: bool,
}

impl Extras {
    pub(super) fn write(self, summary: &Summary, out: &mut String) {
        if self.render {
            out.push_str(",\"render\":");
            out.push_str(&render(&summary.render).to_string());
        }
        if self.statistics {
            out.push_str(",\"statistics\":");
            out.push_str(&statistics(summary).to_string());
        }
        if self.data_sources {
            out.push_str(",\"dataSources\":");
            out.push_str(&data_sources(summary).to_string());
        }
    }
}

/// A reason why a result is not whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Its code: a number for a limit, a name for the others.
    pub(crate) code: &'static str,
    /// A sentence.
    pub(crate) message: String,
}

/// The code of a result that was cut at a limit (`E_QUERY_RESULT_SET_TOO_LARGE`).
pub(crate) const TOO_LARGE: &str = "-2133196797";

/// Why a result is not whole: it was cut at a limit (`docs/api-facts.md §2`), telemetry could not be read (`D34`), or the
/// query needed what is not configured.
pub(crate) fn problems(summary: &Summary) -> Vec<Problem> {
    let problem = |code, message: &str| Problem {
        code,
        message: message.to_owned(),
    };
    let cut = summary.partial.as_ref();
    let cut = cut.map(|error| problem(TOO_LARGE, &error.message));
    let missing = missing::message(&summary.missing);
    let missing = missing.map(|message| problem("DamagedData", &message));
    let notices = summary.notices.iter().map(|notice| match notice {
        Notice::NoAddressDatabase => problem("NoAddressDatabase", NO_ADDRESS_DATABASE),
    });
    cut.into_iter().chain(missing).chain(notices).collect()
}

/// What a result says that is not whole.
pub(crate) fn not_whole(summary: &Summary) -> Option<Value> {
    let problems = problems(summary);
    let reasons: Vec<Value> = problems
        .iter()
        .map(|problem| inner(problem.code, &problem.message))
        .collect();
    (!reasons.is_empty()).then(|| partial(reasons))
}

fn inner(code: &str, message: &str) -> Value {
    json!({
        "code": code,
        "message": message,
        "severity": 2,
        "severityName": "Error",
    })
}

/// What a result says whose query failed when some of its rows were already sent: `inner` is what its error would have been.
pub(super) fn failed(correlation: &str, mut inner: Value) -> Value {
    if let Some(inner) = inner.as_object_mut() {
        inner.insert("severity".to_owned(), 2.into());
        inner.insert("severityName".to_owned(), "Error".into());
    }
    let mut error = partial(vec![inner]);
    if let Some(object) = error.as_object_mut() {
        object.insert("correlationId".to_owned(), correlation.into());
    }
    error
}

/// A partial error with one detail for each reason.
fn partial(reasons: Vec<Value>) -> Value {
    let detail = |inner: Value| {
        json!({
            "code": "EngineError",
            "message": "Something went wrong processing your query on the server.",
            "innererror": inner,
        })
    };
    json!({
        "code": "PartialError",
        "message": "There were some errors when processing your query.",
        "details": reasons.into_iter().map(detail).collect::<Vec<_>>(),
    })
}

/// The wire's spelling of render properties.
fn property(name: &str) -> &str {
    match name {
        "xcolumn" => "xColumn",
        "ycolumns" => "yColumns",
        "anomalycolumns" => "anomalyColumns",
        "xtitle" => "xTitle",
        "ytitle" => "yTitle",
        "xaxis" => "xAxis",
        "yaxis" => "yAxis",
        "ysplit" => "ySplit",
        "xmin" => "xMin",
        "xmax" => "xMax",
        "ymin" => "yMin",
        "ymax" => "yMax",
        other => other,
    }
}

/// The recorded keys come first and always; further properties follow where the query wrote them.
fn render(render: &RenderInfo) -> Value {
    const FIXED: [&str; 5] = ["title", "accumulate", "kind", "annotation", "by"];
    let given = |name: &str| {
        render
            .properties
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    };
    let visualization = if render.visualization.is_empty() {
        "table"
    } else {
        &render.visualization
    };
    let mut value = serde_json::json!({
        "visualization": visualization,
        "title": given("title").unwrap_or_default(),
        "accumulate": given("accumulate") == Some("true"),
        "isQuerySorted": render.is_query_sorted,
        "kind": given("kind").unwrap_or_default(),
        "annotation": given("annotation").unwrap_or_default(),
        "by": given("by"),
    });
    if let Some(object) = value.as_object_mut() {
        let more = render
            .properties
            .iter()
            .filter(|(name, _)| !FIXED.contains(&name.as_str()));
        object.extend(more.map(|(name, value)| (property(name).to_owned(), value.as_str().into())));
    }
    value
}

fn statistics(summary: &Summary) -> Value {
    let tables: Vec<Value> = summary
        .tables
        .iter()
        .map(|table| json!({ "tableRowCount": table.rows, "tableSize": table.bytes }))
        .collect();
    json!({ "query": {
        "executionTime": summary.statistics.execution_time.as_secs_f64(),
        "resourceUsage": resource_usage(&summary.statistics),
        "inputDatasetStatistics": {
            "rows": { "scanned": summary.statistics.rows_scanned },
            "bytes": { "scanned": summary.statistics.bytes_scanned },
        },
        "datasetStatistics": tables,
    }})
}

/// Which tables of which resources were read.
fn data_sources(summary: &Summary) -> Value {
    let one = |source: &DataSource| {
        json!({
            "resourceId": resource_id(&source.application),
            "region": REGION,
            "tables": source.tables,
        })
    };
    summary.data_sources.iter().map(one).collect()
}

/// What a query used.
pub(super) fn resource_usage(statistics: &Statistics) -> Value {
    let mut total = String::new();
    let ticks = i64::try_from(statistics.cpu_time.as_nanos() / 100).unwrap_or(i64::MAX);
    // Writing into a text cannot fail.
    let _ = timespan::write(ticks, &mut total);
    json!({
        "cache": {
            "memory": { "hits": 0, "misses": 0, "total": 0 },
            "disk": { "hits": 0, "misses": 0, "total": 0 },
        },
        "cpu": { "user": total, "kernel": "00:00:00", "totalCpu": total },
        "memory": { "peakPerNode": statistics.memory_peak },
    })
}
