//! What differs between a recorded reply and ours: status, headers, keys, their order, types.

use std::collections::BTreeSet;

use axum::http::HeaderMap;
use serde_json::{Map, Value};

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Difference {
    /// Where: `status`, `header vary`, `body value[].user.id`.
    pub(super) at: String,
    /// What: `recorded → ours`.
    pub(super) what: String,
}

impl Difference {
    pub(super) fn new(at: impl Into<String>, what: impl Into<String>) -> Difference {
        Difference {
            at: at.into(),
            what: what.into(),
        }
    }
}

/// Headers that tell of the connection, the machine and the moment.
const OF_THE_MACHINE: &[&str] = &[
    "connection",
    "content-length",
    "date",
    "server",
    "transfer-encoding",
    "via",
];

/// Headers by name and value; of `Age` only that it is there.
pub(super) fn headers(recorded: &[(String, String)], ours: &HeaderMap) -> BTreeSet<Difference> {
    let mut found = BTreeSet::new();
    for (name, value) in recorded {
        if OF_THE_MACHINE.contains(&name.as_str()) {
            continue;
        }
        let at = format!("header {name}");
        match ours.get(name).map(|value| value.to_str().unwrap()) {
            None => {
                found.insert(Difference::new(at, format!("{value} → none")));
            }
            Some(own) if name != "age" && !same(value, own) => {
                found.insert(Difference::new(at, format!("{value} → {own}")));
            }
            Some(_) => {}
        }
    }
    if ours.contains_key("age") && !recorded.iter().any(|(name, _)| name == "age") {
        found.insert(Difference::new("header age", "none → present"));
    }
    found
}

/// Header values are equal without regard to case and to spaces after commas.
fn same(a: &str, b: &str) -> bool {
    let plain = |text: &str| text.to_lowercase().replace(", ", ",");
    plain(a) == plain(b)
}

/// Bodies: keys, order of keys, types of values, lengths of arrays.
pub(super) fn bodies(recorded: &Value, ours: &Value, found: &mut BTreeSet<Difference>) {
    compare(recorded, ours, "body", found);
}

fn compare(recorded: &Value, ours: &Value, at: &str, found: &mut BTreeSet<Difference>) {
    match (recorded, ours) {
        (Value::Object(recorded), Value::Object(ours)) if recorded.contains_key("rows") => {
            table(recorded, ours, at, found);
        }
        (Value::Object(recorded), Value::Object(ours)) => object(recorded, ours, at, found),
        (Value::Array(recorded), Value::Array(ours)) => {
            if recorded.len() != ours.len() {
                let what = format!("{} elements → {}", recorded.len(), ours.len());
                found.insert(Difference::new(at, what));
            }
            for (recorded, ours) in recorded.iter().zip(ours) {
                compare(recorded, ours, &format!("{at}[]"), found);
            }
        }
        (recorded, ours) if kind(recorded) != kind(ours) => {
            let what = format!("{} → {}", kind(recorded), kind(ours));
            found.insert(Difference::new(at, what));
        }
        _ => {}
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn object(
    recorded: &Map<String, Value>,
    ours: &Map<String, Value>,
    at: &str,
    found: &mut BTreeSet<Difference>,
) {
    keys(
        recorded.keys().map(String::as_str),
        ours.keys().map(String::as_str),
        at,
        found,
    );
    for (key, value) in recorded {
        if let Some(own) = ours.get(key) {
            compare(value, own, &format!("{at}.{key}"), found);
        }
    }
}

/// Names that are missing, that are more, and the order of the common ones.
fn keys<'k>(
    recorded: impl Iterator<Item = &'k str>,
    ours: impl Iterator<Item = &'k str>,
    at: &str,
    found: &mut BTreeSet<Difference>,
) {
    let (recorded, ours): (Vec<_>, Vec<_>) = (recorded.collect(), ours.collect());
    for key in recorded.iter().filter(|key| !ours.contains(key)) {
        found.insert(Difference::new(format!("{at}.{key}"), "recorded → none"));
    }
    for key in ours.iter().filter(|key| !recorded.contains(key)) {
        found.insert(Difference::new(format!("{at}.{key}"), "none → ours"));
    }
    let common = |these: &[&str], others: &[&str]| -> Vec<String> {
        let kept = these.iter().filter(|key| others.contains(key));
        kept.map(|key| (*key).to_owned()).collect()
    };
    if common(&recorded, &ours) != common(&ours, &recorded) {
        found.insert(Difference::new(at, "another order of keys"));
    }
}

/// A table of a query: columns by name, type and order; of rows, which types each column's cells have.
fn table(
    recorded: &Map<String, Value>,
    ours: &Map<String, Value>,
    at: &str,
    found: &mut BTreeSet<Difference>,
) {
    keys(
        recorded.keys().map(String::as_str),
        ours.keys().map(String::as_str),
        at,
        found,
    );
    if recorded["name"] != ours["name"] {
        let what = format!("{} → {}", recorded["name"], ours["name"]);
        found.insert(Difference::new(format!("{at}.name"), what));
    }
    let columns = |table: &Map<String, Value>| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let columns = table["columns"].as_array().unwrap().iter();
        columns
            .map(|column| (text(&column["name"]), text(&column["type"])))
            .collect()
    };
    let (theirs, own) = (columns(recorded), columns(ours));
    let names = |columns: &'_ [(String, String)]| -> Vec<String> {
        columns.iter().map(|(name, _)| name.clone()).collect()
    };
    let (their_names, own_names) = (names(&theirs), names(&own));
    keys(
        their_names.iter().map(String::as_str),
        own_names.iter().map(String::as_str),
        &format!("{at}.columns"),
        found,
    );
    for (index, (name, kind)) in theirs.iter().enumerate() {
        let Some(place) = own.iter().position(|(known, _)| known == name) else {
            continue;
        };
        if own[place].1 != *kind {
            let what = format!("{kind} → {}", own[place].1);
            found.insert(Difference::new(format!("{at}.columns.{name}"), what));
        }
        let (theirs, own) = (cells(recorded, index), cells(ours, place));
        for kind in own.difference(&theirs) {
            let what = format!("{} → {kind}", list(&theirs));
            found.insert(Difference::new(format!("{at}.rows.{name}"), what));
        }
    }
}

/// The types of a column's cells.
fn cells(table: &Map<String, Value>, column: usize) -> BTreeSet<&'static str> {
    let rows = table["rows"].as_array().unwrap().iter();
    rows.map(|row| kind(&row[column])).collect()
}

fn list(kinds: &BTreeSet<&'static str>) -> String {
    kinds.iter().copied().collect::<Vec<_>>().join(" or ")
}
