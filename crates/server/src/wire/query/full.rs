//! The capitalised form's own tables: how to draw, how it went, and an index.

use hindsight_engine::{RenderInfo, Summary};
use hindsight_kql_types::ScalarType;
use serde_json::{Value, json};

use super::super::{json, visualization};
use super::extras::resource_usage;

/// What the four-table form says of the request.
#[derive(Debug, Clone)]
pub(crate) struct Stamp {
    /// Now, ticks.
    pub(crate) now: i64,
    /// The request's id.
    pub(crate) request_id: String,
    /// What the client called the request.
    pub(crate) client_id: String,
}

/// The tables that follow the query's own, of which there are `results`; `error` is what the reply says is missing.
pub(super) fn closing_tables(
    results: usize,
    summary: &Summary,
    error: Option<&Value>,
    stamp: &Stamp,
    out: &mut String,
) {
    properties_table(results, &summary.render, out);
    out.push(',');
    status_table(results + 1, summary, error, stamp, out);
    out.push(',');
    index_table(results, stamp, out);
}

/// A table's beginning, up to its rows.
pub(super) fn open_table<'c>(
    index: usize,
    columns: impl Iterator<Item = (&'c str, ScalarType)>,
    out: &mut String,
) {
    out.push_str(&format!("{{\"TableName\":\"Table_{index}\",\"Columns\":["));
    json::list(columns, out, |(name, kind), out| {
        out.push_str("{\"ColumnName\":");
        json::string(name, out);
        out.push_str(",\"DataType\":");
        json::string(kind.clr_name().rsplit('.').next().unwrap_or_default(), out);
        out.push_str(",\"ColumnType\":");
        json::string(kind.name(), out);
        out.push('}');
    });
    out.push_str("],\"Rows\":");
}

fn properties_table(index: usize, render: &RenderInfo, out: &mut String) {
    let value = Value::Object(visualization::properties(render));
    open_table(index, [("Value", ScalarType::String)].into_iter(), out);
    out.push_str("[[");
    json::string(&value.to_string(), out);
    out.push_str("]]}");
}

fn status_table(
    index: usize,
    summary: &Summary,
    error: Option<&Value>,
    stamp: &Stamp,
    out: &mut String,
) {
    use ScalarType::{DateTime, Guid, Int, String as Text};
    let columns = [
        ("Timestamp", DateTime),
        ("Severity", Int),
        ("SeverityName", Text),
        ("StatusCode", Int),
        ("StatusDescription", Text),
        ("Count", Int),
        ("RequestId", Guid),
        ("ActivityId", Guid),
        ("SubActivityId", Guid),
        ("ClientActivityId", Text),
    ];
    open_table(index, columns.into_iter(), out);
    let stats = json!({
        "ExecutionTime": summary.statistics.execution_time.as_secs_f64(),
        "resource_usage": resource_usage(&summary.statistics),
    });
    out.push('[');
    match error.map(sentences) {
        None => status_row(4, "Info", "Query completed successfully", stamp, out),
        Some(message) => status_row(2, "Error", &message, stamp, out),
    }
    out.push(',');
    status_row(6, "Stats", &stats.to_string(), stamp, out);
    out.push_str("]}");
}

/// The sentences of a partial error.
fn sentences(error: &Value) -> String {
    let details = error.get("details").and_then(Value::as_array);
    let messages = details.into_iter().flatten().filter_map(|detail| {
        let message = detail.pointer("/innererror/message")?;
        message.as_str()
    });
    messages.collect::<Vec<_>>().join("; ")
}

fn status_row(severity: i64, name: &str, description: &str, stamp: &Stamp, out: &mut String) {
    out.push('[');
    json::time(stamp.now, out);
    out.push(',');
    json::integer(severity, out);
    out.push(',');
    json::string(name, out);
    out.push_str(",0,");
    json::string(description, out);
    out.push_str(",1,");
    for _ in 0..3 {
        json::string(&stamp.request_id, out);
        out.push(',');
    }
    json::string(&stamp.client_id, out);
    out.push(']');
}

fn index_table(results: usize, stamp: &Stamp, out: &mut String) {
    use ScalarType::{Long, String as Text};
    let columns = [
        ("Ordinal", Long),
        ("Kind", Text),
        ("Name", Text),
        ("Id", Text),
    ];
    open_table(results + 2, columns.into_iter(), out);
    let primary = (0..results).map(|_| ("QueryResult", "PrimaryResult"));
    let others = [
        ("QueryProperties", "@ExtendedProperties"),
        ("QueryStatus", "QueryStatus"),
    ];
    out.push('[');
    json::list(
        primary.chain(others).enumerate(),
        out,
        |(ordinal, (kind, name)), out| {
            out.push_str(&format!("[{ordinal},\"{kind}\",\"{name}\","));
            json::string(&format!("{}-{ordinal}", stamp.request_id), out);
            out.push(']');
        },
    );
    out.push_str("]}");
}
