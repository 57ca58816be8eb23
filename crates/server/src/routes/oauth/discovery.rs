//! Documents that say where everything is and which keys sign.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use hindsight_identity::TokenError;
use hindsight_identity::issuer::{Implicit, OAuthError, Version};
use serde_json::Value;

use super::{issuer_at, refused, unstored};
use crate::app::App;
use crate::auth::credential::{self, Credential};
use crate::error::ApiError;
use crate::origin::Head;
use crate::params::Params;
use crate::wire;

/// `GET /{tenant}/.well-known/openid-configuration`
pub(crate) async fn configuration_v1(
    State(app): State<Arc<App>>,
    Path(tenant): Path<String>,
    head: Head,
) -> Response {
    configuration(&app, &tenant, &head, Version::V1)
}

/// `GET /{tenant}/v2.0/.well-known/openid-configuration`
pub(crate) async fn configuration_v2(
    State(app): State<Arc<App>>,
    Path(tenant): Path<String>,
    head: Head,
) -> Response {
    configuration(&app, &tenant, &head, Version::V2)
}

fn configuration(app: &App, tenant: &str, head: &Head, version: Version) -> Response {
    let implicit = app.settings.auth_implicit != Implicit::Off;
    match app.issuer.check_tenant(tenant) {
        Ok(()) => {
            let issuer = issuer_at(app, head);
            public(&wire::oauth::discovery(&issuer, version, implicit))
        }
        Err(error) => refused(app, &head.headers, &error),
    }
}

/// `GET /{tenant}/discovery/keys` and `/{tenant}/discovery/v2.0/keys`
pub(crate) async fn keys(
    State(app): State<Arc<App>>,
    Path(tenant): Path<String>,
    headers: HeaderMap,
) -> Response {
    let found = match app.issuer.check_tenant(&tenant) {
        Ok(()) => app.issuer.public_keys().await.map_err(OAuthError::from),
        Err(error) => Err(error),
    };
    match found {
        Ok(keys) => public(&keys),
        Err(error) => refused(&app, &headers, &error),
    }
}

/// `GET /{tenant}/discovery/instance`: whether an authority is this directory.
pub(crate) async fn instance(State(app): State<Arc<App>>, head: Head) -> Response {
    let issuer = issuer_at(&app, &head);
    let params = Params::parse(head.uri.query());
    let asked = params
        .one("authorization_endpoint")
        .ok()
        .flatten()
        .unwrap_or_default();
    let asked = url::Url::parse(&asked).ok();
    let host = asked.as_ref().and_then(|url| {
        let host = url.host_str()?;
        Some(
            url.port()
                .map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")),
        )
    });
    if host.as_deref() == Some(wire::oauth::host(&issuer.base())) {
        return public(&wire::oauth::instance(&issuer));
    }
    let error = OAuthError::invalid_request("The authority is not this directory.");
    refused(&app, &head.headers, &error)
}

/// `GET` and `POST /{tenant}/openid/userinfo`: who the person of the shown token is. The token itself is what lets in.
pub(crate) async fn user_info(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    match credential::find(&headers, &uri) {
        Credential::Bearer(token) => match app.issuer.user_info(&token).await {
            Ok(claims) => unstored(StatusCode::OK, &claims),
            Err(error @ TokenError::Unreachable) => {
                ApiError::Unavailable(error.to_string()).into_response()
            }
            Err(error) => ApiError::InvalidToken(error).into_response(),
        },
        _ => ApiError::Unauthenticated.into_response(),
    }
}

/// A document that anybody may read and keep for a while.
fn public(body: &Value) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json; charset=utf-8"),
        (header::CACHE_CONTROL, "public, max-age=300"),
    ];
    (StatusCode::OK, headers, body.to_string()).into_response()
}
