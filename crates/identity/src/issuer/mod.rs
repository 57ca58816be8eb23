//! The embedded issuer: OAuth 2.0 (RFC 6749) and OpenID Connect for the people and programs of one installation, in the
//! two dialects that clients of the cloud's directory speak.

mod authorize;
mod client;
mod device;
mod error;
mod form;
mod mint;
mod pending;
mod redirect;
mod scope;
mod session;
mod token;

use std::sync::Arc;
use std::time::Duration;

use hindsight_store::{Catalogue, Clock};
use parking_lot::RwLock;
use serde_json::{Value, json};
use url::Url;

pub use authorize::{AuthorizeFailure, AuthorizeRequest, Redirect, ResponseMode};
pub use device::DeviceReply;
pub use error::OAuthError;
pub use form::Form;
pub use mint::{TokenReply, TokenType};
pub use pending::{Device, SignedIn};
pub use redirect::check as check_redirect;
pub use scope::Version;
pub use session::{NewSession, SESSION_LIFETIME};

use crate::attempts::Attempts;
use crate::claims::{self, Expected};
use crate::jwt::{self, Parsed, TokenError};
use crate::keyring::{KeyError, Keyring};
use crate::known::Known;
use crate::password::Passwords;
use crate::right::Rights;
use crate::secret;

/// Ticks from 0001-01-01 to 1970-01-01.
const UNIX_EPOCH_TICKS: i64 = 621_355_968_000_000_000;
/// Ticks in a second.
const TICKS: i64 = 10_000_000;
/// See [`IssuerSettings::attempts`].
const ATTEMPTS_WINDOW: Duration = Duration::from_secs(300);

/// Where the implicit flow is offered (`D24`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Implicit {
    /// Nowhere.
    Off,
    /// For redirect addresses on the machine of the browser.
    Loopback,
    /// For every registered redirect address.
    On,
}

/// How the issuer is set up.
#[derive(Debug, Clone)]
pub struct IssuerSettings {
    /// The resources that tokens may be for.
    pub audiences: Vec<String>,
    /// Where the implicit flow is offered.
    pub implicit: Implicit,
    /// The tenant's id; a random one is made and kept where nothing is said.
    pub tenant: Option<String>,
    /// Failed sign-ins of one name at one address, and failed secrets of one client at one address, in five minutes. A name, an
    /// address and all together have multiples of it.
    pub attempts: u32,
}

/// The embedded issuer.
pub struct Issuer {
    catalogue: Catalogue,
    clock: Arc<dyn Clock>,
    tenant: String,
    implicit: Implicit,
    place: RwLock<Place>,
    keyring: tokio::sync::Mutex<Option<Arc<Keyring>>>,
    codes: pending::Codes,
    devices: pending::Devices,
    passwords: Passwords,
    sign_ins: Attempts,
    known: Known,
}

/// Where the issuer is, which is known when the server listens.
#[derive(Debug, Clone)]
struct Place {
    base: Arc<str>,
    audiences: Arc<[String]>,
}

/// What one of the issuer's own tokens says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnToken {
    /// The id of the user or client that it was given to.
    pub holder: String,
    /// The client's id.
    pub client: String,
    /// The family that it belongs to, where a person signed in.
    pub grant: Option<String>,
    /// What it permits at most.
    pub rights: Rights,
    /// The issuer, as the token names it.
    pub issuer: String,
    /// The tenant.
    pub tenant: String,
    /// The name with which a person signs in.
    pub name: Option<String>,
}

impl Issuer {
    /// An issuer over a catalogue, at `base` until [`Issuer::locate`] says otherwise.
    ///
    /// # Errors
    /// What the catalogue says.
    pub async fn open(
        catalogue: Catalogue,
        clock: Arc<dyn Clock>,
        settings: IssuerSettings,
        base: &str,
    ) -> hindsight_store::Result<Issuer> {
        let tenant = match settings.tenant {
            Some(tenant) => tenant,
            None => catalogue.tenant(&secret::new_id().to_string()).await?,
        };
        let issuer = Issuer {
            catalogue,
            clock,
            tenant,
            implicit: settings.implicit,
            place: RwLock::new(Place {
                base: "".into(),
                audiences: settings.audiences.into(),
            }),
            keyring: tokio::sync::Mutex::default(),
            codes: pending::Codes::default(),
            devices: pending::Devices::default(),
            passwords: Passwords::default(),
            sign_ins: Attempts::new(settings.attempts, ATTEMPTS_WINDOW),
            known: Known::default(),
        };
        issuer.locate(base, &[]);
        Ok(issuer)
    }

    /// Says where the issuer is, and by which further addresses of this server a resource may be named.
    pub fn locate(&self, base: &str, addresses: &[String]) {
        let mut place = self.place.write();
        let base = base.trim_end_matches('/');
        let own = std::iter::once(base.to_owned()).chain(addresses.iter().cloned());
        let mut audiences: Vec<String> = place.audiences.to_vec();
        audiences.extend(own);
        audiences.dedup();
        *place = Place {
            base: base.into(),
            audiences: audiences.into(),
        };
    }

    /// The address before `/{tenant}`, without a slash at its end.
    pub fn base(&self) -> Arc<str> {
        self.place.read().base.clone()
    }

    /// The resources that tokens may be for.
    pub(crate) fn audiences(&self) -> Arc<[String]> {
        self.place.read().audiences.clone()
    }

    /// The tenant's id.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// Checks that a path's tenant is this one: its id, or one of the names that mean whichever tenant a person is of.
    ///
    /// # Errors
    /// The directory's error for an unknown tenant.
    pub fn check_tenant(&self, name: &str) -> Result<(), OAuthError> {
        let name = name.to_ascii_lowercase();
        if name == self.tenant || matches!(name.as_str(), "common" | "organizations") {
            Ok(())
        } else {
            Err(OAuthError::unknown_tenant(&name))
        }
    }

    /// The issuer's name in tokens. Access tokens are always of version 1, id tokens of the version that was asked.
    pub fn name(&self, version: Version) -> String {
        let base = self.base();
        match version {
            Version::V1 => format!("{base}/{}/", self.tenant),
            Version::V2 => format!("{base}/{}/v2.0", self.tenant),
        }
    }

    /// The public keys, as a JSON Web Key Set.
    ///
    /// # Errors
    /// Where no key can be made or read.
    pub async fn public_keys(&self) -> Result<Value, KeyError> {
        Ok(self.keyring().await?.public.clone())
    }

    /// Whether a token claims to be one of this issuer's.
    pub(crate) fn is_own(&self, token: &Parsed<'_>) -> bool {
        token.text("iss") == Some(self.name(Version::V1).as_str())
    }

    /// Checks an access token of this issuer.
    pub(crate) async fn verify(&self, token: &Parsed<'_>) -> Result<OwnToken, TokenError> {
        self.check(token, &self.audiences()).await?;
        let text = |name: &'static str| token.text(name).map(str::to_owned);
        Ok(OwnToken {
            holder: text("oid").ok_or(TokenError::Missing("oid"))?,
            client: text("appid").ok_or(TokenError::Missing("appid"))?,
            grant: text("sid"),
            rights: claims::rights(&token.claims),
            issuer: text("iss").ok_or(TokenError::Missing("iss"))?,
            tenant: self.tenant.clone(),
            name: text("upn"),
        })
    }

    /// Checks signature and claims of an access token of this issuer.
    async fn check(&self, token: &Parsed<'_>, audiences: &[String]) -> Result<(), TokenError> {
        let keyring = self.keyring().await.map_err(|_| TokenError::Unreachable)?;
        token.check_signature(&keyring.verifying)?;
        let name = self.name(Version::V1);
        let expected = Expected {
            issuers: &[&name],
            audiences,
            tenant: Some(&self.tenant),
            now: self.now_seconds(),
        };
        claims::check(&token.claims, &expected)
    }

    /// Who the person of an access token is (OpenID Connect Core §5.3): the claims that it tells.
    ///
    /// # Errors
    /// [`TokenError`]: why the token is not good, or that it is no person's.
    pub async fn user_info(&self, token: &str) -> Result<Value, TokenError> {
        let parsed = jwt::parse(token)?;
        let mut audiences = self.audiences().to_vec();
        audiences.push(self.user_info_address());
        self.check(&parsed, &audiences).await?;
        let grant = parsed.text("sid").ok_or(TokenError::Missing("sid"))?;
        let unreachable = |_| TokenError::Unreachable;
        let revoked = self
            .catalogue
            .revoked_grants(0)
            .await
            .map_err(unreachable)?;
        let user = parsed.text("oid").unwrap_or_default();
        let user = self.catalogue.user(user).await.map_err(unreachable)?;
        match user.filter(|_| !revoked.iter().any(|id| id == grant)) {
            Some(user) => Ok(json!({
                "sub": user.id, "oid": user.id, "tid": self.tenant,
                "name": user.name, "preferred_username": user.name,
            })),
            None => Err(TokenError::Revoked),
        }
    }

    /// Where [`Issuer::user_info`] is asked, which is also what tokens are for that open nothing else.
    pub fn user_info_address(&self) -> String {
        format!("{}/{}/openid/userinfo", self.base(), self.tenant)
    }

    async fn keyring(&self) -> Result<Arc<Keyring>, KeyError> {
        let now = self.now();
        let mut keyring = self.keyring.lock().await;
        if let Some(known) = keyring.as_ref().filter(|known| !known.is_old(now)) {
            return Ok(known.clone());
        }
        let opened = Arc::new(Keyring::open(&self.catalogue, now).await?);
        *keyring = Some(opened.clone());
        Ok(opened)
    }

    fn now(&self) -> i64 {
        self.clock.now_ticks()
    }

    fn now_seconds(&self) -> i64 {
        (self.now() - UNIX_EPOCH_TICKS).div_euclid(TICKS)
    }

    /// Whether the implicit flow is offered to an address.
    fn offers_implicit(&self, redirect: &str) -> bool {
        match self.implicit {
            Implicit::Off => false,
            Implicit::On => true,
            Implicit::Loopback => Url::parse(redirect).is_ok_and(|url| redirect::is_loopback(&url)),
        }
    }
}
