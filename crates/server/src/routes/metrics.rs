//! Metrics: one by GET, several by POST (operations 1 and 2).

use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use hindsight_engine::MetricParameters;
use hindsight_engine::metrics::find;
use hindsight_store::Table;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::access::Access;
use super::json::{self, Property};
use super::{JSON, answer, body, respond};
use crate::app::App;
use crate::error::ApiError;
use crate::middleware::outer::RequestId;
use crate::reply::{Answer, Kept, Made, Reads};
use crate::wire::json as write;
use crate::wire::metrics::{self, LeafForm};
use crate::wire::missing;

/// Members of one batch.
const MAX_BATCH: usize = 100;

/// `GET …/metrics/{metricId}`
pub(crate) async fn get(
    State(app): State<Arc<App>>,
    access: Access,
    Path((_, _, metric)): Path<(String, String, String)>,
) -> Result<Response, ApiError> {
    let params = &access.params;
    let top = match params.one("top")? {
        None => None,
        Some(text) => Some(text.trim().parse().map_err(|_| bad_top(&text))?),
    };
    let parameters = MetricParameters {
        metric,
        timespan: params.one("timespan")?,
        interval: params.one("interval")?,
        aggregation: params.list("aggregation"),
        segment: params.list("segment"),
        top,
        orderby: params.one("orderby")?,
        filter: params.one("filter")?,
    };
    let (app, access) = (&app, &access);
    let key = key(app, access, &parameters);
    let make = |_permit| compute(app, access, &parameters);
    let answer = answer(app, access, &key, make).await?;
    Ok(respond(answer, JSON, access))
}

/// The cache's key: the request and the form of its reply.
fn key(app: &App, access: &Access, parameters: &MetricParameters) -> String {
    format!(
        "metric\n{}\n{parameters:?}\n{:?}\n{}",
        access.caller().scope(),
        leaf(app, access),
        access.prefer.query_payload
    )
}

async fn compute(
    app: &App,
    access: &Access,
    parameters: &MetricParameters,
) -> Result<Made, ApiError> {
    let result = app.engine.metric(&access.caller(), parameters).await?;
    let text = metrics::reply(&result, leaf(app, access), access.prefer.query_payload);
    let tables = find(&parameters.metric).map_or_else(Vec::new, |metric| metric.tables());
    let tables = tables.into_iter().filter_map(Table::from_name);
    Ok(Made::Whole {
        body: text.into(),
        missing: missing::header(&result.missing),
        reads: Reads::tables(access.app.id, tables),
    })
}

fn bad_top(text: &str) -> ApiError {
    ApiError::Bad {
        message: format!("'{text}' is not an integer"),
        target: Some("top".to_owned()),
        position: None,
    }
}

fn leaf(app: &App, access: &Access) -> LeafForm {
    match access.prefer.leaf_object {
        Some(true) => LeafForm::Object,
        Some(false) => LeafForm::Flat,
        None => app.settings.metric_leaf,
    }
}

/// A member of a batch. Clients send lists as arrays or as text with commas.
#[derive(Debug, Deserialize)]
struct Member {
    #[serde(default)]
    id: Property,
    parameters: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct MemberParameters {
    metric_id: Property,
    timespan: Property,
    interval: Property,
    aggregation: Property,
    segment: Property,
    top: Property,
    orderby: Property,
    filter: Property,
}

/// `POST …/metrics` (`D6`, `D7`)
pub(crate) async fn post(
    State(app): State<Arc<App>>,
    access: Access,
    id: Extension<RequestId>,
    headers: HeaderMap,
    given: Body,
) -> Result<Response, ApiError> {
    let body = body::query(&app, access.reader(), &headers, given).await?;
    let members: Vec<Value> = json::body(&body.bytes, b'[', "a JSON array of metric requests")?;
    if members.len() > MAX_BATCH {
        return Err(ApiError::bad(format!(
            "A batch has at most {MAX_BATCH} members, this one has {}",
            members.len()
        )));
    }
    let _permit = access.permit(&app).await?;
    let mut seen: Vec<String> = Vec::with_capacity(members.len());
    let mut out = String::from("[");
    for (index, member) in members.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        let (name, outcome) = match prepare(member, &mut seen) {
            (name, Ok(parameters)) => (name, run(&app, &access, parameters).await),
            (name, Err(error)) => (name, Err(error)),
        };
        member_reply(name.as_deref(), outcome, &id.0, &mut out);
    }
    out.push(']');
    let reply = Answer::Whole(Kept::new(out.into(), None), None);
    Ok(respond(reply, JSON, &access))
}

/// The reply of a member: the same as of a request for it alone.
async fn run(app: &App, access: &Access, parameters: MetricParameters) -> Result<Bytes, ApiError> {
    let key = key(app, access, &parameters);
    if let Some(Answer::Whole(kept, _)) = app.replies.find(&key, access.cache).await {
        return Ok(kept.body);
    }
    let make = || compute(app, access, &parameters);
    let made = app.replies.make(&key, access.cache, make);
    match app.shutdown.or_ending(made).await? {
        Answer::Whole(kept, _) => Ok(kept.body),
        Answer::Streamed(_) => Err(ApiError::Internal("a metric was streamed".to_owned())),
    }
}

/// The member's id, and its parameters or what is wrong with it.
fn prepare(
    member: Value,
    seen: &mut Vec<String>,
) -> (Option<String>, Result<MetricParameters, ApiError>) {
    let id = member.get("id").and_then(Value::as_str).map(str::to_owned);
    let outcome = read(member, seen);
    (id, outcome)
}

fn read(member: Value, seen: &mut Vec<String>) -> Result<MetricParameters, ApiError> {
    let not_an_object = "A member of a batch must be an object with 'id' and 'parameters'";
    let member: Member = object(member, || ApiError::bad(not_an_object))?;
    let required = |name: &str| json::wrong(name, format!("'{name}' property is required"));
    let id = member.id.text("id")?.ok_or_else(|| required("id"))?;
    if seen.contains(&id) {
        let message = format!("The id '{id}' occurs more than once in the request");
        return Err(json::wrong("id", message));
    }
    seen.push(id);
    let given = member.parameters.ok_or_else(|| required("parameters"))?;
    let given: MemberParameters = object(given, || {
        json::wrong("parameters", "'parameters' must be an object".to_owned())
    })?;
    let metric = given.metric_id.text("metricId")?;
    let metric = metric.filter(|metric| !metric.is_empty());
    Ok(MetricParameters {
        metric: metric.ok_or_else(|| required("metricId"))?,
        timespan: given.timespan.text("timespan")?,
        interval: given.interval.text("interval")?,
        aggregation: given.aggregation.list("aggregation")?,
        segment: given.segment.list("segment")?,
        top: given.top.integer("top")?,
        orderby: given.orderby.text("orderby")?,
        filter: given.filter.text("filter")?,
    })
}

/// Decodes a JSON object whose properties may have any type.
fn object<T: DeserializeOwned>(value: Value, other: impl Fn() -> ApiError) -> Result<T, ApiError> {
    if !value.is_object() {
        return Err(other());
    }
    serde_json::from_value(value).map_err(|_| other())
}

fn member_reply(
    id: Option<&str>,
    outcome: Result<Bytes, ApiError>,
    request: &RequestId,
    out: &mut String,
) {
    out.push('{');
    if let Some(id) = id {
        write::key("id", out);
        write::string(id, out);
        out.push(',');
    }
    match outcome {
        Ok(body) => {
            out.push_str("\"status\":200,\"body\":");
            out.push_str(&String::from_utf8_lossy(&body));
        }
        Err(error) => {
            let status = error.status();
            // The id of the whole request, by which the log describes an internal error.
            let id = request.0.as_str();
            if status.is_server_error() {
                tracing::error!(request_id = %id, error = ?error, "a member of a batch failed");
            }
            let (status, body) = (status.as_u16(), error.body(Some(id)));
            out.push_str(&format!("\"status\":{status},\"body\":{body}"));
        }
    }
    out.push('}');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_take_lists_in_both_forms() {
        let mut seen = Vec::new();
        let member = json!({"id": "a", "parameters": {"metricId": "requests/count", "aggregation": "sum, avg", "segment": ["request/name"]}});
        let (id, parameters) = prepare(member, &mut seen);
        let parameters = parameters.unwrap();
        assert_eq!(id.as_deref(), Some("a"));
        assert_eq!(
            (parameters.aggregation, parameters.segment),
            (
                vec!["sum".to_owned(), "avg".to_owned()],
                vec!["request/name".to_owned()]
            )
        );
    }

    #[test]
    fn members_that_are_wrong_fail_alone() {
        let mut seen = vec!["a".to_owned()];
        let mut check = |member: Value, expected: &str| {
            let (_, outcome) = prepare(member, &mut seen);
            let message = outcome.unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        };
        check(
            json!({"id": "a", "parameters": {"metricId": "x"}}),
            "more than once",
        );
        check(
            json!({"parameters": {"metricId": "x"}}),
            "'id' property is required",
        );
        check(json!({"id": "b"}), "'parameters' property is required");
        check(
            json!({"id": "c", "parameters": {}}),
            "'metricId' property is required",
        );
        check(json!({"id": 5}), "'id' must be a string, not an integer");
        check(json!(5), "must be an object with 'id' and 'parameters'");
        check(json!(["d", {}]), "must be an object");
        check(
            json!({"id": "e", "parameters": []}),
            "'parameters' must be an object",
        );
        check(
            json!({"id": "f", "parameters": {"metricId": "x", "top": "1"}}),
            "'top' must be an integer, not a string",
        );
        check(
            json!({"id": "g", "parameters": {"metricId": "x", "aggregation": []}}),
            "'aggregation' must have at least one item",
        );
    }

    #[test]
    fn a_failed_member_has_its_own_status() {
        let mut out = String::new();
        let id = RequestId("one".to_owned());
        member_reply(Some("a"), Err(ApiError::bad("no")), &id, &mut out);
        let value: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((&value["id"], &value["status"]), (&json!("a"), &json!(400)));
        assert_eq!(value["body"]["error"]["code"], "BadArgumentError");
        assert_eq!(value["body"]["error"]["correlationId"], "one");
        out.clear();
        member_reply(
            Some("a"),
            Err(ApiError::Internal("no".into())),
            &id,
            &mut out,
        );
        let value: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(value["body"]["error"]["correlationId"], "one");
    }
}
