//! Pairs of one recording: the same telemetry as OpenTelemetry sends it and as the official exporter of Application Insights does,
//! with what that exporter should have sent. Both give the same rows.
//!
//! The pairs are in `$HINDSIGHT_SHARED/otlp/pairs`.

use std::path::PathBuf;

use super::{TABLES, rows};
use crate::app::create_app;
use crate::tests::*;

/// The time of the pairs.
const NOW: &str = "2026-11-20T12:00:00Z";
/// What OpenTelemetry cannot tell, or the server gives.
const NOT_COMPARED: [&str; 5] = ["itemId", "sdkVersion", "appId", "appName", "iKey"];

fn folder() -> PathBuf {
    let near = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let shared = std::env::var_os("HINDSIGHT_SHARED").map_or_else(|| near.into(), PathBuf::from);
    shared.join("otlp/pairs")
}

/// The paths of a pair's payload.
fn path(otlp: &Value) -> &'static str {
    match otlp.as_object().unwrap().keys().next().unwrap().as_str() {
        "resourceSpans" => "/v1/traces",
        "resourceLogs" => "/v1/logs",
        "resourceMetrics" => "/v1/metrics",
        other => panic!("{other} is no signal"),
    }
}

async fn differences(server: &Server, pair: &Value) -> Vec<String> {
    let catalogue = server.app.store.catalogue();
    let name = pair["name"].as_str().unwrap();
    let mut apps = Vec::new();
    for door in ["otlp", "track"] {
        let app = create_app(catalogue, &format!("{name} {door}"), server.app.now()).await;
        apps.push(app.unwrap());
    }
    let [one, other] = apps.as_slice() else {
        unreachable!()
    };
    let key = one.instrumentation_key.to_string();
    let headers = [
        ("content-type", "application/json"),
        ("x-instrumentation-key", &key),
    ];
    let otlp = &pair["otlp"];
    let reply = server
        .ask(Method::POST, path(otlp), &headers, otlp.to_string())
        .await;
    let text = String::from_utf8_lossy(&reply.bytes).into_owned();
    if (reply.status.as_u16(), text.as_str()) != (200, "{}") {
        return vec![format!("{name}: {} {text}", reply.status)];
    }
    let mut expected = pair["expected"].clone();
    let items = expected.as_array_mut().unwrap();
    let tells_address = items
        .iter()
        .map(|item| item["tags"].get("ai.location.ip").is_some())
        .collect::<Vec<_>>();
    for item in items.iter_mut() {
        item["iKey"] = other.instrumentation_key.to_string().into();
    }
    let reply = server.track(expected.to_string()).await;
    assert_eq!(reply.status, 200, "{name}: {}", reply.json());
    let mut but = NOT_COMPARED.to_vec();
    but.push("_ResourceId");
    if !tells_address.iter().all(|tells| *tells) {
        but.push("client_IP");
    }
    let (mut found, mut compared) = (Vec::new(), 0);
    for table in TABLES {
        let ours = rows(server, one, table, &but).await;
        let theirs = rows(server, other, table, &but).await;
        if ours.len() != theirs.len() {
            found.push(format!(
                "{name}: {} instead of {} rows of {table}",
                ours.len(),
                theirs.len()
            ));
        }
        compared += theirs.len();
        for (our, their) in ours.iter().zip(&theirs) {
            for (column, value) in their.as_object().unwrap() {
                if our[column] != *value {
                    found.push(format!(
                        "{name}: {table}.{column} is {} instead of {value}",
                        our[column]
                    ));
                }
            }
        }
    }
    assert_eq!(compared, tells_address.len(), "{name}: each item is a row");
    found
}

#[tokio::test]
#[ignore = "needs the recorded pairs: set HINDSIGHT_SHARED and run ignored tests too"]
async fn opentelemetry_gives_the_rows_of_the_official_exporter() {
    let clock = TestClock::at(hindsight_kql_types::datetime::parse(NOW).unwrap());
    let server = Server::at(clock, |settings| settings.query_rate = 1_000_000).await;
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .expect("the pairs are in HINDSIGHT_SHARED")
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let (mut found, mut compared) = (Vec::new(), 0);
    for file in files {
        let pair: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        found.extend(differences(&server, &pair).await);
        compared += 1;
    }
    assert!(compared >= 100, "{compared}");
    assert!(
        found.is_empty(),
        "{} differences:\n{}",
        found.len(),
        found.join("\n")
    );
}
