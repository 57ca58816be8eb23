//! Every row of the specification's tables, from `conformance/specification`; its README says how an entry is written.

mod grants;
mod statements;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::oauth::Issuer;
use super::*;
use base64::Engine as _;
use serde::Deserialize;

/// What the clock says.
const NOW: &str = "2026-03-06T12:00:00Z";

#[derive(Deserialize)]
struct File {
    section: Vec<Section>,
}

#[derive(Deserialize)]
struct Section {
    title: String,
    #[serde(default)]
    row: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    #[serde(default)]
    each: Vec<String>,
    #[serde(default)]
    settings: Vec<String>,
    tier: Option<String>,
    seen: Option<String>,
    /// The flow of the embedded issuer that gives the reply.
    grant: Option<String>,
    /// Other values of parameters or fields of the flow's last request; an empty one is left out.
    #[serde(default)]
    change: BTreeMap<String, String>,
    /// Why it does not hold yet; a row that holds must not say so.
    gap: Option<String>,
    #[serde(default)]
    steps: Vec<Step>,
    // A row with one step is written without `steps`.
    ask: Option<String>,
    body: Option<String>,
    headers: Option<BTreeMap<String, String>>,
    key: Option<bool>,
    status: Option<u16>,
    #[serde(default)]
    check: Vec<String>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Step {
    ask: String,
    body: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    key: Option<bool>,
    status: Option<u16>,
    #[serde(default)]
    check: Vec<String>,
    /// Seconds that pass before.
    pass: Option<u64>,
    /// One more trace comes in before.
    #[serde(default)]
    track: bool,
    /// The pointer to a text that later steps write as `{kept}`.
    keep: Option<String>,
}

impl Row {
    fn steps(&self) -> Vec<Step> {
        let single = self.ask.clone().map(|ask| Step {
            ask,
            body: self.body.clone(),
            headers: self.headers.clone().unwrap_or_default(),
            key: self.key,
            status: self.status,
            check: self.check.clone(),
            pass: None,
            track: false,
            keep: None,
        });
        single.into_iter().chain(self.steps.clone()).collect()
    }

    /// Whether it changes what others would see.
    fn needs_a_server(&self) -> bool {
        let changes = |step: &Step| step.pass.is_some() || step.track;
        !self.settings.is_empty() || self.tier.is_some() || self.steps.iter().any(changes)
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/specification")
}

fn sections() -> Vec<Section> {
    let mut all = Vec::new();
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    paths.sort();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let file: File =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        all.extend(file.section);
    }
    all
}

/// The names that the entry `{each}` of a section lists.
pub(super) fn specified_names(title: &str) -> Vec<String> {
    let sections = sections().into_iter();
    let rows = sections.filter(|section| section.title == title);
    let rows = rows.flat_map(|section| section.row);
    let each = rows
        .filter(|row| row.name == "{each}")
        .flat_map(|row| row.each);
    each.filter_map(|word| word.split(' ').next().map(str::to_owned))
        .collect()
}

/// A server with the telemetry, at the time of the telemetry.
struct World {
    server: Server,
    clock: Arc<TestClock>,
    bank: Application,
}

impl World {
    async fn open(settings: &[String]) -> World {
        let clock = TestClock::at(hindsight_kql_types::datetime::parse(NOW).unwrap());
        let server = Server::at(clock.clone(), |own| {
            own.query_rate = 1_000_000;
            for setting in settings {
                let (key, value) = setting.split_once('=').unwrap();
                own.set(key, value).unwrap();
            }
        })
        .await;
        let catalogue = server.app.store.catalogue();
        let bank = create_app(catalogue, "bank", server.app.now())
            .await
            .unwrap();
        let text = std::fs::read_to_string(folder().join("telemetry.ndjson")).unwrap();
        let ikey = server.shop.instrumentation_key.to_string();
        let reply = server.track(text.replace("{ikey}", &ikey)).await;
        assert_eq!(reply.status, 200, "{}", reply.json());
        World {
            server,
            clock,
            bank,
        }
    }

    async fn set_tier(&self, tier: &str) {
        let tier = hindsight_store::Tier::parse(tier).unwrap();
        let catalogue = self.server.app.store.catalogue();
        let limits = catalogue.set_app_limits(self.server.shop.id, tier, None, None);
        limits.await.unwrap();
        self.server.app.directory.current().await.unwrap();
    }

    fn filled(&self, text: &str, each: &str, kept: &str) -> String {
        let mut text = text
            .replace("{each}", each)
            .replace("{app}", &self.server.shop.id.to_string())
            .replace("{ikey}", &self.server.shop.instrumentation_key.to_string())
            .replace("{bank}", &self.bank.id.to_string())
            .replace("{key}", &self.server.key)
            .replace("{basic user}", &base64(&format!("{}:", self.server.key)))
            .replace(
                "{basic password}",
                &base64(&format!(":{}", self.server.key)),
            )
            .replace("{basic both}", &base64(&format!("{}:x", self.server.key)))
            .replace("{basic wrong}", &base64(&format!("x:{}", self.server.key)))
            .replace("{kept}", kept);
        for (place, word) in each.split(' ').enumerate() {
            text = text.replace(&format!("{{each.{place}}}"), word);
        }
        text
    }

    /// Runs a row's steps; says what is not as it should be.
    async fn run(&self, row: &Row, each: &str) -> Result<(), String> {
        let mut kept = String::new();
        for step in row.steps() {
            if let Some(seconds) = step.pass {
                self.clock.pass(seconds);
            }
            if step.track {
                let item = self
                    .server
                    .envelope("MessageData", serde_json::json!({"message": "more"}));
                self.server
                    .track(serde_json::json!([item]).to_string())
                    .await;
            }
            let ask = self.filled(&step.ask, each, &kept);
            let reply = self.ask(&step, &ask, each, &kept).await;
            holds(&ask, &reply, step.status, &step.check, |check| {
                self.filled(check, each, &kept)
            })?;
            if let Some(pointer) = &step.keep {
                let value = reply.json().pointer(pointer).cloned();
                kept = value.and_then(|v| v.as_str().map(str::to_owned)).unwrap();
            }
        }
        Ok(())
    }

    async fn ask(&self, step: &Step, ask: &str, each: &str, kept: &str) -> Reply {
        let (method, path) = ask.split_once(' ').unwrap();
        let filled: Vec<(String, String)> = step
            .headers
            .iter()
            .map(|(name, value)| {
                (
                    self.filled(name, each, kept),
                    self.filled(value, each, kept),
                )
            })
            .collect();
        let mut headers: Vec<(&str, &str)> = filled
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        if step.key != Some(false) {
            headers.push(("x-api-key", &self.server.key));
        }
        let body = step.body.as_deref().unwrap_or_default();
        let body = self.filled(body, each, kept);
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        self.server.ask(method, path, &headers, body).await
    }
}

fn base64(text: &str) -> String {
    base64::engine::general_purpose::STANDARD.encode(text)
}

/// Whether a reply is as it should be; says what is not.
fn holds(
    asked: &str,
    reply: &Reply,
    status: Option<u16>,
    checks: &[String],
    filled: impl Fn(&str) -> String,
) -> Result<(), String> {
    let (wanted, body) = (status.unwrap_or(200), String::from_utf8_lossy(&reply.bytes));
    if reply.status.as_u16() != wanted {
        return Err(format!(
            "{asked}: {} and not {wanted}: {body}",
            reply.status
        ));
    }
    for check in checks {
        let check = filled(check);
        judge(&check, reply)
            .map_err(|found| format!("{asked}: {check}, but found {found} in {body}"))?;
    }
    Ok(())
}

/// Whether a check holds; what was found where it does not.
fn judge(check: &str, reply: &Reply) -> Result<(), String> {
    let (target, operator, rest) = ["=", "is", "has", "counts"]
        .iter()
        .filter_map(|operator| {
            let at = check.find(&format!(" {operator} "))?;
            let rest = &check[at + operator.len() + 2..];
            Some((at, (&check[..at], *operator, rest)))
        })
        .min_by_key(|(at, _)| *at)
        .unwrap_or_else(|| panic!("'{check}' is no check"))
        .1;
    let found = value_of(target, reply);
    let holds = match operator {
        "=" => {
            let wanted: Value = serde_json::from_str(rest).unwrap_or_else(|_| rest.into());
            found.as_ref().is_some_and(|found| same(found, &wanted))
        }
        "has" => {
            let wanted: Value = serde_json::from_str(rest).unwrap_or_else(|_| rest.into());
            let text = found.as_ref().and_then(Value::as_str).unwrap_or_default();
            text.contains(wanted.as_str().unwrap())
        }
        "counts" => {
            let wanted: usize = rest.parse().unwrap();
            let list = found.as_ref().and_then(Value::as_array);
            list.is_some_and(|list| list.len() == wanted)
        }
        _ => is(rest, found.as_ref()),
    };
    if holds {
        Ok(())
    } else {
        Err(found.map_or("nothing".to_owned(), |found| found.to_string()))
    }
}

fn value_of(target: &str, reply: &Reply) -> Option<Value> {
    if let Some(name) = target.strip_prefix("header ") {
        let value = reply.headers.get(name)?;
        return Some(value.to_str().unwrap().into());
    }
    let json: Value = serde_json::from_slice(&reply.bytes).ok().or_else(|| {
        assert!(!target.starts_with('/'), "the reply is no JSON");
        None
    })?;
    if target != "metric" {
        return json.pointer(target).cloned();
    }
    // The one value of the one metric, under whichever of its names.
    let value = json["value"].as_object()?;
    let metric = value.iter().find(|(key, _)| key.contains('/'))?.1;
    metric.as_object()?.values().next().cloned()
}

/// Equal, and numbers by their value.
fn same(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => found == wanted,
    }
}

fn is(kind: &str, value: Option<&Value>) -> bool {
    let text = value.and_then(Value::as_str);
    let parses = |test: &dyn Fn(&str) -> bool| text.is_some_and(test);
    match kind {
        "absent" => value.is_none(),
        "any" => value.is_some(),
        "null" => value.is_some_and(Value::is_null),
        "string" => text.is_some(),
        "boolean" => value.is_some_and(Value::is_boolean),
        "number" => value.is_some_and(Value::is_number),
        "integer" => {
            value.is_some_and(|v| v.is_i64() || v.is_u64()) || parses(&|t| t.parse::<i64>().is_ok())
        }
        "array" => value.is_some_and(Value::is_array),
        "object" => value.is_some_and(Value::is_object),
        "guid" => parses(&|t| uuid::Uuid::parse_str(t).is_ok()),
        "date-time" => {
            parses(&|t| t.ends_with('Z') && hindsight_kql_types::datetime::parse(t).is_some())
        }
        "duration" => parses(&|t| t.starts_with('P')),
        other => panic!("'{other}' is no type"),
    }
}

#[tokio::test]
async fn every_row_holds() {
    let shared = World::open(&[]).await;
    let issuer = Issuer::start().await;
    let mut failed = Vec::new();
    for section in sections() {
        for row in &section.row {
            let own = if row.needs_a_server() {
                Some(World::open(&row.settings).await)
            } else {
                None
            };
            let world = own.as_ref().unwrap_or(&shared);
            if let Some(tier) = &row.tier {
                world.set_tier(tier).await;
            }
            let once = [String::new()];
            let each = if row.each.is_empty() {
                &once
            } else {
                row.each.as_slice()
            };
            for word in each {
                let name = row.name.replace("{each}", word);
                let ran = match &row.grant {
                    None => world.run(row, word).await,
                    Some(grant) => {
                        let change: Vec<(String, &str)> = row
                            .change
                            .iter()
                            .map(|(name, value)| (name.replace("{each}", word), value.as_str()))
                            .collect();
                        let reply = grants::reply(&issuer, grant, &change).await;
                        holds(grant, &reply, row.status, &row.check, |check| {
                            check.replace("{each}", word)
                        })
                    }
                };
                match (ran, &row.gap) {
                    (Ok(()), None) | (Err(_), Some(_)) => {}
                    (Err(why), None) => failed.push(format!("{} / {name}: {why}", section.title)),
                    (Ok(()), Some(_)) => {
                        failed.push(format!("{} / {name} holds: take `gap` away", section.title))
                    }
                }
            }
        }
    }
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}

/// A row that names a test names one that exists.
#[test]
fn tests_that_rows_name_exist() {
    let sources = [
        include_str!("http.rs"),
        include_str!("identity.rs"),
        include_str!("oauth/attacks.rs"),
        include_str!("query.rs"),
    ];
    for section in sections() {
        for row in &section.row {
            if let Some(test) = &row.seen {
                let known = sources
                    .iter()
                    .any(|text| text.contains(&format!("fn {test}(")));
                assert!(known, "{} / {}: no test {test}", section.title, row.name);
            } else {
                let asks = row.grant.is_some() || !row.steps().is_empty();
                assert!(asks, "{} asks nothing", row.name);
            }
        }
    }
}

/// The rows of the specification's tables: heading and first cell.
fn specified(text: &str) -> BTreeSet<(String, String)> {
    let mut rows = BTreeSet::new();
    let (mut heading, mut in_table) = (String::new(), false);
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            heading = title.to_owned();
        } else if let Some(title) = line.strip_prefix("### ") {
            heading = title.to_owned();
        }
        let is_row = line.starts_with('|');
        // The first line of a table is its header, the second its rule.
        if is_row && in_table && !line.starts_with("|---") {
            let cell = line.split('|').nth(1).unwrap().trim();
            rows.insert((heading.clone(), cell.to_owned()));
        }
        in_table = is_row;
        // The words of an enumeration are rows too.
        for (mark, section) in [
            ("Metric ids (enum): ", "Metric ids"),
            (
                "Segment dimensions (enum in the body schema): ",
                "Segment dimensions",
            ),
        ] {
            let Some(list) = line.strip_prefix(mark) else {
                continue;
            };
            let words = list.split(". ").next().unwrap().trim_end_matches('.');
            for word in words.split(", ") {
                rows.insert((section.to_owned(), word.to_owned()));
            }
        }
    }
    rows
}

#[test]
#[ignore = "needs the service's specification: set HINDSIGHT_SHARED and run ignored tests too"]
fn every_row_of_the_specification_has_an_entry() {
    let shared = std::env::var_os("HINDSIGHT_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let text = std::fs::read_to_string(shared.join("spec/service-specification.md"))
        .expect("the specification is in HINDSIGHT_SHARED");
    let mut written = BTreeSet::new();
    for section in sections() {
        for row in section.row {
            let names = if row.each.is_empty() {
                vec![row.name]
            } else {
                row.each
                    .iter()
                    .filter_map(|word| word.split(' ').next().map(str::to_owned))
                    .collect()
            };
            written.extend(names.into_iter().map(|name| (section.title.clone(), name)));
        }
    }
    let missing: Vec<_> = specified(&text)
        .into_iter()
        .filter(|row| !written.contains(row))
        .collect();
    assert!(missing.is_empty(), "rows without an entry: {missing:#?}");
}
