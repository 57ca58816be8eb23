//! `POST /{tenant}/oauth2/token` and `/devicecode`, in both versions.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hindsight_identity::issuer::{OAuthError, Version};

use super::{echo, form, issuer_at, refused, unstored};
use crate::app::App;
use crate::origin::Head;
use crate::wire;

/// `POST /{tenant}/oauth2/token`
pub(crate) async fn token_v1(
    State(app): State<Arc<App>>,
    Path(tenant): Path<String>,
    head: Head,
    body: Body,
) -> Response {
    token(&app, &tenant, &head, body, Version::V1).await
}

/// `POST /{tenant}/oauth2/v2.0/token`
pub(crate) async fn token_v2(
    State(app): State<Arc<App>>,
    Path(tenant): Path<String>,
    head: Head,
    body: Body,
) -> Response {
    token(&app, &tenant, &head, body, Version::V2).await
}

async fn token(app: &App, tenant: &str, head: &Head, body: Body, version: Version) -> Response {
    let headers = &head.headers;
    let answer = async {
        app.issuer.check_tenant(tenant)?;
        let basic = basic(headers)?;
        let form = form(app, head, body).await?;
        let address = head.connection.address_text();
        issuer_at(app, head)
            .token(&form, basic.as_ref(), version, &address)
            .await
    };
    let response = match answer.await {
        Ok(reply) => unstored(StatusCode::OK, &wire::oauth::token(&reply, version)),
        Err(error) => refused(app, headers, &error),
    };
    echo(headers, response)
}

/// A client's name and secret in the header, each encoded as in a form (RFC 6749 §2.3.1).
fn basic(headers: &HeaderMap) -> Result<Option<(String, String)>, OAuthError> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let broken =
        || OAuthError::invalid_request("The Authorization header is not a Basic credential.");
    let text = value.to_str().map_err(|_| broken())?;
    let (scheme, encoded) = text.split_once(' ').ok_or_else(broken)?;
    if !scheme.eq_ignore_ascii_case("basic") || values.next().is_some() {
        return Err(broken());
    }
    let bytes = STANDARD.decode(encoded.trim()).map_err(|_| broken())?;
    let text = String::from_utf8(bytes).map_err(|_| broken())?;
    let (name, secret) = text.split_once(':').ok_or_else(broken)?;
    let decode = |text: &str| {
        let spaced = text.replace('+', " ");
        percent_encoding::percent_decode_str(&spaced)
            .decode_utf8_lossy()
            .into_owned()
    };
    Ok(Some((decode(name), decode(secret))))
}

/// `POST /{tenant}/oauth2/devicecode`
pub(crate) async fn device_code_v1(
    State(app): State<Arc<App>>,
    Path(tenant): Path<String>,
    head: Head,
    body: Body,
) -> Response {
    device_code(&app, &tenant, &head, body, Version::V1).await
}

/// `POST /{tenant}/oauth2/v2.0/devicecode`
pub(crate) async fn device_code_v2(
    State(app): State<Arc<App>>,
    Path(tenant): Path<String>,
    head: Head,
    body: Body,
) -> Response {
    device_code(&app, &tenant, &head, body, Version::V2).await
}

async fn device_code(
    app: &App,
    tenant: &str,
    head: &Head,
    body: Body,
    version: Version,
) -> Response {
    let headers = &head.headers;
    let answer = async {
        app.issuer.check_tenant(tenant)?;
        let form = form(app, head, body).await?;
        issuer_at(app, head).start_device(&form, version).await
    };
    let response = match answer.await {
        Ok(reply) => unstored(StatusCode::OK, &wire::oauth::device(&reply, version)),
        Err(error) => refused(app, headers, &error),
    };
    echo(headers, response)
}
