//! The JSON of the portal's own endpoints.

use hindsight_engine::{
    Checked, Diagnostic, Entry, ResultColumn, language_sections, refused_language, visualizations,
};
use hindsight_identity::{Right, Rights};
use hindsight_kql_types::datetime::{parse, write_trimmed};
use hindsight_store::{Application, KeyRecord, Saved};
use serde_json::{Map, Value, json};

use crate::app::connection_string;

/// The principal.
pub(crate) fn me(name: &str, everywhere: Rights) -> Value {
    json!({ "name": name, "rights": rights(everywhere), "version": env!("CARGO_PKG_VERSION") })
}

/// The names of rights.
fn rights(held: Rights) -> Vec<&'static str> {
    let all = Right::ALL.into_iter();
    all.filter(|right| held.may(*right))
        .map(Right::name)
        .collect()
}

/// A link's secret.
pub(crate) fn link(secret: &str) -> Value {
    json!({ "token": secret })
}

/// A list of applications.
pub(crate) fn apps(list: Vec<Value>) -> Value {
    json!({ "applications": list })
}

/// An application, with what the caller may do with it.
pub(crate) fn app(app: &Application, held: Rights, base: &str) -> Value {
    json!({
        "id": app.id.to_string(),
        "name": app.name,
        "instrumentationKey": app.instrumentation_key.to_string(),
        "connectionString": connection_string(base, app),
        "tier": app.tier.name(),
        "dailyCapBytes": app.daily_cap_bytes,
        "retentionDays": app.retention_days,
        "created": time(app.created),
        "rights": rights(held),
    })
}

/// A list of keys.
pub(crate) fn keys(list: Vec<Value>) -> Value {
    json!({ "keys": list })
}

/// A key without its secret.
pub(crate) fn key(key: &KeyRecord, creator: Option<&str>) -> Value {
    json!({
        "id": key.id,
        "name": key.name,
        "rights": rights(Rights::parse(&key.scopes).unwrap_or_default()),
        "created": time(key.created),
        "expires": key.expires.map(time),
        "lastUsed": key.last_used.map(time),
        "creator": creator,
    })
}

/// A new key, the only time that it is shown.
pub(crate) fn new_key(id: &str, key: &str) -> Value {
    json!({ "id": id, "key": key })
}

/// The saved queries of an application.
pub(crate) fn saved_queries(list: &[Saved]) -> Value {
    json!({ "queries": list.iter().map(saved).collect::<Vec<_>>() })
}

/// The saved workbooks of an application, without their documents.
pub(crate) fn saved_workbooks(list: &[Saved]) -> Value {
    let described = list.iter().map(|workbook| {
        let mut about = saved(workbook);
        if let Some(about) = about.as_object_mut() {
            about.remove("text");
        }
        about
    });
    json!({ "workbooks": described.collect::<Vec<_>>() })
}

/// A saved query or workbook. `etag` is what a change of it names.
pub(crate) fn saved(saved: &Saved) -> Value {
    json!({
        "name": saved.name,
        "text": saved.text,
        "range": saved.range,
        "etag": format!("\"{}\"", saved.version),
        "by": saved.author,
        "changed": time(saved.changed),
    })
}

/// The result of binding the query `text`. `columns` are those of its first result.
pub(crate) fn checked(text: &str, checked: &Checked) -> Value {
    let (diagnostics, results) = match checked {
        Checked::Invalid(diagnostics) => (diagnostics.as_slice(), None),
        Checked::Valid(results) => (Default::default(), results.as_deref()),
    };
    let listed: Vec<Value> = diagnostics
        .iter()
        .map(|one| diagnostic(text, one))
        .collect();
    let first = results.and_then(|results| results.first());
    let columns = first.map(|(_, columns)| {
        let columns = columns.iter();
        let column = |c: &ResultColumn| json!({ "name": c.name, "type": c.kind.name() });
        columns.map(column).collect::<Vec<_>>()
    });
    json!({ "diagnostics": listed, "columns": columns })
}

/// A diagnostic: the place as the errors of queries have it, and its start and length in code units of UTF-16, as scripts count.
fn diagnostic(text: &str, diagnostic: &Diagnostic) -> Value {
    let (line, position, token) = diagnostic.position(text);
    let before = text.get(..diagnostic.span.start as usize).unwrap_or(text);
    json!({
        "code": diagnostic.code.as_str(),
        "severity": "error",
        "message": diagnostic.message,
        "line": line,
        "position": position,
        "token": token,
        "start": before.encode_utf16().count(),
        "length": token.encode_utf16().count(),
    })
}

/// Sections of the reference, by the property that has them.
const FUNCTIONS: [&str; 4] = [
    "Scalar functions",
    "Functions of columns and rows",
    "Functions of graphs",
    "Tables by call",
];

/// The language: what is supported by kind, and what is refused.
pub(crate) fn language() -> Value {
    let sections = language_sections();
    let of = |titles: &[&str], describe: fn(&Entry) -> Value| -> Vec<Value> {
        let sections = sections.iter();
        let listed = sections.filter(|section| titles.contains(&section.title));
        listed
            .flat_map(|section| section.entries.iter().map(describe))
            .collect()
    };
    let refused: Vec<Value> = refused_language()
        .iter()
        .flat_map(|one| {
            let names = one.names.iter();
            names.map(|name| json!({ "kind": one.kind, "name": name, "reason": one.reason }))
        })
        .collect();
    json!({
        "functions": of(&FUNCTIONS, function),
        "aggregates": of(&["Aggregates"], function),
        "plugins": of(&["Plug-ins of evaluate"], syntax),
        "operators": of(&["Tabular operators and sources"], syntax),
        "statements": of(&["Statements"], syntax),
        "renderKinds": visualizations(),
        "refused": refused,
    })
}

fn function(entry: &Entry) -> Value {
    json!({
        "name": name(entry),
        "aliases": entry.aliases,
        "signatures": entry.forms,
        "description": entry.summary,
    })
}

fn syntax(entry: &Entry) -> Value {
    let form = entry.forms.first().copied().unwrap_or_default();
    json!({ "name": name(entry), "syntax": form, "description": entry.summary })
}

/// The name that a form begins with.
fn name(entry: &Entry) -> &'static str {
    let form = entry.forms.first().copied().unwrap_or_default();
    let end = form.find(['(', ' ', '[']).unwrap_or(form.len());
    form.get(..end).unwrap_or_default()
}

/// An item of a tail.
pub(crate) struct TailRow {
    /// When it arrived, in ticks.
    pub(crate) arrived: i64,
    /// Its `itemId`.
    pub(crate) id: String,
    /// Its line.
    pub(crate) line: String,
}

/// The items of a reply, of which the column `arrived` has the time of arrival. `None` if it is no reply with one table.
pub(crate) fn tail_rows(reply: &str, arrived: &str) -> Option<Vec<TailRow>> {
    let reply: Value = serde_json::from_str(reply).ok()?;
    let table = reply.pointer("/tables/0")?;
    let columns = table.get("columns")?.as_array()?.iter();
    let names: Vec<&str> = columns
        .filter_map(|column| column.get("name")?.as_str())
        .collect();
    let rows = table.get("rows")?.as_array()?.iter();
    rows.map(|row| tail_row(&names, row.as_array()?, arrived))
        .collect()
}

/// Columns without a value are left out of a line.
fn tail_row(names: &[&str], cells: &[Value], arrived: &str) -> Option<TailRow> {
    let cells = names.iter().zip(cells);
    let filled = cells.filter(|(_, cell)| !cell.is_null() && cell.as_str() != Some(""));
    let mut item: Map<String, Value> = filled
        .map(|(name, cell)| ((*name).to_owned(), cell.clone()))
        .collect();
    let at = item.remove(arrived)?;
    let id = item.get("itemId").and_then(Value::as_str);
    Some(TailRow {
        arrived: parse(at.as_str()?)?,
        id: id.unwrap_or_default().to_owned(),
        line: format!("{}\n", json!({ "item": item })),
    })
}

/// The line that says how many items were left out. `more`: and others, which were not counted.
pub(crate) fn tail_omitted(count: usize, more: bool) -> String {
    format!("{}\n", json!({ "omitted": count, "more": more }))
}

/// The line that says why a tail ends.
pub(crate) fn tail_error(message: &str) -> String {
    format!("{}\n", json!({ "error": message }))
}

fn time(ticks: i64) -> String {
    let mut text = String::new();
    // Writing into a text cannot fail.
    let _ = write_trimmed(ticks, &mut text);
    text
}
