//! Recorded exchanges of the real service, each asked of this one with telemetry of the same kind.
//!
//! The recordings are not part of this repository: the tests read them from `../shared/recordings` or from
//! `$HINDSIGHT_SHARED/recordings`, and are ignored unless ignored tests are asked for, as `make test` does where they are at hand. What differs is listed in
//! `differences.toml` with the decision that it follows from; an entry that no longer differs fails.

mod shape;
mod telemetry;

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::*;
use hindsight_store::{AppId, NewApplication};
use serde::Deserialize;
use shape::Difference;
use uuid::Uuid;

use crate::wire::metrics::LeafForm;

/// A recording's line in the list of all.
#[derive(Debug, Deserialize)]
struct Listed {
    file: String,
    method: String,
    uri: String,
    status: u16,
}

/// One exchange.
struct Recording {
    name: String,
    method: Method,
    /// From the version on.
    path: String,
    status: u16,
    request_headers: Vec<(String, String)>,
    request_body: Option<String>,
    headers: Vec<(String, String)>,
    body: Value,
}

impl Recording {
    fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// When the service answered, ticks: where a metric was asked for up to that moment, it tells it to the millisecond.
    fn moment(&self) -> i64 {
        let until_now = self.path.contains("timespan=PT")
            || self
                .request_body
                .iter()
                .any(|body| body.contains("\"PT12H\""));
        let metric = self
            .body
            .pointer("/0/body/value")
            .unwrap_or(&self.body["value"]);
        if let (true, Some(end)) = (until_now, metric["end"].as_str()) {
            return hindsight_kql_types::datetime::parse(end).unwrap();
        }
        let date = self.header("date").expect("a date");
        let text = jiff::fmt::rfc2822::parse(date)
            .map(|at| at.timestamp().to_string())
            .unwrap();
        hindsight_kql_types::datetime::parse(&text).unwrap()
    }

    /// The application of the URL.
    fn app(&self) -> &str {
        self.path.split('/').nth(3).unwrap()
    }

    /// The event that the URL names by its id.
    fn event_id(&self) -> Option<&str> {
        let path = self.path.split('?').next().unwrap();
        let segments: Vec<&str> = path.split('/').collect();
        (segments.get(4) == Some(&"events")).then(|| segments.get(6).copied())?
    }
}

/// What differs, where, and why it may.
#[derive(Debug, Deserialize)]
struct Known {
    /// Recordings, with `*` for any text.
    recordings: String,
    /// The place, with `*` for any text.
    at: String,
    /// What differs there, with `*` for any text.
    what: String,
    /// The decision, or where the reason is written down.
    decision: String,
    reason: String,
}

impl Known {
    fn covers(&self, recording: &str, difference: &Difference) -> bool {
        like(&self.recordings, recording)
            && like(&self.at, &difference.at)
            && like(&self.what, &difference.what)
    }
}

#[derive(Debug, Deserialize)]
struct Differences {
    difference: Vec<Known>,
}

/// Whether `text` has the form of `pattern`, in which `*` stands for any text.
fn like(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Where the recordings are.
fn folder() -> PathBuf {
    let near = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let shared = std::env::var_os("HINDSIGHT_SHARED").map_or_else(|| near.into(), PathBuf::from);
    shared.join("recordings")
}

fn recordings(folder: &std::path::Path) -> Vec<Recording> {
    let read = |path: PathBuf| std::fs::read(&path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
    let index: Vec<Listed> = serde_json::from_slice(&read(folder.join("index.json"))).unwrap();
    let one = |listed: Listed| {
        let file = listed.file.trim_start_matches("recordings/");
        let exchange: Value = serde_json::from_slice(&read(folder.join(file))).unwrap();
        let headers = |of: &Value| -> Vec<(String, String)> {
            let headers = of["headers"].as_object().into_iter().flatten();
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            headers
                .map(|(name, value)| (name.to_lowercase(), text(value)))
                .collect()
        };
        let body = match &exchange["request"]["body"] {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        let path = listed
            .uri
            .find("/v1/")
            .and_then(|at| listed.uri.get(at..))
            .unwrap();
        Recording {
            name: file.trim_end_matches(".json").to_owned(),
            method: listed.method.parse().unwrap(),
            path: path.to_owned(),
            status: listed.status,
            request_headers: headers(&exchange["request"]),
            request_body: body,
            headers: headers(&exchange["response"]),
            body: exchange["response"]["body"].clone(),
        }
    };
    index.into_iter().map(one).collect()
}

/// A server of the recording's own time and application, with telemetry like the recorded one.
async fn server_of(recording: &Recording, leaf: LeafForm) -> Server {
    let now = recording.moment();
    let change = |settings: &mut Settings| {
        settings.retention = std::time::Duration::from_secs(20 * 365 * 86_400);
        settings.ingest_max_age = None;
        settings.metric_leaf = leaf;
        if recording.status == 504 {
            // The service was busy; this one is told to be impatient.
            settings.query_max_wait = std::time::Duration::from_millis(1);
        }
    };
    let id = Uuid::parse_str(recording.app()).unwrap_or_else(|_| Uuid::new_v4());
    let server = Server::at(TestClock::at(now), change).await;
    let catalogue = server.app.store.catalogue();
    let key = Uuid::new_v4();
    let mut apps = vec![(id, key)];
    // Further applications of a query.
    if let Some(body) = &recording.request_body {
        let body: Value = serde_json::from_str(body).unwrap();
        let more = body["applications"].as_array().into_iter().flatten();
        apps.extend(more.map(|app| (app.as_str().unwrap().parse().unwrap(), Uuid::new_v4())));
    }
    for (index, (id, instrumentation_key)) in apps.into_iter().enumerate() {
        let new = NewApplication {
            id: AppId(id),
            name: if index == 0 {
                "DEMO_APP".to_owned()
            } else {
                format!("app {index}")
            },
            instrumentation_key,
            created: now,
        };
        catalogue.create_app(new).await.unwrap();
    }
    server.app.directory.current().await.unwrap();
    let items = telemetry::of(recording, &key.to_string());
    for some in items.chunks(10_000) {
        let reply = server.track(serde_json::to_string(some).unwrap()).await;
        assert_eq!(
            reply.status,
            200,
            "{}: {}",
            recording.name,
            String::from_utf8_lossy(&reply.bytes)
        );
    }
    server
}

/// The same request, with the id of the event that stands for the recorded one.
async fn ask(server: &Server, recording: &Recording) -> Reply {
    let token = crate::app::read_token(&server.app.settings.data).unwrap();
    let bearer = format!("Bearer {token}");
    let mut path = recording.path.clone();
    if let Some(id) = recording.event_id() {
        let own = server.any_item(&bearer, recording.app()).await;
        path = path.replace(id, &own);
    }
    let skipped = [
        "x-api-key",
        "content-length",
        "accept-encoding",
        "connection",
        "host",
    ];
    let mut headers: Vec<(&str, &str)> = recording
        .request_headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .filter(|(name, _)| !skipped.contains(name))
        .collect();
    headers.push(("authorization", &bearer));
    let body = || recording.request_body.clone().unwrap_or_default();
    let send = || server.ask(recording.method.clone(), &path, &headers, body());
    let first = send().await;
    // A recording with `Age` came from the cache.
    if recording.header("age").is_some() {
        send().await
    } else {
        first
    }
}

impl Server {
    /// The id of the one item that was stored.
    async fn any_item(&self, bearer: &str, app: &str) -> String {
        let path = format!("/v1/apps/{app}/query?query=union%20*%20%7C%20project%20itemId");
        let headers = [("authorization", bearer), ("cache-control", "no-store")];
        let reply = self.ask(Method::GET, &path, &headers, Body::empty()).await;
        let rows = &reply.json()["tables"][0]["rows"];
        assert_eq!(rows.as_array().map(Vec::len), Some(1), "{rows}");
        rows[0][0].as_str().unwrap().to_owned()
    }
}

/// Everything that differs from the recording.
async fn differences_of(recording: &Recording, leaf: LeafForm) -> BTreeSet<Difference> {
    let server = server_of(recording, leaf).await;
    let reply = ask(&server, recording).await;
    let mut found = shape::headers(&recording.headers, &reply.headers);
    if reply.status != recording.status {
        let what = format!("{} → {}", recording.status, reply.status.as_u16());
        found.insert(Difference::new("status", what));
    }
    shape::bodies(&recording.body, &reply.json(), &mut found);
    found
}

#[tokio::test]
#[ignore = "needs the recordings of the real service: set HINDSIGHT_SHARED and run ignored tests too"]
async fn replies_have_the_recorded_shapes() {
    let known: Differences = toml::from_str(include_str!("differences.toml")).unwrap();
    let mut used = vec![false; known.difference.len()];
    let mut unknown = Vec::new();
    let recordings = recordings(&folder());
    assert_eq!(recordings.len(), 79);
    for recording in &recordings {
        for difference in differences_of(recording, LeafForm::Flat).await {
            let entries = known.difference.iter().enumerate();
            let entry = entries
                .filter(|(_, entry)| entry.covers(&recording.name, &difference))
                .map(|(index, _)| index)
                .next();
            match entry {
                Some(index) => used[index] = true,
                None => unknown.push(format!(
                    "{}: {}: {}",
                    recording.name, difference.at, difference.what
                )),
            }
        }
    }
    let stale: Vec<_> = known
        .difference
        .iter()
        .zip(&used)
        .filter(|(_, used)| !**used)
        .map(|(entry, _)| format!("{} at {}: {}", entry.recordings, entry.at, entry.what))
        .collect();
    assert!(
        unknown.is_empty(),
        "{} differences are not listed:\n{}",
        unknown.len(),
        unknown.join("\n")
    );
    assert!(
        stale.is_empty(),
        "listed, but nothing differs:\n{}",
        stale.join("\n")
    );
    for entry in &known.difference {
        assert!(!entry.decision.is_empty() && !entry.reason.is_empty());
    }
}

/// `D2`: with the recorded form of leaves, metrics are as recorded; averages and the order of segments (`D12`) too.
#[tokio::test]
#[ignore = "needs the recordings of the real service: set HINDSIGHT_SHARED and run ignored tests too"]
async fn metrics_in_the_recorded_leaf_form_differ_in_nothing() {
    let mut compared = 0;
    for recording in recordings(&folder()) {
        // The .NET SDK's are those with segments.
        if !recording.name.starts_with("net/Metrics.") {
            continue;
        }
        let server = server_of(&recording, LeafForm::Object).await;
        let reply = ask(&server, &recording).await;
        let mut found = BTreeSet::new();
        shape::bodies(&recording.body, &reply.json(), &mut found);
        assert!(found.is_empty(), "{}: {found:#?}", recording.name);
        // Other aggregations than the average cannot be told from the items that stand for it.
        if !recording.name.ends_with("_AllAggregations") {
            let name = &recording.name;
            assert_eq!(timed(&reply.json()), timed(&recording.body), "{name}");
            compared += 1;
        }
    }
    assert_eq!(compared, 11);
}

/// The value with its moments in one spelling: the recorder wrote them anew.
fn timed(value: &Value) -> Value {
    match value {
        Value::String(text) => match hindsight_kql_types::datetime::parse(text) {
            Some(ticks) if text.contains('T') => Value::from(ticks),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(timed).collect(),
        Value::Object(members) => {
            let timed = members
                .iter()
                .map(|(key, value)| (key.clone(), timed(value)));
            Value::Object(timed.collect())
        }
        other => other.clone(),
    }
}

#[test]
fn patterns_stand_for_texts() {
    assert!(like("a*c", "abc") && like("a*", "a") && like("*", "") && like("a.b", "a.b"));
    assert!(!like("a*c", "abd") && !like("a", "ab") && !like("a*b*c", "acb"));
}
