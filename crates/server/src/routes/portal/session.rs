//! Signing in by the link that `serve` prints, and signing out.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use serde::Deserialize;

use super::access::{Asker, done, unstored};
use crate::app::App;
use crate::error::ApiError;
use crate::origin::Head;
use crate::routes::asked::Asked;
use crate::routes::oauth::cookies::{self, Cookie};
use crate::wire::portal as wire;

/// The secret of a link.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Link {
    token: String,
}

/// `POST /portal/session`: a session of the issuer for the owner of this machine.
///
/// The page itself must ask, on this machine: another site's page could not know the secret, and must not learn whether one is good.
pub(super) async fn begin(
    State(app): State<Arc<App>>,
    head: Head,
    Asked(link): Asked<Link>,
) -> Result<Response, ApiError> {
    let forbidden = || ApiError::Forbidden { by_token: false };
    let is_local = |address: std::net::IpAddr| address.to_canonical().is_loopback();
    // A request within this process has no address.
    let local = head.connection.address().is_none_or(is_local);
    if !app.settings.portal_sign_in || !local || !is_same_origin(&head.headers) {
        return Err(forbidden());
    }
    let address = head.connection.address_text();
    let session = app.issuer.redeem_link(&link.token, &address).await;
    let session = session.map_err(|error| ApiError::Unavailable(error.message))?;
    let Some(session) = session else {
        return Err(ApiError::bad(
            "This link was used, or is older than ten minutes. `hindsight portal` prints a new one",
        ));
    };
    let secure = cookies::is_secure(&app, head.connection);
    Ok(with_session(&session.secret, secure))
}

/// `POST /portal/api/sign-out`: revokes the tokens of this sign-in and ends the session of the browser.
pub(super) async fn end(State(app): State<Arc<App>>, asker: Asker) -> Result<Response, ApiError> {
    if let Some(grant) = &asker.principal().grant {
        app.store.catalogue().revoke_grant(grant, app.now()).await?;
    }
    let headers = &asker.head.headers;
    let secure = cookies::is_secure(&app, asker.head.connection);
    // A cookie that another site's page makes the browser send ends nothing.
    let session = Cookie::Session
        .read(headers, secure)
        .filter(|_| is_same_origin(headers));
    if let Some(session) = session {
        let ended = app.issuer.sign_out(&session).await;
        ended.map_err(|error| ApiError::Unavailable(error.message))?;
    }
    Ok(with_session("", secure))
}

/// `POST /portal/api/link`: a new link, for the command line of this machine and for administrators of every application.
pub(super) async fn link(State(app): State<Arc<App>>, asker: Asker) -> Result<Response, ApiError> {
    let principal = asker.principal();
    if !principal.may_everywhere(hindsight_identity::Right::Admin) || !app.settings.portal_sign_in {
        return Err(principal.forbidden());
    }
    let link = app.issuer.new_link();
    let link = link.map_err(|error| ApiError::Internal(error.message))?;
    Ok(unstored(&wire::link(&link)))
}

fn is_same_origin(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site");
    site.is_some_and(|site| site.as_bytes() == b"same-origin")
}

fn with_session(secret: &str, secure: bool) -> Response {
    let mut response = done();
    let cookie = Cookie::Session.write(secret, secure);
    let cookie = cookie.map(|value| (header::SET_COOKIE, value));
    response.headers_mut().extend(cookie);
    response
}
