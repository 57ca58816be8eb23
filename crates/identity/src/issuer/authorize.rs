//! The authorisation endpoint: what is asked, and where the answer goes (RFC 6749 §4.1.1, §4.2.1; RFC 7636; RFC 9207).

use hindsight_store::ClientRecord;

use super::Issuer;
use super::error::OAuthError;
use super::form::Form;
use super::mint::{Holder, LIFETIME};
use super::pending::{Code, SignedIn};
use super::portal::check_scope;
use super::redirect;
use super::scope::{Version, Wanted};
use crate::secret;

/// How the answer travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseMode {
    /// In the address, after `?`.
    Query,
    /// In the address, after `#`.
    Fragment,
    /// In a form that the browser posts.
    FormPost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResponseType {
    Code,
    Token,
}

/// An answer for a client, to be carried by the browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The client's address.
    pub to: String,
    /// How it travels.
    pub mode: ResponseMode,
    /// What is told.
    pub parameters: Vec<(&'static str, String)>,
}

/// Why a request is not answered with a code or token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthorizeFailure {
    /// The client or its address is not known: the person is told, and the browser goes nowhere.
    Page(OAuthError),
    /// The client is told.
    Redirect(Redirect),
}

impl From<OAuthError> for AuthorizeFailure {
    fn from(error: OAuthError) -> AuthorizeFailure {
        AuthorizeFailure::Page(error)
    }
}

/// A request that may be answered when a person has signed in.
#[derive(Debug, Clone)]
pub struct AuthorizeRequest {
    /// The client.
    pub client: ClientRecord,
    /// The client's address, checked.
    pub redirect: String,
    prompt_login: bool,
    /// Seconds after which a person who signed in must show their password again.
    max_age: Option<i64>,
    /// Whether the person may not be asked anything.
    pub prompt_none: bool,
    /// The name that the client believes they have.
    pub login_hint: Option<String>,
    response: ResponseType,
    mode: ResponseMode,
    state: Option<String>,
    nonce: Option<String>,
    challenge: Option<String>,
    wanted: Option<Wanted>,
    openid: bool,
    offline: bool,
    version: Version,
}

impl Issuer {
    /// Reads and checks a request.
    ///
    /// # Errors
    /// [`AuthorizeFailure::Page`] until client and address are known to be good, then [`AuthorizeFailure::Redirect`].
    pub async fn read_authorize(
        &self,
        form: &Form,
        version: Version,
    ) -> Result<AuthorizeRequest, AuthorizeFailure> {
        let client = self.find_client(form.need("client_id")?).await?;
        let given = form.get("redirect_uri")?;
        let redirect = match (given, client.redirects.as_slice()) {
            (Some(given), known) => (known.iter().any(|known| redirect::matches(known, given))
                || self.is_portal_redirect(&client, given))
            .then(|| given.to_owned()),
            // Left out it can only mean the one that was registered (RFC 6749 §3.1.2.3).
            (None, [only]) => Some(only.clone()),
            (None, _) => None,
        }
        .ok_or_else(OAuthError::wrong_redirect)?;
        let state = form.get("state").ok().flatten().map(str::to_owned);
        let mode = match form.get("response_type") {
            Ok(Some("token")) => ResponseMode::Fragment,
            _ => ResponseMode::Query,
        };
        let failed = |error: &OAuthError| {
            AuthorizeFailure::Redirect(self.failure(&redirect, mode, state.as_deref(), error))
        };
        let mut request = self
            .read_rest(form, version, client, &redirect)
            .map_err(|error| failed(&error))?;
        request.state = state;
        Ok(request)
    }

    fn read_rest(
        &self,
        form: &Form,
        version: Version,
        client: ClientRecord,
        redirect: &str,
    ) -> Result<AuthorizeRequest, OAuthError> {
        form.get("state")?;
        let response = self.response_type(form, redirect)?;
        let mode = match (form.get("response_mode")?, response) {
            (None, ResponseType::Code) | (Some("query"), ResponseType::Code) => ResponseMode::Query,
            (None | Some("fragment"), _) => ResponseMode::Fragment,
            (Some("form_post"), _) => ResponseMode::FormPost,
            (Some(other), _) => {
                let message =
                    format!("response_mode '{other}' is not supported for this response_type.");
                return Err(OAuthError::invalid_request(message));
            }
        };
        for unsupported in ["request", "request_uri"] {
            if form.get(unsupported)?.is_some() {
                let message = format!("The parameter '{unsupported}' is not supported.");
                return Err(OAuthError::invalid_request(message));
            }
        }
        let wanted = Wanted::read(form, version, &self.audiences())?;
        check_scope(wanted.as_ref(), &client)?;
        let named = |name: &str| {
            let scope = form.get("scope").ok().flatten().unwrap_or_default();
            scope.split(' ').any(|given| given == name)
        };
        let openid = wanted.as_ref().is_some_and(|wanted| wanted.openid) || named("openid");
        let offline =
            wanted.as_ref().is_some_and(|wanted| wanted.offline) || named("offline_access");
        if wanted.is_none() && !openid {
            return Err(OAuthError::missing(match version {
                Version::V1 => "resource",
                Version::V2 => "scope",
            }));
        }
        let prompt = form.get("prompt")?.unwrap_or_default().to_owned();
        let prompted = |name: &str| prompt.split(' ').any(|given| given == name);
        Ok(AuthorizeRequest {
            challenge: challenge(form, &client, response)?,
            client,
            redirect: redirect.to_owned(),
            prompt_login: prompted("login") || prompted("select_account"),
            max_age: form.get("max_age")?.map(seconds).transpose()?,
            prompt_none: prompted("none"),
            login_hint: form.get("login_hint")?.map(str::to_owned),
            response,
            mode,
            state: None,
            nonce: form.get("nonce")?.map(str::to_owned),
            wanted,
            openid,
            offline,
            version,
        })
    }

    fn response_type(&self, form: &Form, redirect: &str) -> Result<ResponseType, OAuthError> {
        match form.need("response_type")? {
            "code" => Ok(ResponseType::Code),
            "token" if self.offers_implicit(redirect) => Ok(ResponseType::Token),
            "token" => Err(OAuthError::unsupported_response(
                "response_type 'token' is not enabled for this redirect address (setting `auth.implicit`).",
            )),
            other => Err(OAuthError::unsupported_response(format!(
                "response_type '{other}' is not supported; 'code' and 'token' are."
            ))),
        }
    }

    /// Whether a person who is signed in must show their password again for a request.
    pub fn must_sign_in_again(&self, request: &AuthorizeRequest, who: &SignedIn) -> bool {
        let old = |age| self.now_seconds().saturating_sub(who.at) > age;
        request.prompt_login || request.max_age.is_some_and(old)
    }

    /// The answer for a person who signed in.
    ///
    /// # Errors
    /// `server_error` where no code or token can be made.
    pub async fn answer_authorize(
        &self,
        request: &AuthorizeRequest,
        who: &SignedIn,
    ) -> Result<Redirect, OAuthError> {
        let mut parameters = match request.response {
            ResponseType::Code => vec![("code", self.new_code(request, who)?)],
            ResponseType::Token => self.implicit_token(request, who).await?,
        };
        parameters.push(("session_state", who.session.clone()));
        if let Some(state) = &request.state {
            parameters.push(("state", state.clone()));
        }
        parameters.push(("iss", self.name(request.version)));
        Ok(Redirect {
            to: request.redirect.clone(),
            mode: request.mode,
            parameters,
        })
    }

    fn new_code(&self, request: &AuthorizeRequest, who: &SignedIn) -> Result<String, OAuthError> {
        let text = secret::random()?;
        let code = Code {
            client: request.client.id.clone(),
            redirect: request.redirect.clone(),
            who: who.clone(),
            wanted: request.wanted.clone(),
            openid: request.openid,
            offline: request.offline,
            nonce: request.nonce.clone(),
            challenge: request.challenge.clone(),
            grant: secret::new_id().to_string(),
            version: request.version,
        };
        if self.codes.keep(&text, code, self.clock.elapsed()) {
            Ok(text)
        } else {
            Err(OAuthError::too_many(60))
        }
    }

    async fn implicit_token(
        &self,
        request: &AuthorizeRequest,
        who: &SignedIn,
    ) -> Result<Vec<(&'static str, String)>, OAuthError> {
        let wanted = request
            .wanted
            .clone()
            .ok_or_else(|| OAuthError::missing("resource"))?;
        let grant = self
            .new_grant(&secret::new_id().to_string(), &request.client, who, &wanted)
            .await?;
        let reply = self
            .mint(
                &request.client,
                false,
                Holder::Person(who, &grant.id),
                &wanted,
            )
            .await?;
        Ok(vec![
            ("access_token", reply.access_token),
            ("token_type", "Bearer".to_owned()),
            ("expires_in", LIFETIME.to_string()),
            ("scope", wanted.scope),
        ])
    }

    /// The answer that tells the client of a failure.
    pub fn refuse_authorize(&self, request: &AuthorizeRequest, error: &OAuthError) -> Redirect {
        self.failure(
            &request.redirect,
            request.mode,
            request.state.as_deref(),
            error,
        )
    }

    fn failure(
        &self,
        to: &str,
        mode: ResponseMode,
        state: Option<&str>,
        error: &OAuthError,
    ) -> Redirect {
        let mut parameters = vec![
            ("error", error.error.to_owned()),
            (
                "error_description",
                format!("AADSTS{}: {}", error.code(), error.message),
            ),
        ];
        parameters.extend(state.map(|state| ("state", state.to_owned())));
        parameters.push(("iss", self.name(Version::V1)));
        Redirect {
            to: to.to_owned(),
            mode,
            parameters,
        }
    }
}

fn seconds(text: &str) -> Result<i64, OAuthError> {
    let number = text.parse().ok().filter(|seconds| *seconds >= 0);
    number.ok_or_else(|| OAuthError::invalid_request("'max_age' is a number of seconds."))
}

impl Redirect {
    /// The address with the answer in it.
    pub fn address(&self) -> String {
        let mut text = url::form_urlencoded::Serializer::new(String::new());
        text.extend_pairs(self.parameters.iter().map(|(name, value)| (*name, value)));
        let separator = match self.mode {
            ResponseMode::Fragment => '#',
            _ if self.to.contains('?') => '&',
            _ => '?',
        };
        format!("{}{separator}{}", self.to, text.finish())
    }
}

/// The challenge of RFC 7636; a client without a secret must send one (`D24`).
fn challenge(
    form: &Form,
    client: &ClientRecord,
    response: ResponseType,
) -> Result<Option<String>, OAuthError> {
    let given = form.get("code_challenge")?;
    match (given, form.get("code_challenge_method")?) {
        (Some(text), Some("S256")) if text.len() == 43 => Ok(Some(text.to_owned())),
        (Some(_), Some("S256")) => Err(OAuthError::invalid_request(
            "'code_challenge' is not the base64url text of a SHA-256 hash.",
        )),
        (Some(_), _) => Err(OAuthError::invalid_request(
            "'code_challenge_method' must be S256; plain challenges are not accepted.",
        )),
        (None, _) if client.secrets.is_empty() && response == ResponseType::Code => {
            Err(OAuthError::invalid_request(
                "A client without a secret must send a 'code_challenge' (PKCE).",
            ))
        }
        (None, _) => Ok(None),
    }
}
