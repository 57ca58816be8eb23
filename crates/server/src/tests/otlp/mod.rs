//! OpenTelemetry in.

mod applications;
mod metrics;
mod pairs;
mod protocol;
mod refusals;
mod sending;

use super::*;

/// The tables that hold rows of OpenTelemetry.
const TABLES: [&str; 8] = [
    "requests",
    "dependencies",
    "traces",
    "exceptions",
    "customEvents",
    "availabilityResults",
    "customMetrics",
    "performanceCounters",
];

/// The rows of a table, in the order of their ingestion, as objects of their columns without those of `but`.
async fn rows(server: &Server, app: &Application, table: &str, but: &[&str]) -> Vec<Value> {
    let kql = format!("{table} | order by itemId asc");
    let path = format!("/v1/apps/{}/query", app.id);
    let headers = [
        ("x-api-key", server.admin()),
        ("content-type", "application/json".to_owned()),
        ("cache-control", "no-cache".to_owned()),
    ];
    let headers: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let body = serde_json::json!({"query": kql}).to_string();
    let reply = server.ask(Method::POST, &path, &headers, body).await;
    assert_eq!(reply.status, 200, "{}", reply.json());
    let reply = reply.json();
    let table = &reply["tables"][0];
    let names = table["columns"].as_array().unwrap();
    let rows = table["rows"].as_array().unwrap().iter();
    rows.map(|row| {
        let cells = names.iter().zip(row.as_array().unwrap());
        let cells =
            cells.map(|(column, cell)| (column["name"].as_str().unwrap().to_owned(), cell.clone()));
        Value::Object(
            cells
                .filter(|(name, _)| !but.contains(&name.as_str()))
                .collect(),
        )
    })
    .collect()
}

impl Server {
    /// The token of the command line of this machine.
    fn admin(&self) -> String {
        crate::app::read_token(&self.app.settings.data).unwrap()
    }
}
