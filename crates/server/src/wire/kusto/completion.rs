//! What both versions of data sets say once the rows are known: how the query went and what it cost.

use hindsight_engine::{Statistics, Summary};
use hindsight_kql_types::timespan;
use serde_json::{Value, json};

use super::super::query::{Problem, TOO_LARGE};

/// A row of the table that says how the query went.
pub(super) struct Status {
    pub(super) level: i64,
    pub(super) level_name: &'static str,
    pub(super) code: i64,
    pub(super) code_name: &'static str,
    pub(super) event: i64,
    pub(super) event_name: &'static str,
    /// A sentence, or the statistics as JSON.
    pub(super) text: String,
}

/// The rows for a query that ended: its problems, or that there are none; then the statistics.
pub(super) fn statuses(summary: &Summary, problems: &[Problem]) -> Vec<Status> {
    let mut statuses: Vec<Status> = problems.iter().map(problem).collect();
    if statuses.is_empty() {
        statuses.push(Status {
            level: 4,
            level_name: "Info",
            code: 0,
            code_name: "S_OK (0)",
            event: 4,
            event_name: "QueryInfo",
            text: "Query completed successfully".to_owned(),
        });
    }
    statuses.push(Status {
        level: 6,
        level_name: "Stats",
        code: 0,
        code_name: "S_OK (0)",
        event: 0,
        event_name: "QueryResourceConsumption",
        text: statistics(summary).to_string(),
    });
    statuses
}

fn problem(problem: &Problem) -> Status {
    let is_limit = problem.code == TOO_LARGE;
    let (code, code_name, event_name) = if is_limit {
        let name = "Query result set too large (E_QUERY_RESULT_SET_TOO_LARGE). (-2133196797)";
        (-2_133_196_797, name, "QueryLimitsExceeded")
    } else {
        (-2_147_467_259, "E_FAIL (-2147467259)", "QueryError")
    };
    Status {
        level: 2,
        level_name: "Error",
        code,
        code_name,
        event: 1,
        event_name,
        text: problem.message.clone(),
    }
}

/// What the query cost, under the names of the protocol.
fn statistics(summary: &Summary) -> Value {
    let tables: Vec<Value> = summary
        .tables
        .iter()
        .map(|table| json!({ "table_row_count": table.rows, "table_size": table.bytes }))
        .collect();
    let Statistics {
        execution_time,
        rows_scanned,
        memory_peak,
        ..
    } = summary.statistics;
    let cpu = cpu_time(&summary.statistics);
    json!({
        "ExecutionTime": execution_time.as_secs_f64(),
        "resource_usage": {
            "cache": {
                "memory": { "hits": 0, "misses": 0, "total": 0 },
                "disk": { "hits": 0, "misses": 0, "total": 0 },
            },
            "cpu": { "user": cpu, "kernel": "00:00:00", "total cpu": cpu },
            "memory": { "peak_per_node": memory_peak },
        },
        "input_dataset_statistics": { "rows": { "scanned": rows_scanned } },
        "dataset_statistics": tables,
    })
}

fn cpu_time(statistics: &Statistics) -> String {
    let ticks = i64::try_from(statistics.cpu_time.as_nanos() / 100).unwrap_or(i64::MAX);
    let mut text = String::new();
    // Writing into a text cannot fail.
    let _ = timespan::write(ticks, &mut text);
    text
}
