//! Tokens are made here and nowhere else.

use hindsight_store::ClientRecord;
use serde_json::{Map, Value, json};

use super::Issuer;
use super::error::OAuthError;
use super::pending::SignedIn;
use super::scope::{Version, Wanted};
use crate::claims::{READ_SCOPE, WRITE_SCOPE};
use crate::right::{Right, Rights};
use crate::secret;

/// Seconds that an access token lives.
pub(crate) const LIFETIME: i64 = 3600;

/// How the reply spells the token's type. It means the same; the specification shows both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenType {
    /// `bearer`, after a code of version 1.
    Lower,
    /// `Bearer`
    Upper,
}

/// What a client gets.
#[derive(Clone)]
pub struct TokenReply {
    /// The token.
    pub access_token: String,
    /// Who signed in.
    pub id_token: Option<String>,
    /// For the next access token.
    pub refresh_token: Option<String>,
    /// Who signed in, as version 2 clients read it (`client_info`), base64url.
    pub client_info: Option<String>,
    /// How its type is spelled.
    pub token_type: TokenType,
    /// Seconds that it lives.
    pub expires_in: i64,
    /// When it ends, in seconds since 1970.
    pub expires_on: i64,
    /// When it begins, in seconds since 1970.
    pub not_before: i64,
    /// For which resource it is.
    pub resource: String,
    /// What was granted; a program's token has roles instead.
    pub scope: Option<String>,
}

/// Whom an access token is for.
pub(crate) enum Holder<'h> {
    /// A person who signed in at a client, in a family.
    Person(&'h SignedIn, &'h str),
    /// A program, with what it may do.
    Program(Rights),
}

impl Issuer {
    /// An access token and the reply around it.
    pub(crate) async fn mint(
        &self,
        client: &ClientRecord,
        confidential: bool,
        holder: Holder<'_>,
        wanted: &Wanted,
    ) -> Result<TokenReply, OAuthError> {
        let now = self.now_seconds();
        let mut claims = Map::new();
        let mut set = |name: &str, value: Value| {
            claims.insert(name.to_owned(), value);
        };
        set("aud", wanted.resource.clone().into());
        set("iss", self.name(Version::V1).into());
        set("iat", now.into());
        set("nbf", now.into());
        set("exp", (now + LIFETIME).into());
        set("appid", client.id.clone().into());
        set("appidacr", if confidential { "1" } else { "0" }.into());
        set("tid", self.tenant().into());
        set("uti", secret::random()?.into());
        set("ver", "1.0".into());
        match &holder {
            Holder::Person(who, grant) => {
                set("oid", who.user.clone().into());
                set("sub", who.user.clone().into());
                set("unique_name", who.name.clone().into());
                set("upn", who.name.clone().into());
                set("amr", json!(["pwd"]));
                set("scp", wanted.scope.clone().into());
                set("sid", (*grant).into());
            }
            Holder::Program(rights) => {
                set("oid", client.id.clone().into());
                set("sub", client.id.clone().into());
                set("idtyp", "app".into());
                set("roles", roles(*rights));
            }
        }
        let access_token = self.keyring().await?.sign(&Value::Object(claims))?;
        Ok(TokenReply {
            access_token,
            id_token: None,
            refresh_token: None,
            client_info: None,
            token_type: TokenType::Upper,
            expires_in: LIFETIME,
            expires_on: now + LIFETIME,
            not_before: now,
            resource: wanted.resource.clone(),
            scope: match holder {
                Holder::Person(..) => Some(wanted.scope.clone()),
                Holder::Program(_) => None,
            },
        })
    }

    /// An id token: who signed in, for the client (OpenID Connect Core §2).
    pub(crate) async fn id_token(
        &self,
        client: &ClientRecord,
        who: &SignedIn,
        nonce: Option<&str>,
        version: Version,
    ) -> Result<String, OAuthError> {
        let now = self.now_seconds();
        let mut claims = json!({
            "aud": client.id, "iss": self.name(version), "iat": now, "nbf": now, "exp": now + LIFETIME,
            "sub": who.user, "oid": who.user, "tid": self.tenant(), "name": who.name, "auth_time": who.at,
            "preferred_username": who.name, "upn": who.name, "unique_name": who.name, "amr": ["pwd"],
            "ver": match version { Version::V1 => "1.0", Version::V2 => "2.0" },
        });
        if let (Some(claims), Some(nonce)) = (claims.as_object_mut(), nonce) {
            claims.insert("nonce".to_owned(), nonce.into());
        }
        Ok(self.keyring().await?.sign(&claims)?)
    }
}

/// The roles in a program's token.
fn roles(rights: Rights) -> Value {
    let named = [(Right::Read, READ_SCOPE), (Right::Ingest, WRITE_SCOPE)];
    named
        .into_iter()
        .filter(|(right, _)| rights.may(*right))
        .map(|(_, name)| Value::from(name))
        .collect::<Vec<_>>()
        .into()
}
