//! The issuer's pages. They work without scripts, load nothing, and cannot be framed.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hindsight_identity::issuer::{OAuthError, Redirect};
use maud::{DOCTYPE, Markup, html};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;margin:0;background:#f3f4f6;color:#111827}\
main{max-width:22rem;margin:12vh auto;padding:2rem;background:#fff;border-radius:.5rem;box-shadow:0 1px 4px #0003}\
h1{font-size:1.25rem;margin:0 0 1rem}label{display:block;margin:.75rem 0 .25rem}\
input{width:100%;box-sizing:border-box;padding:.5rem;font:inherit;border:1px solid #6b7280;border-radius:.25rem}\
button{margin:1.25rem .5rem 0 0;padding:.5rem 1.25rem;font:inherit;border:1px solid #1d4ed8;border-radius:.25rem;background:#1d4ed8;color:#fff}\
button.second{background:#fff;color:#1d4ed8}.problem{color:#b91c1c}code{font-size:1.125em;letter-spacing:.1em}\
@media(prefers-color-scheme:dark){body{background:#111827;color:#f3f4f6}main{background:#1f2937}input{background:#111827;color:inherit}\
.problem{color:#fca5a5}}";

/// The page's own style is named by its hash, so that no other is applied.
fn style_hash() -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(hindsight_identity::secret::hash(STYLE))
}

/// A page. `form_target`: where its forms may lead, beside this server.
pub(super) fn page(
    status: StatusCode,
    title: &str,
    content: &Markup,
    form_target: Option<&str>,
) -> Response {
    let text = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) " – Hindsight" }
                style { (maud::PreEscaped(STYLE)) }
            }
            body { main { h1 { (title) } (content) } }
        }
    };
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; form-action 'self'{}; frame-ancestors 'none'; base-uri 'none'",
        style_hash(),
        form_target
            .map(|target| format!(" {target}"))
            .unwrap_or_default()
    );
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        (
            HeaderName::from_static("content-security-policy"),
            HeaderValue::from_str(&policy)
                .unwrap_or(HeaderValue::from_static("default-src 'none'")),
        ),
    ];
    (status, headers, text.into_string()).into_response()
}

/// An error that the person must see, because the browser may go nowhere.
pub(super) fn problem(error: &OAuthError) -> Response {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::BAD_REQUEST);
    let content = html! {
        p.problem { (error.message) }
        p { "AADSTS" (error.code()) " (" (error.error) ")" }
    };
    let mut response = page(status, "Sign-in is not possible", &content, None);
    super::say_when(&mut response, error);
    response
}

/// What the sign-in page shows.
pub(super) struct SignIn<'p> {
    /// Where its form goes.
    pub(super) action: &'p str,
    /// The form's token.
    pub(super) token: &'p str,
    /// Who wants to know.
    pub(super) client: &'p str,
    /// A name to begin with.
    pub(super) name: &'p str,
    /// What went wrong the last time.
    pub(super) problem: Option<&'p str>,
    /// Where the browser goes afterwards.
    pub(super) target: Option<&'p str>,
}

/// Name and password.
pub(super) fn sign_in(status: StatusCode, shown: &SignIn<'_>) -> Response {
    let content = html! {
        p { "to go on to " strong { (shown.client) } }
        @if let Some(problem) = shown.problem { p.problem role="alert" { (problem) } }
        form method="post" action=(shown.action) {
            input type="hidden" name="form_token" value=(shown.token);
            label for="username" { "Name" }
            input id="username" name="username" value=(shown.name) autocomplete="username" autocapitalize="none" required;
            label for="password" { "Password" }
            input id="password" name="password" type="password" autocomplete="current-password" required;
            button type="submit" { "Sign in" }
        }
    };
    page(status, "Sign in", &content, shown.target)
}

/// An answer that the browser posts to the client.
pub(super) fn post_back(answer: &Redirect, target: Option<&str>) -> Response {
    let content = html! {
        form method="post" action=(answer.to) {
            @for (name, value) in &answer.parameters {
                input type="hidden" name=(name) value=(value);
            }
            button type="submit" { "Continue" }
        }
    };
    page(StatusCode::OK, "You are signed in", &content, target)
}

/// Where a device's code is typed in.
pub(super) fn device_code(token: &str, problem: Option<&str>, name: Option<&str>) -> Response {
    let content = html! {
        @if let Some(name) = name { p { "You are signed in as " strong { (name) } "." } }
        @if let Some(problem) = problem { p.problem role="alert" { (problem) } }
        form method="post" action="/devicelogin" {
            input type="hidden" name="form_token" value=(token);
            label for="user_code" { "Code that the device shows" }
            input id="user_code" name="user_code" autocomplete="off" autocapitalize="characters" required;
            button type="submit" { "Next" }
        }
    };
    page(StatusCode::OK, "Sign in on a device", &content, None)
}

/// Whether the person wants to sign the device in; they sign in on the same page where they have not.
pub(super) fn device_confirm(
    token: &str,
    user_code: &str,
    client: &str,
    name: Option<&str>,
    problem: Option<&str>,
) -> Response {
    let content = html! {
        p { strong { (client) } " wants to sign in with the code " code { (user_code) } "." }
        p { "Go on only if you started this yourself and the device shows this code." }
        @if let Some(problem) = problem { p.problem role="alert" { (problem) } }
        form method="post" action="/devicelogin" {
            input type="hidden" name="form_token" value=(token);
            input type="hidden" name="user_code" value=(user_code);
            @if let Some(name) = name {
                p { "You are signed in as " strong { (name) } "." }
            } @else {
                label for="username" { "Name" }
                input id="username" name="username" autocomplete="username" autocapitalize="none";
                label for="password" { "Password" }
                input id="password" name="password" type="password" autocomplete="current-password";
            }
            button type="submit" name="decision" value="yes" { "Sign the device in" }
            button.second type="submit" name="decision" value="no" formnovalidate { "Refuse" }
        }
    };
    page(StatusCode::OK, "Sign in on a device", &content, None)
}

/// One sentence.
pub(super) fn notice(title: &str, text: &str) -> Response {
    page(StatusCode::OK, title, &html! { p { (text) } }, None)
}
