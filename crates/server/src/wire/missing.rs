//! How replies say what they could not read (`D34`).

use std::collections::BTreeMap;

use axum::http::{HeaderName, HeaderValue};
use hindsight_store::MissingData;

use super::json;

/// The header of a reply that lacks telemetry: `requests 2026-11-21T00:00:00Z/2026-11-21T01:00:00Z, …`.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("hindsight-missing");
/// Ranges that are named. Further ones are counted.
const NAMED: usize = 20;

/// The ranges as text, by table and time; `None` if nothing is missing.
fn ranges(missing: &[MissingData]) -> Option<String> {
    // What of several applications is missing is named once.
    let mut named: BTreeMap<(i64, i64), Vec<&str>> = BTreeMap::new();
    for range in missing {
        let tables = named.entry((range.from, range.to)).or_default();
        if !tables.contains(&range.table.name()) {
            tables.push(range.table.name());
        }
    }
    let mut texts = Vec::new();
    for ((from, to), tables) in &named {
        for table in tables {
            let mut text = format!("{table} ");
            // Writing into a text cannot fail.
            let _ = hindsight_kql_types::datetime::write_trimmed(*from, &mut text);
            text.push('/');
            let _ = hindsight_kql_types::datetime::write_trimmed(*to, &mut text);
            texts.push(text);
        }
    }
    let more = texts.len().saturating_sub(NAMED);
    texts.truncate(NAMED);
    if more > 0 {
        texts.push(format!("and {more} more"));
    }
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// A sentence that says what is missing; `None` if nothing is.
pub(crate) fn message(missing: &[MissingData]) -> Option<String> {
    let ranges = ranges(missing)?;
    Some(format!(
        "The result is not whole: a part of the stored telemetry is damaged and cannot be read: {ranges}"
    ))
}

/// The value of [`HEADER`]; `None` if nothing is missing.
pub(crate) fn header(missing: &[MissingData]) -> Option<HeaderValue> {
    HeaderValue::from_str(&ranges(missing)?).ok()
}

/// `"@ai.messages":[…]` of notices, codes with messages, and of what is missing; nothing if there is none.
pub(crate) fn messages(notices: &[(String, String)], missing: &[MissingData], out: &mut String) {
    let mut all: Vec<(&str, &str)> = notices
        .iter()
        .map(|(code, message)| (code.as_str(), message.as_str()))
        .collect();
    let message = message(missing);
    all.extend(message.as_deref().map(|message| ("PartialError", message)));
    if all.is_empty() {
        return;
    }
    out.push_str(",\"@ai.messages\":[");
    json::list(&all, out, |(code, message), out| {
        out.push_str("{\"code\":");
        json::string(code, out);
        out.push_str(",\"message\":");
        json::string(message, out);
        out.push('}');
    });
    out.push(']');
}
