//! Queries and descriptions that are addressed by a resource: `/v1{resourceId}/query` and `/metadata`.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams, State};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::Response;

use super::access::Access;
use super::replies::{METADATA, RESULT};
use super::route::{Operation, Route, alias, json_body, query, route};
use super::{metadata, query as queries};
use crate::app::App;
use crate::error::ApiError;
use crate::middleware::outer::RequestId;
use crate::resource::{ResourceType, is_groups};

/// The operations of a resource's queries.
const QUERY: &[Operation] = &[
    query(
        "resourceQueryGet",
        "Execute an Analytics query of a resource.",
        &["query", "timespan", "applications"],
        RESULT,
        |route| route.get(query_get),
    ),
    Operation {
        method: "post",
        body: json_body(true, "QueryRequest"),
        ..query(
            "resourceQueryPost",
            "Execute an Analytics query of a resource.",
            &["timespan", "applications"],
            RESULT,
            |route| route.post(query_post),
        )
    },
];
/// The operations of a resource's description.
const DESCRIPTION: &[Operation] = &[
    query(
        "resourceMetadataGet",
        "The tables of a resource and their columns.",
        &["applications"],
        METADATA,
        |route| route.get(metadata_get),
    ),
    Operation {
        method: "post",
        body: json_body(false, "MetadataRequest"),
        ..query(
            "resourceMetadataPost",
            "The tables of a resource and their columns.",
            &["applications"],
            METADATA,
            |route| route.post(metadata_post),
        )
    },
];

/// A resource in a path.
macro_rules! azure {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            "/subscriptions/{subscription}/{groups}/{group}/providers/{provider}/{resourceType}/{appId}",
            $after
        )
    };
}

/// The `_ResourceId` of rows in a path.
macro_rules! own {
    ($before:literal, $after:literal) => {
        concat!($before, "/hindsight/apps/{appId}", $after)
    };
}

/// Clients write a resource's id with its slash after the slash of their template, and some leave out the version.
pub(super) static ROUTES: &[Route] = &[
    route(azure!("/{version}", "/query"), QUERY),
    route(azure!("/{version}", "/metadata"), DESCRIPTION),
    alias(azure!("/{version}/", "/query"), QUERY),
    alias(azure!("/{version}/", "/metadata"), DESCRIPTION),
    alias(azure!("", "/query"), QUERY),
    alias(azure!("", "/metadata"), DESCRIPTION),
    alias(azure!("/", "/query"), QUERY),
    alias(azure!("/", "/metadata"), DESCRIPTION),
    alias(own!("/{version}", "/query"), QUERY),
    alias(own!("/{version}", "/metadata"), DESCRIPTION),
    alias(own!("/{version}/", "/query"), QUERY),
    alias(own!("/{version}/", "/metadata"), DESCRIPTION),
    alias(own!("", "/query"), QUERY),
    alias(own!("", "/metadata"), DESCRIPTION),
    alias(own!("/", "/query"), QUERY),
    alias(own!("/", "/metadata"), DESCRIPTION),
];

/// The type of the resource in the path.
pub(crate) struct Addressed(ResourceType);

impl<S: Send + Sync> FromRequestParts<S> for Addressed {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Addressed, ApiError> {
        let path = RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(|_| ApiError::PathNotFound)?;
        let part = |name: &str| {
            let mut found = path.iter().filter(|(known, _)| *known == name);
            found.next().map(|(_, value)| value)
        };
        let Some(groups) = part("groups") else {
            return Ok(Addressed(ResourceType::Application));
        };
        let (provider, kind) = (part("provider"), part("resourceType"));
        ResourceType::find(provider.unwrap_or_default(), kind.unwrap_or_default())
            .filter(|_| is_groups(groups))
            .map(Addressed)
            .ok_or(ApiError::PathNotFound)
    }
}

/// `GET /v1{resourceId}/query?query=`
pub(crate) async fn query_get(
    state: State<Arc<App>>,
    Addressed(kind): Addressed,
    access: Access,
    id: Extension<RequestId>,
    headers: HeaderMap,
) -> Response {
    match kind {
        ResourceType::Application => queries::get(state, access, id, headers).await,
        ResourceType::Workspace => queries::workspace_get(state, access, id, headers).await,
    }
}

/// `POST /v1{resourceId}/query`
pub(crate) async fn query_post(
    state: State<Arc<App>>,
    Addressed(kind): Addressed,
    access: Access,
    id: Extension<RequestId>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    match kind {
        ResourceType::Application => queries::post(state, access, id, headers, body).await,
        ResourceType::Workspace => queries::workspace_post(state, access, id, headers, body).await,
    }
}

/// `GET /v1{resourceId}/metadata`
pub(crate) async fn metadata_get(
    state: State<Arc<App>>,
    Addressed(kind): Addressed,
    access: Access,
) -> Result<Response, ApiError> {
    match kind {
        ResourceType::Application => metadata::get(state, access).await,
        ResourceType::Workspace => metadata::workspace_get(state, access).await,
    }
}

/// `POST /v1{resourceId}/metadata`
pub(crate) async fn metadata_post(
    state: State<Arc<App>>,
    Addressed(kind): Addressed,
    access: Access,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    match kind {
        ResourceType::Application => metadata::post(state, access, headers, body).await,
        ResourceType::Workspace => metadata::workspace_post(state, access, headers, body).await,
    }
}
