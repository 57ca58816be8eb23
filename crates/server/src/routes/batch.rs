//! `POST /v1/$batch`: several queries of workspaces in one request. Each is admitted, limited and cached as if it came alone.

use std::collections::HashSet;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, http};
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt};
use hindsight_identity::secret;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::access::{Access, Version};
use super::{JSON, body, json, query, respond};
use crate::app::App;
use crate::auth::gate::Admitted;
use crate::auth::guard::{Standing, admit};
use crate::error::ApiError;
use crate::middleware::outer::RequestId;
use crate::origin::Head;
use crate::wire::missing;

/// Members of a batch.
const MAX_MEMBERS: usize = 100;
/// Members that run at once.
const AT_ONCE: usize = 4;
/// Headers of a member's reply that the batch repeats.
const REPEATED: [HeaderName; 5] = [
    missing::HEADER,
    header::AGE,
    header::CONTENT_TYPE,
    header::RETRY_AFTER,
    HeaderName::from_static("preference-applied"),
];

/// The body of a batch. Unknown members are ignored, as clients send more than is documented.
#[derive(Debug, Deserialize)]
struct Batch {
    requests: Vec<Member>,
}

/// A query of a batch.
#[derive(Debug, Deserialize)]
struct Member {
    /// A text or a number, by which the client finds the reply.
    id: Value,
    headers: Option<Map<String, Value>>,
    #[serde(default)]
    body: Value,
    path: Option<String>,
    method: Option<String>,
    workspace: Option<String>,
}

/// `POST /{version}/$batch`
pub(crate) async fn post(
    State(app): State<Arc<App>>,
    Extension(admitted): Extension<Admitted>,
    version: Version,
    head: Head,
    given: Body,
) -> Result<Response, ApiError> {
    let reader = (head.connection.address(), &admitted.principal.id);
    let given = body::query(&app, reader, &head.headers, given).await?;
    let description = "a JSON object with an array 'requests', whose members have an 'id'";
    let batch: Batch = json::body(&given.bytes, b'{', description)?;
    if batch.requests.len() > MAX_MEMBERS {
        return Err(ApiError::bad(format!(
            "A batch has at most {MAX_MEMBERS} members, this one has {}",
            batch.requests.len()
        )));
    }
    let mut seen = HashSet::new();
    let members = batch.requests.into_iter().map(|member| {
        let is_new = seen.insert(member.id.to_string());
        (member, is_new)
    });
    let members: Vec<(Member, bool)> = members.collect();
    // The texts of the queries are held until the last of them is answered.
    let context = Arc::new((app, version, head, given.memory));
    let replies = stream::iter(members).map(move |(member, is_new)| {
        let context = context.clone();
        async move {
            let (app, version, head, _) = &*context;
            let id = secret::new_id().to_string();
            let outcome = if is_new {
                run(app, *version, head, &member, &id).await
            } else {
                Err(ApiError::bad("Another member of the batch has this id"))
            };
            written(&member.id, &id, outcome)
        }
    });
    let replies = replies.buffered(AT_ONCE).enumerate();
    let replies = replies.flat_map(|(index, reply)| {
        let separator = if index == 0 { "" } else { "," };
        text(separator).chain(reply)
    });
    let all = text("{\"responses\":[").chain(replies).chain(text("]}"));
    Ok(([(header::CONTENT_TYPE, JSON)], Body::from_stream(all)).into_response())
}

/// The reply of a member.
async fn run(
    app: &Arc<App>,
    version: Version,
    head: &Head,
    member: &Member,
    id: &str,
) -> Result<Response, ApiError> {
    let is_query = member.path.as_deref().is_none_or(|path| path == "/query");
    let is_post = member
        .method
        .as_deref()
        .is_none_or(|method| method.eq_ignore_ascii_case("POST"));
    if !is_query || !is_post {
        return Err(ApiError::bad(
            "A member of a batch is a POST of the path '/query'",
        ));
    }
    let workspace = member.workspace.as_deref().unwrap_or_default();
    let admitted = admit(app, &Standing::of(head, workspace)).await?;
    let access = access(app, version, head, member, admitted)?;
    let text = serde_json::to_vec(&member.body).unwrap_or_default();
    let asked = query::Asked::parse(&text)?;
    let id = RequestId(id.to_owned());
    let answer = query::run(app, &access, &id, &headers(member)?, asked, true).await?;
    Ok(respond(answer, JSON, &access))
}

/// A member as a request of its own: with its headers and the client's connection.
fn access(
    app: &App,
    version: Version,
    head: &Head,
    member: &Member,
    admitted: Admitted,
) -> Result<Access, ApiError> {
    let mut request = http::Request::builder()
        .method(Method::POST)
        .uri(head.uri.path())
        .extension(head.connection)
        .body(())
        .map_err(|_| ApiError::PathNotFound)?;
    *request.headers_mut() = headers(member)?;
    let (parts, ()) = request.into_parts();
    let workspace = member.workspace.clone().unwrap_or_default();
    Access::new(app, &parts, version, workspace, admitted)
}

/// The headers of a member.
fn headers(member: &Member) -> Result<HeaderMap, ApiError> {
    let given = member.headers.iter().flatten();
    let pairs = given.filter_map(|(name, value)| {
        let text = value.as_str().filter(|text| !text.is_empty())?;
        Some((name, text))
    });
    let pairs = pairs.map(|(name, text)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        Some((name, HeaderValue::from_str(text).ok()?))
    });
    let headers: Option<HeaderMap> = pairs.collect();
    headers.ok_or_else(|| ApiError::bad("A header of this member is not valid"))
}

/// A member's reply as it stands in the reply of the batch.
fn written(
    name: &Value,
    id: &str,
    outcome: Result<Response, ApiError>,
) -> BoxStream<'static, Result<Bytes, axum::Error>> {
    let response = outcome.unwrap_or_else(|error| {
        let mut response = error.into_response();
        crate::middleware::outer::write_error(&mut response, id);
        response
    });
    let mut headers = Map::new();
    headers.insert("x-ms-request-id".to_owned(), id.into());
    for header in REPEATED {
        if let Some(value) = response.headers().get(&header) {
            let value = value.to_str().unwrap_or_default();
            headers.insert(header.as_str().to_owned(), value.into());
        }
    }
    let status = response.status().as_u16();
    let begin = format!(
        "{{\"id\":{name},\"status\":{status},\"headers\":{},\"body\":",
        Value::Object(headers)
    );
    let body = response.into_body().into_data_stream();
    text(begin).chain(body).chain(text("}")).boxed()
}

fn text(text: impl Into<Bytes>) -> impl Stream<Item = Result<Bytes, axum::Error>> {
    stream::once(std::future::ready(Ok(text.into())))
}
