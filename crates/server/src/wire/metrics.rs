//! Metrics as JSON, with both forms of segment leaves (`D2`).

use hindsight_engine::{
    MetricBody, MetricBucket, MetricResult, MetricSegment, MetricValues, TimeRange,
};
use hindsight_kql_types::Value;

use super::{json, missing};

/// How a segment's leaf looks (`D2`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeafForm {
    /// The specification's: metric key null, value under its aggregation's name, typed dimension.
    Flat,
    /// The recorded one: metric key holds an object, dimensions are strings.
    Object,
}

/// `{"value":{…}}`, with `@ai.query` where asked for, and `@ai.messages` where telemetry is missing (`D34`) or a dimension is in no item.
pub(crate) fn reply(result: &MetricResult, leaf: LeafForm, query: bool) -> String {
    let mut out = String::from("{\"value\":");
    value(result, leaf, &mut out);
    if query {
        out.push_str(",\"@ai.query\":");
        json::string(&result.query, &mut out);
    }
    missing::messages(&result.messages, &result.missing, &mut out);
    out.push('}');
    out
}

/// The object under `value`.
fn value(result: &MetricResult, leaf: LeafForm, out: &mut String) {
    let writer = Writer {
        metric: &result.metric,
        aggregations: &result.aggregations,
        leaf,
    };
    out.push('{');
    range(result.range, out);
    if let Some(interval) = &result.interval {
        out.push_str(",\"interval\":");
        json::string(interval, out);
    }
    out.push(',');
    match &result.body {
        MetricBody::Values(values) => writer.keyed(values, out),
        MetricBody::Segments(segments) => writer.segments(segments, out),
        MetricBody::Buckets(buckets) => {
            out.push_str("\"segments\":[");
            json::list(buckets, out, |bucket, out| writer.bucket(bucket, out));
            out.push(']');
        }
    }
    out.push('}');
}

fn range(range: TimeRange, out: &mut String) {
    out.push_str("\"start\":");
    json::time_milliseconds(range.start, out);
    out.push_str(",\"end\":");
    json::time_milliseconds(range.end, out);
}

struct Writer<'a> {
    metric: &'a str,
    aggregations: &'a [String],
    leaf: LeafForm,
}

impl Writer<'_> {
    fn bucket(&self, bucket: &MetricBucket, out: &mut String) {
        out.push('{');
        range(bucket.range, out);
        out.push(',');
        match &bucket.values {
            Some(values) => self.keyed(values, out),
            None => self.segments(&bucket.segments, out),
        }
        out.push('}');
    }

    fn segments(&self, segments: &[MetricSegment], out: &mut String) {
        out.push_str("\"segments\":[");
        json::list(segments, out, |segment, out| self.segment(segment, out));
        out.push(']');
    }

    fn segment(&self, segment: &MetricSegment, out: &mut String) {
        out.push('{');
        match (&segment.values, self.leaf) {
            (None, _) => {
                self.dimension(segment, out);
                out.push(',');
                self.segments(&segment.segments, out);
            }
            (Some(values), LeafForm::Object) => {
                self.keyed(values, out);
                out.push(',');
                self.dimension(segment, out);
            }
            (Some(values), LeafForm::Flat) => {
                json::key(self.metric, out);
                out.push_str("null,");
                self.pairs(values, out);
                out.push(',');
                self.dimension(segment, out);
            }
        }
        out.push('}');
    }

    /// `"requests/count":{"sum":1}`
    fn keyed(&self, values: &MetricValues, out: &mut String) {
        json::key(self.metric, out);
        out.push('{');
        self.pairs(values, out);
        out.push('}');
    }

    /// `"avg":1.5,"max":2`; no data is null (`D10`).
    fn pairs(&self, values: &MetricValues, out: &mut String) {
        json::list(
            self.aggregations.iter().zip(values),
            out,
            |(name, value), out| {
                json::key(name, out);
                match value {
                    Some(value) => json::real(rounded(*value), out),
                    None => out.push_str("null"),
                }
            },
        );
    }

    fn dimension(&self, segment: &MetricSegment, out: &mut String) {
        json::key(&segment.dimension, out);
        match (self.leaf, &segment.value) {
            (LeafForm::Object, _) => json::string(&segment.text, out),
            (LeafForm::Flat, Value::Bool(value)) => {
                out.push_str(if *value { "true" } else { "false" })
            }
            (LeafForm::Flat, Value::Long(value)) => json::integer(*value, out),
            (LeafForm::Flat, Value::Null(_)) => out.push_str("null"),
            (LeafForm::Flat, _) => json::string(&segment.text, out),
        }
    }
}

/// Two decimals, as recorded (`D10`).
fn rounded(value: f64) -> f64 {
    let scaled = value * 100.0;
    if scaled.is_finite() && scaled.abs() < 9e15 {
        scaled.round() / 100.0
    } else {
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_kql_types::datetime;

    fn at(text: &str) -> i64 {
        datetime::parse(text).unwrap()
    }

    fn result(body: MetricBody, interval: Option<&str>) -> MetricResult {
        MetricResult {
            metric: "requests/duration".to_owned(),
            range: TimeRange {
                start: at("2024-01-01T00:30:00Z"),
                end: at("2024-01-01T01:30:00Z"),
            },
            interval: interval.map(str::to_owned),
            aggregations: vec!["avg".to_owned(), "max".to_owned()],
            body,
            query: "requests".to_owned(),
            messages: Vec::new(),
            missing: vec![],
        }
    }

    fn leaf(dimension: &str, value: &str) -> MetricSegment {
        MetricSegment {
            dimension: dimension.to_owned(),
            value: match value {
                "False" => Value::Bool(false),
                other => Value::String(other.to_owned()),
            },
            text: value.to_owned(),
            values: Some(vec![Some(1.234_56), None]),
            segments: vec![],
        }
    }

    #[test]
    fn a_plain_value_is_an_object_under_the_metric() {
        assert_eq!(
            reply(
                &result(MetricBody::Values(vec![Some(2.0), None]), None),
                LeafForm::Flat,
                false
            ),
            concat!(
                r#"{"value":{"start":"2024-01-01T00:30:00.000Z","end":"2024-01-01T01:30:00.000Z","#,
                r#""requests/duration":{"avg":2,"max":null}}}"#
            )
        );
    }

    #[test]
    fn leaves_are_flat_by_default_and_objects_when_preferred() {
        let body = MetricBody::Segments(vec![leaf("request/success", "False")]);
        let flat = reply(&result(body.clone(), None), LeafForm::Flat, false);
        assert!(flat.contains(r#""segments":[{"requests/duration":null,"avg":1.23,"max":null,"request/success":false}]"#), "{flat}");
        let object = reply(&result(body, None), LeafForm::Object, false);
        assert!(
            object.contains(r#""segments":[{"requests/duration":{"avg":1.23,"max":null},"request/success":"False"}]"#),
            "{object}"
        );
    }

    #[test]
    fn buckets_hold_values_or_nested_segments() {
        let range = TimeRange {
            start: at("2024-01-01T00:30:00Z"),
            end: at("2024-01-01T01:00:00Z"),
        };
        let outer = MetricSegment {
            dimension: "request/name".to_owned(),
            value: Value::String("GET /".to_owned()),
            text: "GET /".to_owned(),
            values: None,
            segments: vec![leaf("request/resultCode", "200")],
        };
        let body = MetricBody::Buckets(vec![
            MetricBucket {
                range,
                values: Some(vec![Some(1.0), Some(2.0)]),
                segments: vec![],
            },
            MetricBucket {
                range,
                values: None,
                segments: vec![outer],
            },
        ]);
        let text = reply(&result(body, Some("PT1H")), LeafForm::Object, true);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["value"]["interval"], "PT1H");
        assert_eq!(value["value"]["segments"][0]["requests/duration"]["max"], 2);
        assert_eq!(
            value["value"]["segments"][1]["segments"][0]["segments"][0]["request/resultCode"],
            "200"
        );
        assert_eq!(value["@ai.query"], "requests");
    }
}
