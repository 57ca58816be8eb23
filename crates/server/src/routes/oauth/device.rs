//! `/devicelogin`: a person signs another device in.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::Response;
use hindsight_identity::issuer::{Form, NewSession, OAuthError, SignedIn};

use super::cookies::{self, Cookie};
use super::{form, pages};
use crate::app::App;
use crate::origin::Head;

/// `GET /devicelogin`
pub(crate) async fn device_page(State(app): State<Arc<App>>, head: Head) -> Response {
    let headers = &head.headers;
    let secure = cookies::is_secure(&app, head.connection);
    let shown = async {
        let (token, is_new) = cookies::form_token(headers, secure)?;
        let who = signed_in(&app, headers, secure).await?;
        let name = who.as_ref().map(|who| who.name.as_str());
        let mut response = pages::device_code(&token, None, name);
        if is_new {
            set(&mut response, Cookie::Form, &token, secure);
        }
        Ok(response)
    };
    shown.await.unwrap_or_else(|error| pages::problem(&error))
}

/// `POST /devicelogin`: the code, then the decision, with name and password where the browser is not signed in.
pub(crate) async fn device_post(State(app): State<Arc<App>>, head: Head, body: Body) -> Response {
    let headers = &head.headers;
    let secure = cookies::is_secure(&app, head.connection);
    let answered = async {
        let form = form(&app, &head, body).await?;
        let token = form.get("form_token")?;
        cookies::check_form(headers, secure, token)?;
        let step = Step {
            app: &app,
            form: &form,
            token: token.unwrap_or_default(),
            address: head.connection.address_text(),
            secure,
        };
        let who = signed_in(&app, headers, secure).await?;
        step.run(who).await
    };
    answered
        .await
        .unwrap_or_else(|error: OAuthError| pages::problem(&error))
}

struct Step<'s> {
    app: &'s App,
    form: &'s Form,
    token: &'s str,
    address: String,
    secure: bool,
}

impl Step<'_> {
    async fn run(&self, who: Option<SignedIn>) -> Result<Response, OAuthError> {
        let name = who.as_ref().map(|who| who.name.as_str());
        let code = self.form.need("user_code")?;
        let Some(device) = self.app.issuer.find_device(code, &self.address)? else {
            let problem = "No device waits with this code. It may be too old, or mistyped.";
            return Ok(pages::device_code(self.token, Some(problem), name));
        };
        let confirm =
            |problem| pages::device_confirm(self.token, code, &device.client_name, name, problem);
        match self.form.get("decision")? {
            None => Ok(confirm(None)),
            Some("no") => {
                self.app.issuer.decide_device(code, None);
                Ok(pages::notice(
                    "Refused",
                    "The device was not signed in. You can close this page.",
                ))
            }
            Some("yes") => match who.clone() {
                Some(who) => Ok(self.approve(code, who)),
                None => match self.password().await? {
                    Some(session) => {
                        let mut response = self.approve(code, session.who);
                        set(&mut response, Cookie::Session, &session.secret, self.secure);
                        Ok(response)
                    }
                    None => Ok(confirm(Some("The name or the password is wrong."))),
                },
            },
            Some(_) => Err(OAuthError::invalid_request(
                "The decision is 'yes' or 'no'.",
            )),
        }
    }

    fn approve(&self, code: &str, who: SignedIn) -> Response {
        if self.app.issuer.decide_device(code, Some(who)) {
            pages::notice(
                "Signed in",
                "The device is signed in. You can close this page.",
            )
        } else {
            pages::device_code(self.token, Some("The code is too old by now."), None)
        }
    }

    async fn password(&self) -> Result<Option<NewSession>, OAuthError> {
        let field = |name| self.form.get(name).ok().flatten().unwrap_or_default();
        let (name, password) = (field("username"), field("password"));
        self.app.issuer.sign_in(name, password, &self.address).await
    }
}

async fn signed_in(
    app: &App,
    headers: &HeaderMap,
    secure: bool,
) -> Result<Option<SignedIn>, OAuthError> {
    match Cookie::Session.read(headers, secure) {
        Some(secret) => app.issuer.session(&secret).await,
        None => Ok(None),
    }
}

fn set(response: &mut Response, cookie: Cookie, value: &str, secure: bool) {
    let header = cookie.write(value, secure);
    response
        .headers_mut()
        .extend(header.map(|value| (header::SET_COOKIE, value)));
}
