//! `/{tenant}/oauth2/authorize`: a person signs in and is sent back to the client.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hindsight_identity::issuer::{
    AuthorizeFailure, AuthorizeRequest, Form, Issuer, OAuthError, Redirect, ResponseMode, SignedIn,
    Version,
};

use super::cookies::{self, Cookie};
use super::{form, pages};
use crate::app::App;
use crate::origin::Head;

/// Everything about a browser's request.
struct Browser {
    app: Arc<App>,
    /// The issuer at the address by which the browser reaches it.
    issuer: Issuer,
    version: Version,
    head: Head,
    secure: bool,
    /// The client's parameters as they were written, for the sign-in form to carry.
    query: String,
}

macro_rules! entrances {
    ($($get:ident, $post:ident, $sign_in:ident, $version:ident;)*) => {$(
        /// `GET /{tenant}/oauth2/…/authorize`
        pub(crate) async fn $get(
            State(app): State<Arc<App>>,
            Path(tenant): Path<String>,
            head: Head,
        ) -> Response {
            let query = head.uri.query().unwrap_or_default().to_owned();
            let browser = Browser::new(app, Version::$version, head, query);
            browser.enter(&tenant).await
        }

        /// `POST /{tenant}/oauth2/…/authorize`: the same with the parameters in the body (OpenID Connect Core §3.1.2.1).
        pub(crate) async fn $post(
            State(app): State<Arc<App>>,
            Path(tenant): Path<String>,
            head: Head,
            body: Body,
        ) -> Response {
            let query = match super::read(&app, &head, body).await {
                Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Err(error) => return pages::problem(&error),
            };
            let browser = Browser::new(app, Version::$version, head, query);
            browser.enter(&tenant).await
        }

        /// `POST /{tenant}/oauth2/…/signin?…`: name and password, with the client's parameters in the address.
        pub(crate) async fn $sign_in(
            State(app): State<Arc<App>>,
            Path(tenant): Path<String>,
            head: Head,
            body: Body,
        ) -> Response {
            let query = head.uri.query().unwrap_or_default().to_owned();
            let browser = Browser::new(app, Version::$version, head, query);
            browser.sign_in(&tenant, body).await
        }
    )*};
}

entrances! {
    authorize_v1, post_authorize_v1, sign_in_v1, V1;
    authorize_v2, post_authorize_v2, sign_in_v2, V2;
}

impl Browser {
    fn new(app: Arc<App>, version: Version, head: Head, query: String) -> Browser {
        Browser {
            secure: cookies::is_secure(&app, head.connection),
            issuer: super::issuer_at(&app, &head),
            app,
            version,
            head,
            query,
        }
    }

    async fn read(&self, tenant: &str) -> Result<AuthorizeRequest, Response> {
        let failed = |error: &OAuthError| pages::problem(error);
        self.issuer
            .check_tenant(tenant)
            .map_err(|error| failed(&error))?;
        let form = Form::parse(self.query.as_bytes());
        match self.issuer.read_authorize(&form, self.version).await {
            Ok(request) => Ok(request),
            Err(AuthorizeFailure::Page(error)) => Err(failed(&error)),
            Err(AuthorizeFailure::Redirect(answer)) => Err(send_back(&answer)),
        }
    }

    async fn enter(self, tenant: &str) -> Response {
        let request = match self.read(tenant).await {
            Ok(request) => request,
            Err(response) => return response,
        };
        let session = Cookie::Session.read(&self.head.headers, self.secure);
        let who = match session {
            Some(secret) => self.issuer.session(&secret).await,
            None => Ok(None),
        };
        match who {
            Err(error) => pages::problem(&error),
            Ok(Some(who)) if !self.issuer.must_sign_in_again(&request, &who) => {
                self.answer(&request, &who).await
            }
            Ok(_) if request.prompt_none => {
                let error = OAuthError::login_required();
                send_back(&self.issuer.refuse_authorize(&request, &error))
            }
            Ok(_) => {
                let name = request.login_hint.clone().unwrap_or_default();
                self.ask(tenant, &request, &name, StatusCode::OK, None)
            }
        }
    }

    async fn sign_in(self, tenant: &str, body: Body) -> Response {
        let request = match self.read(tenant).await {
            Ok(request) => request,
            Err(response) => return response,
        };
        let form = match form(&self.app, &self.head, body).await {
            Ok(form) => form,
            Err(error) => return pages::problem(&error),
        };
        let field = |name: &str| form.get(name).ok().flatten();
        if let Err(error) =
            cookies::check_form(&self.head.headers, self.secure, field("form_token"))
        {
            return pages::problem(&error);
        }
        let (name, password) = (
            field("username").unwrap_or_default(),
            field("password").unwrap_or_default(),
        );
        let address = self.head.connection.address_text();
        match self.issuer.sign_in(name, password, &address).await {
            Ok(Some(session)) => {
                let mut response = self.answer(&request, &session.who).await;
                let cookie = Cookie::Session.write(&session.secret, self.secure);
                response
                    .headers_mut()
                    .extend(cookie.map(|value| (header::SET_COOKIE, value)));
                response
            }
            Ok(None) => {
                let problem = "The name or the password is wrong.";
                self.ask(
                    tenant,
                    &request,
                    name,
                    StatusCode::UNAUTHORIZED,
                    Some(problem),
                )
            }
            Err(error) => {
                let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::BAD_REQUEST);
                let mut response = self.ask(tenant, &request, name, status, Some(&error.message));
                super::say_when(&mut response, &error);
                response
            }
        }
    }

    async fn answer(&self, request: &AuthorizeRequest, who: &SignedIn) -> Response {
        match self.issuer.answer_authorize(request, who).await {
            Ok(answer) => send_back(&answer),
            Err(error) => send_back(&self.issuer.refuse_authorize(request, &error)),
        }
    }

    fn ask(
        &self,
        tenant: &str,
        request: &AuthorizeRequest,
        name: &str,
        status: StatusCode,
        problem: Option<&str>,
    ) -> Response {
        let (token, is_new) = match cookies::form_token(&self.head.headers, self.secure) {
            Ok(token) => token,
            Err(error) => return pages::problem(&error),
        };
        let path = match self.version {
            Version::V1 => "oauth2/signin",
            Version::V2 => "oauth2/v2.0/signin",
        };
        let action = format!("/{tenant}/{path}?{}", self.query);
        let target = origin(&request.redirect);
        let mut response = pages::sign_in(
            status,
            &pages::SignIn {
                action: &action,
                token: &token,
                client: &request.client.name,
                name,
                problem,
                target: target.as_deref(),
            },
        );
        if is_new {
            let cookie = Cookie::Form.write(&token, self.secure);
            response
                .headers_mut()
                .extend(cookie.map(|value| (header::SET_COOKIE, value)));
        }
        response
    }
}

/// Carries an answer to the client.
fn send_back(answer: &Redirect) -> Response {
    if answer.mode == ResponseMode::FormPost {
        return pages::post_back(answer, origin(&answer.to).as_deref());
    }
    let Ok(location) = HeaderValue::from_str(&answer.address()) else {
        return pages::problem(&OAuthError::invalid_request(
            "The redirect address cannot be written.",
        ));
    };
    let headers = [
        (header::LOCATION, location),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    // 303: the browser must not send name and password along (RFC 9700 §4.12).
    (StatusCode::SEE_OTHER, headers).into_response()
}

/// The part of an address that a form's policy names.
fn origin(address: &str) -> Option<String> {
    let url = url::Url::parse(address).ok()?;
    let origin = url.origin();
    Some(if origin.is_tuple() {
        origin.ascii_serialization()
    } else {
        format!("{}:", url.scheme())
    })
}

/// `GET /{tenant}/oauth2/…/logout`: asks; `POST`: ends the session on the server too.
pub(crate) async fn sign_out(
    State(app): State<Arc<App>>,
    method: axum::http::Method,
    head: Head,
    body: Body,
) -> Response {
    let headers = &head.headers;
    let secure = cookies::is_secure(&app, head.connection);
    if method != axum::http::Method::POST {
        return ask_sign_out(headers, secure);
    }
    let form = match form(&app, &head, body).await {
        Ok(form) => form,
        Err(error) => return pages::problem(&error),
    };
    let token = form.get("form_token").ok().flatten();
    if let Err(error) = cookies::check_form(headers, secure, token) {
        return pages::problem(&error);
    }
    if let Some(session) = Cookie::Session.read(headers, secure)
        && let Err(error) = app.issuer.sign_out(&session).await
    {
        return pages::problem(&error);
    }
    let mut response = pages::notice(
        "Signed out",
        "You are signed out of Hindsight in this browser.",
    );
    let cookie = Cookie::Session.write("", secure);
    response
        .headers_mut()
        .extend(cookie.map(|value| (header::SET_COOKIE, value)));
    response
}

fn ask_sign_out(headers: &HeaderMap, secure: bool) -> Response {
    let (token, is_new) = match cookies::form_token(headers, secure) {
        Ok(token) => token,
        Err(error) => return pages::problem(&error),
    };
    let content = maud::html! {
        form method="post" {
            input type="hidden" name="form_token" value=(token);
            button type="submit" { "Sign out" }
        }
    };
    let mut response = pages::page(StatusCode::OK, "Sign out of Hindsight?", &content, None);
    if is_new {
        let cookie = Cookie::Form.write(&token, secure);
        response
            .headers_mut()
            .extend(cookie.map(|value| (header::SET_COOKIE, value)));
    }
    response
}
