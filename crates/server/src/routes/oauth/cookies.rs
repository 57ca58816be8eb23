//! The browser's cookies: its session, and the token that shows that a form came from our own page.

use axum::http::{HeaderMap, HeaderValue, header};
use hindsight_identity::issuer::{OAuthError, SESSION_LIFETIME};
use hindsight_identity::secret;

use crate::app::App;
use crate::connection::Connection;

/// Which cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Cookie {
    /// Who is signed in.
    Session,
    /// Which browser asked for a form.
    Form,
}

/// Whether a browser sees this server over TLS: then cookies are sent over nothing else.
pub(in super::super) fn is_secure(app: &App, connection: Connection) -> bool {
    connection.tls || app.settings.public_url.starts_with("https://")
}

impl Cookie {
    /// `__Host-` makes browsers insist on Secure, on the path `/` and on this very host.
    fn name(self, secure: bool) -> &'static str {
        match (self, secure) {
            (Cookie::Session, true) => "__Host-hindsight-session",
            (Cookie::Session, false) => "hindsight-session",
            (Cookie::Form, true) => "__Host-hindsight-form",
            (Cookie::Form, false) => "hindsight-form",
        }
    }

    /// What the browser sent.
    pub(in super::super) fn read(self, headers: &HeaderMap, secure: bool) -> Option<String> {
        let name = self.name(secure);
        let values = headers.get_all(header::COOKIE).iter();
        let pairs = values
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'));
        let mut found = pairs
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(given, value)| *given == name && !value.is_empty());
        found.next().map(|(_, value)| value.to_owned())
    }

    /// `Set-Cookie`. The session may come along when another site sends the browser here; the form's may not.
    pub(in super::super) fn write(self, value: &str, secure: bool) -> Option<HeaderValue> {
        let age = if value.is_empty() {
            0
        } else {
            SESSION_LIFETIME.as_secs()
        };
        let same_site = match self {
            Cookie::Session => "Lax",
            Cookie::Form => "Strict",
        };
        let secured = if secure { "; Secure" } else { "" };
        let text = format!(
            "{}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite={same_site}{secured}",
            self.name(secure)
        );
        HeaderValue::from_str(&text).ok()
    }
}

/// The token that a form must send back: the browser's own if it has one, or a new one to be set.
pub(super) fn form_token(headers: &HeaderMap, secure: bool) -> Result<(String, bool), OAuthError> {
    match Cookie::Form
        .read(headers, secure)
        .filter(|token| token.len() >= 32)
    {
        Some(token) => Ok((token, false)),
        None => Ok((secret::random()?, true)),
    }
}

/// Whether a form came from our own page in the same browser.
///
/// # Errors
/// The request is refused as forged.
pub(super) fn check_form(
    headers: &HeaderMap,
    secure: bool,
    sent: Option<&str>,
) -> Result<(), OAuthError> {
    let forged = || {
        OAuthError::invalid_request(
            "The form did not come from this page, or is too old. Go back and try again.",
        )
    };
    let site = headers
        .get("sec-fetch-site")
        .and_then(|value| value.to_str().ok());
    if site.is_some_and(|site| site != "same-origin") {
        return Err(forged());
    }
    let kept = Cookie::Form.read(headers, secure).ok_or_else(forged)?;
    if sent.is_some_and(|sent| kept.len() >= 32 && secret::same(&kept, sent)) {
        Ok(())
    } else {
        Err(forged())
    }
}
