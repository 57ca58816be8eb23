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
use serde_json::Value;

use super::access::Access;
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
    access.must_accept(&["application/json"])?;
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
    id: Option<String>,
    parameters: Option<MemberParameters>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MemberParameters {
    metric_id: Option<String>,
    timespan: Option<String>,
    interval: Option<String>,
    aggregation: Option<List>,
    segment: Option<List>,
    top: Option<i64>,
    orderby: Option<String>,
    filter: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum List {
    Text(String),
    Items(Vec<String>),
}

impl List {
    fn items(this: Option<List>) -> Vec<String> {
        let items = match this {
            None => Vec::new(),
            Some(List::Text(text)) => vec![text],
            Some(List::Items(items)) => items,
        };
        items
            .iter()
            .flat_map(|item| item.split(','))
            .map(str::trim)
            .filter(|item| !item.is_empty())
            .map(str::to_owned)
            .collect()
    }
}

/// `POST …/metrics` (`D6`, `D7`)
pub(crate) async fn post(
    State(app): State<Arc<App>>,
    access: Access,
    id: Extension<RequestId>,
    headers: HeaderMap,
    given: Body,
) -> Result<Response, ApiError> {
    access.must_accept(&["application/json"])?;
    let body = body::query(&app, access.reader(), &headers, given).await?;
    let members: Vec<Value> = serde_json::from_slice(&body.bytes)
        .map_err(|error| ApiError::InvalidBody(error.to_string()))?;
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
    match app.replies.make(&key, access.cache, make).await? {
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
    let member: Member = match serde_json::from_value(member) {
        Ok(member) => member,
        Err(error) => return (id, Err(ApiError::bad(error.to_string()))),
    };
    let Some(name) = member.id else {
        return (None, Err(ApiError::bad("'id' property is required")));
    };
    if seen.contains(&name) {
        let message = format!("The id '{name}' occurs more than once in the request");
        return (Some(name), Err(ApiError::bad(message)));
    }
    seen.push(name.clone());
    let given = member.parameters.unwrap_or_default();
    let Some(metric) = given.metric_id.filter(|metric| !metric.is_empty()) else {
        return (
            Some(name),
            Err(ApiError::bad("'metricId' property is required")),
        );
    };
    let parameters = MetricParameters {
        metric,
        timespan: given.timespan,
        interval: given.interval,
        aggregation: List::items(given.aggregation),
        segment: List::items(given.segment),
        top: given.top,
        orderby: given.orderby,
        filter: given.filter,
    };
    (Some(name), Ok(parameters))
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
            // A fault of ours is found in the log by the id of the whole request.
            let correlation = status.is_server_error().then_some(request.0.as_str());
            if let Some(id) = correlation {
                tracing::error!(request_id = %id, error = ?error, "a member of a batch failed");
            }
            let (status, body) = (status.as_u16(), error.body(correlation));
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
        check(json!({"id": "b"}), "'metricId' property is required");
        check(json!({"id": 5}), "string");
        check(json!(5), "invalid type");
    }

    #[test]
    fn a_failed_member_has_its_own_status() {
        let mut out = String::new();
        let id = RequestId("one".to_owned());
        member_reply(Some("a"), Err(ApiError::bad("no")), &id, &mut out);
        let value: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((&value["id"], &value["status"]), (&json!("a"), &json!(400)));
        assert_eq!(value["body"]["error"]["code"], "BadArgumentError");
        assert!(value["body"]["error"].get("correlationId").is_none());
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
