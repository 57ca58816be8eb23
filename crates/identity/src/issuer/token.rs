//! The token endpoint (RFC 6749 §4 and §6, RFC 7636, RFC 8628).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hindsight_store::{ClientRecord, GrantRecord, Redeemed};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::client::{Authenticated, Basic};
use super::error::OAuthError;
use super::form::Form;
use super::mint::{Holder, TokenReply, TokenType};
use super::pending::{Code, Polled, SignedIn, Taken};
use super::scope::{Version, Wanted};
use super::{Issuer, TICKS};
use crate::claims::is_audience;
use crate::right::Rights;
use crate::secret;

/// How long a family lives.
const GRANT_LIFETIME: i64 = 90 * 24 * 3600 * TICKS;

impl Issuer {
    /// Answers a request for a token.
    ///
    /// # Errors
    /// What the client is told.
    pub async fn token(
        &self,
        form: &Form,
        basic: Option<&Basic>,
        version: Version,
        address: &str,
    ) -> Result<TokenReply, OAuthError> {
        let grant = form.need("grant_type")?;
        let caller = self.authenticate(form, basic, address).await?;
        let mut reply = match grant {
            "authorization_code" => self.by_code(form, &caller, version).await,
            "refresh_token" => self.by_refresh_token(form, &caller, version).await,
            "client_credentials" => self.by_secret(form, &caller, version).await,
            "device_code" | "urn:ietf:params:oauth:grant-type:device_code" => {
                self.by_device(form, &caller).await
            }
            "password" => Err(OAuthError::unsupported_grant(
                "grant_type 'password' is not offered: programs must not see people's passwords. Use the device code flow.",
            )),
            other => Err(OAuthError::unsupported_grant(format!(
                "The app requested an unsupported grant type '{other}'."
            ))),
        }?;
        if form.get("client_info")?.is_none() {
            reply.client_info = None;
        }
        Ok(reply)
    }

    async fn by_code(
        &self,
        form: &Form,
        caller: &Authenticated,
        version: Version,
    ) -> Result<TokenReply, OAuthError> {
        let text = form.need("code")?;
        let code = match self.codes.take(text, self.clock.elapsed()) {
            Taken::Once(code) => code,
            Taken::Again(grant) => {
                self.catalogue.revoke_grant(&grant, self.now()).await?;
                return Err(code_replayed());
            }
            Taken::Unknown => {
                return Err(OAuthError::invalid_grant(
                    70_008,
                    "The provided authorization code or refresh token is expired or was never given. Send a new interactive authorization request for this user and resource.",
                ));
            }
        };
        check_code(form, caller, &code)?;
        let asked = match Wanted::read(form, version, &self.audiences())? {
            Some(asked)
                if code
                    .wanted
                    .as_ref()
                    .is_none_or(|known| !same_resource(&asked, known)) =>
            {
                return Err(OAuthError::invalid_grant(
                    70_000,
                    "The resource or scope differs from the requested one.",
                ));
            }
            asked => asked,
        };
        let wanted = match (code.wanted.clone(), asked) {
            // A token is named by the words of whoever asks for it now, and covers what was granted then.
            (Some(known), Some(asked)) => Wanted {
                resource: asked.resource,
                ..known
            },
            (Some(known), None) => known,
            (None, _) => self.profile_only(),
        };
        let grant = self
            .new_grant(&code.grant, &caller.client, &code.who, &wanted)
            .await?;
        // A replay revokes a grant that exists. One that came before marked the code instead.
        if self.codes.is_replayed(text) {
            self.catalogue.revoke_grant(&grant.id, self.now()).await?;
            return Err(code_replayed());
        }
        let mut reply = self
            .person_reply(caller, &code.who, &grant, &wanted)
            .await?;
        if code.openid {
            let nonce = code.nonce.as_deref();
            reply.id_token = Some(
                self.id_token(&caller.client, &code.who, nonce, code.version)
                    .await?,
            );
        }
        if code.offline {
            reply.refresh_token = Some(self.new_refresh_token(&grant).await?);
        }
        if version == Version::V1 {
            reply.token_type = TokenType::Lower;
        }
        Ok(reply)
    }

    async fn by_refresh_token(
        &self,
        form: &Form,
        caller: &Authenticated,
        version: Version,
    ) -> Result<TokenReply, OAuthError> {
        let hash = secret::hash(form.need("refresh_token")?);
        must_show_secret(caller)?;
        // Whose it is comes first: a token that another client shows is not used up by it.
        let known = self.catalogue.grant_of_refresh_token(&hash).await?;
        if known.is_none_or(|grant| grant.client != caller.client.id) {
            return Err(unknown_refresh_token());
        }
        // What cannot be answered must not use the token up either.
        let asked = Wanted::read(form, version, &self.audiences())?;
        let now = self.now();
        let grant = match self.catalogue.redeem_refresh_token(&hash, now).await? {
            Redeemed::Good(grant) if now < grant.expires => grant,
            Redeemed::Good(_) | Redeemed::Unknown => return Err(unknown_refresh_token()),
            Redeemed::Reused(grant) => {
                let who = self.name_of(&grant.user).await;
                self.audit(
                    &who,
                    "refresh token reused, family revoked",
                    &grant.client,
                    "",
                )
                .await?;
                return Err(OAuthError::invalid_grant(
                    50_173,
                    "The provided grant has been revoked; a fresh sign-in is needed.",
                ));
            }
        };
        let user = self
            .catalogue
            .user(&grant.user)
            .await?
            .ok_or_else(unknown_refresh_token)?;
        let who = SignedIn {
            user: user.id,
            name: user.name,
            session: grant.id.clone(),
            at: (grant.created - super::UNIX_EPOCH_TICKS).div_euclid(TICKS),
        };
        let scopes = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let granted = scopes(&grant.scope);
        let mut wanted = asked.unwrap_or_else(|| Wanted {
            resource: grant.resource.clone(),
            scope: grant.scope.clone(),
            openid: version == Version::V1,
            offline: true,
            default: true,
        });
        if wanted.default {
            wanted.scope.clone_from(&grant.scope);
        } else if scopes(&wanted.scope)
            .iter()
            .any(|scope| !granted.contains(scope))
        {
            return Err(OAuthError::invalid_scope(
                "A requested scope was not granted.",
            ));
        }
        let mut reply = self.person_reply(caller, &who, &grant, &wanted).await?;
        if wanted.openid {
            reply.id_token = Some(self.id_token(&caller.client, &who, None, version).await?);
        }
        reply.refresh_token = Some(self.new_refresh_token(&grant).await?);
        Ok(reply)
    }

    async fn by_secret(
        &self,
        form: &Form,
        caller: &Authenticated,
        version: Version,
    ) -> Result<TokenReply, OAuthError> {
        if !caller.confidential {
            return Err(OAuthError::no_secret());
        }
        let name = match version {
            Version::V1 => "resource",
            Version::V2 => "scope",
        };
        let wanted = Wanted::read(form, version, &self.audiences())?;
        let wanted = wanted.ok_or_else(|| OAuthError::missing(name))?;
        if !wanted.default {
            let message =
                "A program asks for '<resource>/.default'; what it may do is set by its roles.";
            return Err(OAuthError::invalid_scope(message));
        }
        let rights = self.rights_of(&caller.client.id).await?;
        self.mint(&caller.client, true, Holder::Program(rights), &wanted)
            .await
    }

    async fn by_device(
        &self,
        form: &Form,
        caller: &Authenticated,
    ) -> Result<TokenReply, OAuthError> {
        let text = match form.get("device_code")? {
            Some(text) => text,
            None => form.need("code")?,
        };
        let (device, who) = match self
            .devices
            .poll(text, &caller.client.id, self.clock.elapsed())
        {
            Polled::Unknown => return Err(OAuthError::bad_device_code()),
            Polled::Expired => return Err(OAuthError::expired_token()),
            Polled::TooSoon => return Err(OAuthError::slow_down()),
            Polled::Pending => return Err(OAuthError::pending()),
            Polled::Denied => return Err(OAuthError::access_denied()),
            Polled::Ready(device, who) => (device, who),
        };
        let wanted = device.wanted.clone().unwrap_or_else(|| self.profile_only());
        let id = secret::new_id().to_string();
        let grant = self.new_grant(&id, &caller.client, &who, &wanted).await?;
        let mut reply = self.person_reply(caller, &who, &grant, &wanted).await?;
        if device.openid {
            reply.id_token = Some(
                self.id_token(&caller.client, &who, None, device.version)
                    .await?,
            );
        }
        if device.offline {
            reply.refresh_token = Some(self.new_refresh_token(&grant).await?);
        }
        Ok(reply)
    }

    async fn person_reply(
        &self,
        caller: &Authenticated,
        who: &SignedIn,
        grant: &GrantRecord,
        wanted: &Wanted,
    ) -> Result<TokenReply, OAuthError> {
        let holder = Holder::Person(who, &grant.id);
        let mut reply = self
            .mint(&caller.client, caller.confidential, holder, wanted)
            .await?;
        let info = json!({ "uid": who.user, "utid": self.tenant() }).to_string();
        reply.client_info = Some(URL_SAFE_NO_PAD.encode(info));
        Ok(reply)
    }

    /// Begins the family of a sign-in.
    pub(crate) async fn new_grant(
        &self,
        id: &str,
        client: &ClientRecord,
        who: &SignedIn,
        wanted: &Wanted,
    ) -> Result<GrantRecord, OAuthError> {
        let now = self.now();
        let grant = GrantRecord {
            id: id.to_owned(),
            user: who.user.clone(),
            client: client.id.clone(),
            resource: wanted.resource.clone(),
            scope: wanted.scope.clone(),
            created: now,
            expires: now.saturating_add(GRANT_LIFETIME),
            revoked: None,
        };
        self.catalogue.create_grant(&grant).await?;
        self.audit(&who.name, "token given", &client.id, "").await?;
        Ok(grant)
    }

    async fn new_refresh_token(&self, grant: &GrantRecord) -> Result<String, OAuthError> {
        let text = secret::random()?;
        self.catalogue
            .create_refresh_token(&grant.id, &secret::hash(&text), self.now())
            .await?;
        Ok(text)
    }

    /// What a client asked for that only wants to know who signed in: a token that opens nothing but the issuer.
    fn profile_only(&self) -> Wanted {
        Wanted {
            resource: self.user_info_address(),
            scope: "openid".to_owned(),
            openid: true,
            offline: false,
            default: false,
        }
    }

    /// Everything that a holder may do with any application.
    async fn rights_of(&self, holder: &str) -> Result<Rights, OAuthError> {
        let roles = self.catalogue.roles().await?;
        let held = roles.iter().filter(|role| role.holder == holder);
        Ok(held
            .filter_map(|role| Rights::parse(&role.role).ok())
            .fold(Rights::NONE, Rights::and))
    }

    async fn name_of(&self, user: &str) -> String {
        let found = self.catalogue.user(user).await.ok().flatten();
        found.map_or_else(|| user.to_owned(), |user| user.name)
    }
}

/// A client that has a secret must show it; a public one cannot.
fn must_show_secret(caller: &Authenticated) -> Result<(), OAuthError> {
    if caller.confidential || caller.client.public {
        Ok(())
    } else {
        Err(OAuthError::no_secret())
    }
}

/// Whether a code may be redeemed by this client in this way. A code that was shown wrongly is used up all the same.
fn check_code(form: &Form, caller: &Authenticated, code: &Code) -> Result<(), OAuthError> {
    must_show_secret(caller)?;
    if code.client != caller.client.id {
        let message = "The authorization code was given to another client.";
        return Err(OAuthError::invalid_grant(700_005, message));
    }
    if form.get("redirect_uri")? != Some(code.redirect.as_str()) {
        let message = "The 'redirect_uri' is not the one that the authorization code was sent to.";
        return Err(OAuthError::invalid_grant(50_011, message));
    }
    let verifier = form.get("code_verifier")?;
    let matches = match (&code.challenge, verifier) {
        (Some(challenge), Some(verifier)) => {
            let hashed = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
            (43..=128).contains(&verifier.len()) && secret::same(&hashed, challenge)
        }
        (Some(_), None) => false,
        // A verifier without a challenge means that somebody took the challenge out (RFC 9700 §2.1.1).
        (None, Some(_)) => false,
        (None, None) => caller.confidential,
    };
    if matches {
        Ok(())
    } else {
        let message =
            "The 'code_verifier' does not match the 'code_challenge' of the authorization request.";
        Err(OAuthError::invalid_grant(501_481, message))
    }
}

fn same_resource(one: &Wanted, other: &Wanted) -> bool {
    is_audience(&one.resource, std::slice::from_ref(&other.resource))
}

fn code_replayed() -> OAuthError {
    OAuthError::invalid_grant(
        54_005,
        "OAuth2 Authorization code was already redeemed, please retry with a new valid code.",
    )
}

fn unknown_refresh_token() -> OAuthError {
    OAuthError::invalid_grant(
        70_008,
        "The provided authorization code or refresh token is expired or was never given. Send a new interactive authorization request for this user and resource.",
    )
}
