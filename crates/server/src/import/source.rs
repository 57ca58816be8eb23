//! The forms of a record, recognised by its properties, and what they have in common.

use serde_json::value::RawValue;

use super::line::{Fields, Line, fields};
use super::reply::QueryReply;
use super::value::Ignored;
use super::{continuous, diagnostic, reply};

/// The items of a record's text: one for most forms, one for each row of a query's reply.
///
/// # Errors
/// Why nothing of the record can be imported. Errors in the list are those of single items.
pub(crate) fn lines(
    record: &RawValue,
    ignored: &Ignored,
) -> Result<Vec<Result<Line, String>>, String> {
    let fields = fields(record).ok_or("a record is no JSON object")?;
    if fields.contains_key("tables") {
        let reply: QueryReply = serde_json::from_str(record.get())
            .map_err(|error| format!("the reply of a query cannot be read: {error}"))?;
        return reply::lines(&reply, ignored);
    }
    if let Some(records) = fields.get("records") {
        let records: Vec<&RawValue> =
            serde_json::from_str(records.get()).map_err(|_| "`records` is no array".to_owned())?;
        return Ok(records
            .into_iter()
            .map(|record| one(record, ignored))
            .collect());
    }
    Ok(match continuous::lines(&fields, ignored) {
        Some(Ok(lines)) => lines.into_iter().map(Ok).collect(),
        Some(Err(error)) => vec![Err(error)],
        None => vec![of_columns(&fields, ignored)],
    })
}

fn one(record: &RawValue, ignored: &Ignored) -> Result<Line, String> {
    let fields = fields(record).ok_or("a record is no JSON object")?;
    of_columns(&fields, ignored)
}

/// A record that has columns of a table.
fn of_columns(fields: &Fields<'_>, ignored: &Ignored) -> Result<Line, String> {
    if let Some(table) = diagnostic::table(fields) {
        return diagnostic::line(table, fields, ignored);
    }
    if let Some(table) = reply::item_table(fields) {
        return reply::classic(table, fields, ignored);
    }
    let names: Vec<&str> = fields.keys().take(5).map(String::as_str).collect();
    Err(format!(
        "a record with {} is of no known form",
        names.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a record, or why it is refused.
    fn read(record: &str, ignored: &[&str]) -> Result<String, String> {
        let ignored = Ignored(ignored.iter().map(|name| (*name).to_owned()).collect());
        let record: &RawValue = serde_json::from_str(record).unwrap();
        let mut text = String::new();
        for line in lines(record, &ignored)? {
            line?.write(&mut text);
        }
        Ok(text)
    }

    #[test]
    fn numbers_keep_their_digits_and_bags_their_order() {
        let record = r#"{"Type":"AppTraces","time":"2024-01-01T00:00:00.1234567Z","SeverityLevel":3,
            "Properties":"{\"b\":\"1\",\"a\":\"2\"}","Measurements":{"m":0.10000000000000000555}}"#;
        assert_eq!(
            read(record, &[]).unwrap(),
            concat!(
                r#"{"itemType":"trace","timestamp":"2024-01-01T00:00:00.1234567Z","severityLevel":3,"#,
                r#""customDimensions":{"b":"1","a":"2"},"customMeasurements":{"m":0.10000000000000000555}}"#,
                "\n"
            )
        );
    }

    #[test]
    fn rows_of_replies_and_lines_of_exports_are_the_same_items() {
        let line = r#"{"itemType":"customEvent","timestamp":"2024-01-01T00:00:00Z","name":"a","itemId":"1"}"#;
        let reply = r#"{"tables":[{"name":"PrimaryResult","columns":[{"name":"timestamp"},{"name":"name"},{"name":"itemType"},
            {"name":"itemId"},{"name":"customDimensions"}],"rows":[["2024-01-01T00:00:00Z","a","customEvent","1",""]]}]}"#;
        let of_line = read(line, &[]).unwrap();
        let of_reply = read(reply, &[]).unwrap();
        assert_eq!(of_reply.replace(r#","customDimensions":null"#, ""), of_line);
    }

    #[test]
    fn what_is_not_known_is_refused_by_name() {
        for (record, message) in [
            (r#"{"a":1,"b":2}"#, "a record with a, b is of no known form"),
            ("[1]", "no JSON object"),
            (
                r#"{"Type":"AppTraces","Oops":1}"#,
                "the column 'Oops' of AppTraces is not known; `--ignore Oops`",
            ),
            (
                r#"{"itemType":"trace","oops":1}"#,
                "the column 'oops' of traces is not known",
            ),
            (r#"{"records":{}}"#, "`records` is no array"),
            (r#"{"tables":[]}"#, "0 results"),
            (
                r#"{"tables":[{"name":"t","columns":[{"name":"n"}],"rows":[[1]]}]}"#,
                "does not say which table",
            ),
            (
                r#"{"context":{},"internal":{},"performanceCounter":[{}]}"#,
                "no known type",
            ),
            (
                r#"{"context":{},"internal":{},"event":[{"name":"a"},{"name":"b"}]}"#,
                "has 2 elements",
            ),
            (
                r#"{"context":{},"internal":{},"message":[{"severityLevel":"Loud"}]}"#,
                "'Loud' is no severity",
            ),
            (
                r#"{"Type":"AppRequests","Success":"perhaps"}"#,
                "is no truth",
            ),
            (
                r#"{"Type":"AppRequests","DurationMs":"long"}"#,
                "is no value of the column 'duration'",
            ),
        ] {
            let error = read(record, &[]).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
        assert!(read(r#"{"Type":"AppTraces","Oops":1}"#, &["Oops"]).is_ok());
    }

    #[test]
    fn a_metric_of_continuous_export_is_a_row_for_each_of_its_names() {
        let record = r#"{"metric":[],"internal":{"data":{"id":"i"}},"context":{"data":{"eventTime":"2024-01-01T00:00:00Z"},
            "custom":{"metrics":[{"a":{"value":6,"count":3,"min":1,"max":3,"stdDev":1,"sum":6}},{"b":{"value":2}}]}}}"#;
        let text = read(record, &[]).unwrap();
        let [first, second] = text.lines().collect::<Vec<_>>()[..] else {
            panic!("two lines are expected: {text}");
        };
        assert!(
            first.contains(r#""name":"a","value":2,"valueCount":3,"valueSum":6"#),
            "{first}"
        );
        assert!(first.contains(r#""itemId":"i""#), "{first}");
        assert!(second.contains(r#""itemId":"i-1""#), "{second}");
    }
}
