//! Live metrics as SDKs send them (QuickPulse) and as a browser's `EventSource` reads them.

use std::fmt::Write as _;

use hindsight_kql_types::{datetime, ticks};
use serde_json::{Map, Value};

use super::json;
use crate::live::{
    Document, MAX_DOCUMENTS, MAX_FIELDS, MAX_METRICS, MAX_TEXT, Metric, Sample, Shown, Source,
};

/// Members of a document that are told otherwise, or are of use to its sender alone.
const NOT_FIELDS: [&str; 4] = ["DocumentType", "DocumentStreamIds", "Properties", "__type"];

/// The samples of a post: an array of objects, or one of them. Unknown members are ignored; a sample without a readable time
/// has been measured `now`, in ticks.
///
/// # Errors
/// In a sentence, what is not JSON or not of this form.
pub(crate) fn samples(body: &[u8], now: i64) -> Result<Vec<Sample>, String> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    let value: Value = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let list = match value {
        Value::Array(list) => list,
        one => vec![one],
    };
    let wrong = || "A sample of live metrics is an object".to_owned();
    let objects = list.iter().map(|one| one.as_object().ok_or_else(wrong));
    objects
        .map(|object| object.map(|object| sample(object, now)))
        .collect()
}

fn sample(object: &Map<String, Value>, now: i64) -> Sample {
    let list = |name: &str| {
        let list = object.get(name).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_object)
    };
    Sample {
        time: object.get("Timestamp").and_then(time).unwrap_or(now),
        source: Source {
            stream: text(object, "StreamId"),
            instance: text(object, "Instance"),
            role: text(object, "RoleName"),
            machine: text(object, "MachineName"),
            version: text(object, "Version"),
        },
        metrics: list("Metrics")
            .filter_map(metric)
            .take(MAX_METRICS)
            .collect(),
        documents: list("Documents")
            .map(document)
            .take(MAX_DOCUMENTS)
            .collect(),
    }
}

/// A metric; one without a name or a value is left out.
fn metric(object: &Map<String, Value>) -> Option<Metric> {
    let name = text(object, "Name");
    let number = |name: &str| object.get(name).and_then(Value::as_f64);
    (!name.is_empty()).then_some(())?;
    Some(Metric {
        name,
        value: number("Value")?,
        weight: number("Weight").unwrap_or(1.0),
    })
}

fn document(object: &Map<String, Value>) -> Document {
    let fields = object
        .iter()
        .filter(|(name, value)| !NOT_FIELDS.contains(&name.as_str()) && !value.is_null())
        .map(|(name, value)| (cut(name), plain(value)));
    let properties = match object.get("Properties") {
        Some(Value::Array(list)) => list
            .iter()
            .filter_map(Value::as_object)
            .map(|pair| (text(pair, "key"), text(pair, "value")))
            .take(MAX_FIELDS)
            .collect(),
        Some(Value::Object(object)) => object
            .iter()
            .map(|(name, value)| (cut(name), plain(value)))
            .take(MAX_FIELDS)
            .collect(),
        _ => Vec::new(),
    };
    Document {
        kind: text(object, "DocumentType"),
        fields: fields.take(MAX_FIELDS).collect(),
        properties,
    }
}

/// ISO 8601, or `/Date(milliseconds)/` with an optional offset, as the classic SDKs write it.
fn time(value: &Value) -> Option<i64> {
    let text = value.as_str()?;
    let Some(inner) = text
        .strip_prefix("/Date(")
        .and_then(|rest| rest.strip_suffix(")/"))
    else {
        return datetime::parse(text);
    };
    let digits = inner
        .char_indices()
        .find(|(at, c)| *at > 0 && !c.is_ascii_digit());
    let milliseconds = inner.get(..digits.map_or(inner.len(), |(at, _)| at))?;
    ticks::from_unix_millis(milliseconds.parse().ok()?)
}

/// A member's text; empty if there is none.
fn text(object: &Map<String, Value>, name: &str) -> String {
    object.get(name).map(plain).unwrap_or_default()
}

/// A text as it is, any other value as JSON; cut to the most bytes that are kept.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => cut(text),
        other => cut(&other.to_string()),
    }
}

fn cut(text: &str) -> String {
    let mut end = text.len().min(MAX_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_owned()
}

/// The first lines of a stream: the client comes back after two seconds if the connection ends.
pub(crate) const BEGIN: &str = "retry: 2000\n\n";
/// A comment, which keeps proxies from closing a quiet connection.
pub(crate) const KEEP_ALIVE: &str = ":\n\n";

/// An event of the stream (HTML Living Standard §9.2).
pub(crate) fn event(shown: &Shown) -> String {
    let mut out = String::new();
    match shown {
        Shown::Sample(sample) => {
            out.push_str("event: sample\ndata: ");
            write_sample(sample, &mut out);
        }
        // Writing into a text cannot fail.
        Shown::Missed(count) => {
            let _ = write!(out, "event: missed\ndata: {{\"samples\":{count}}}");
        }
    }
    out.push_str("\n\n");
    out
}

fn write_sample(sample: &Sample, out: &mut String) {
    let Source {
        stream,
        instance,
        role,
        machine,
        version,
    } = &sample.source;
    out.push_str("{\"time\":");
    json::time(sample.time, out);
    for (name, text) in [
        ("stream", stream),
        ("instance", instance),
        ("role", role),
        ("machine", machine),
        ("version", version),
    ] {
        out.push(',');
        json::key(name, out);
        json::string(text, out);
    }
    out.push_str(",\"metrics\":[");
    json::list(&sample.metrics, out, |metric, out| {
        out.push_str("{\"name\":");
        json::string(&metric.name, out);
        out.push_str(",\"value\":");
        json::real(metric.value, out);
        out.push_str(",\"weight\":");
        json::real(metric.weight, out);
        out.push('}');
    });
    out.push_str("],\"documents\":[");
    json::list(&sample.documents, out, |document, out| {
        out.push_str("{\"type\":");
        json::string(&document.kind, out);
        for (name, pairs) in [
            ("fields", &document.fields),
            ("properties", &document.properties),
        ] {
            out.push(',');
            json::key(name, out);
            out.push('{');
            json::list(pairs, out, |(name, value), out| {
                json::key(name, out);
                json::string(value, out);
            });
            out.push('}');
        }
        out.push('}');
    });
    out.push_str("]}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn one(value: &Value) -> Sample {
        let mut found = samples(value.to_string().as_bytes(), 7).unwrap();
        assert_eq!(found.len(), 1, "{value}");
        found.remove(0)
    }

    #[test]
    fn both_forms_of_times_are_read() {
        let at = |text: &str| one(&json!([{ "Timestamp": text }])).time;
        let expected = datetime::parse("2026-11-22T14:46:47.922Z").unwrap();
        assert_eq!(at("2026-11-22T14:46:47.922Z"), expected);
        assert_eq!(at("/Date(1795358807922)/"), expected);
        assert_eq!(at("/Date(1795358807922+0100)/"), expected);
        for unreadable in ["", "/Date()/", "/Date(x)/", "/Date(99999999999999999999)/"] {
            assert_eq!(at(unreadable), 7, "{unreadable}");
        }
    }

    #[test]
    fn what_is_long_is_cut_and_what_is_unknown_is_ignored() {
        let long = "ä".repeat(1000);
        let metrics: Vec<Value> = (0..100)
            .map(|n| json!({ "Name": format!("m{n}"), "Value": n }))
            .collect();
        let documents = vec![
            json!({ "DocumentType": "Trace", "Message": long, "Other": 1,
            "Properties": [{ "key": "a", "value": "b" }], "DocumentStreamIds": ["x"] });
            30
        ];
        let found = one(
            &json!({ "Instance": long, "Metrics": metrics, "Documents": documents, "New": {} }),
        );
        assert_eq!(found.source.instance.len(), MAX_TEXT);
        assert_eq!(found.metrics.len(), MAX_METRICS);
        assert_eq!(found.documents.len(), MAX_DOCUMENTS);
        assert_eq!(found.documents[0].kind, "Trace");
        assert_eq!(
            found.documents[0].fields[1],
            ("Other".to_owned(), "1".to_owned())
        );
        assert_eq!(
            found.documents[0].properties,
            [("a".to_owned(), "b".to_owned())]
        );
        let nothing = one(&json!({ "Metrics": null, "Documents": [null, 1], "StreamId": null }));
        assert_eq!((nothing.metrics.len(), nothing.documents.len()), (0, 0));
    }

    #[test]
    fn what_is_no_list_of_objects_is_refused() {
        for wrong in ["", "nothing", "1", "[1]", "[{}, null]", "null"] {
            assert!(samples(wrong.as_bytes(), 0).is_err(), "{wrong}");
        }
        assert_eq!(samples(b"[]", 0), Ok(Vec::new()));
    }
}
