//! The embedded issuer: OAuth 2.0 (RFC 6749) and OpenID Connect for the people and programs of one installation, in the
//! two dialects that clients of the cloud's directory speak.

mod authorize;
mod client;
mod device;
mod error;
mod form;
mod links;
mod mint;
mod pending;
mod portal;
mod redirect;
mod scope;
mod session;
mod token;

use std::ops::Deref;
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
pub use crate::claims::PORTAL_CLIENT;
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
    /// Whether the portal is served: it has a client of its own.
    pub portal: bool,
}

/// The embedded issuer, at one of the addresses by which clients reach it.
#[derive(Clone)]
pub struct Issuer {
    state: Arc<State>,
    /// The address before `/{tenant}` by which a client reaches the issuer; `None` for where it is located.
    here: Option<Arc<str>>,
    /// The origin of the browser's address, such as `http://127.0.0.1:2020`, where a request told it.
    origin: Option<Arc<str>>,
}

/// What the issuer keeps, whatever its address.
pub struct State {
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
    links: links::Links,
    has_portal: bool,
}

impl Deref for Issuer {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
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
        let state = State {
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
            links: links::Links::default(),
            has_portal: settings.portal,
        };
        let issuer = Issuer {
            state: Arc::new(state),
            here: None,
            origin: None,
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

    /// The same issuer at another address, such as `https://login.example`: its tokens and documents name this address.
    pub fn at(&self, base: &str) -> Issuer {
        Issuer {
            state: self.state.clone(),
            here: Some(base.trim_end_matches('/').into()),
            origin: self.origin.clone(),
        }
    }

    /// The same issuer for a browser that reaches the server at this origin.
    pub fn with_origin(&self, origin: &str) -> Issuer {
        Issuer {
            origin: Some(origin.into()),
            ..self.clone()
        }
    }

    /// The address before `/{tenant}`, without a slash at its end.
    pub fn base(&self) -> Arc<str> {
        let located = || self.place.read().base.clone();
        self.here.clone().unwrap_or_else(located)
    }

    /// The resources that tokens may be for: those of the settings, and the addresses of this server.
    pub(crate) fn audiences(&self) -> Arc<[String]> {
        let known = self.place.read().audiences.clone();
        match &self.here {
            Some(here) if !known.iter().any(|name| **name == **here) => {
                let here = here.to_string();
                known.iter().cloned().chain([here]).collect()
            }
            _ => known,
        }
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

    /// The issuer at the address that a token names, if the token claims to be one of this issuer's. The signature alone
    /// proves it; the address is the one by which the client reached the issuer.
    pub(crate) fn of_token(&self, token: &Parsed<'_>) -> Option<Issuer> {
        let (base, tenant) = token.text("iss")?.strip_suffix('/')?.rsplit_once('/')?;
        let is_origin = base == &*self.base()
            || Url::parse(base).is_ok_and(|url| {
                matches!(url.scheme(), "http" | "https")
                    && url.path() == "/"
                    && url.query().is_none()
            });
        (tenant == self.tenant && is_origin).then(|| self.at(base))
    }

    /// Checks an access token of this issuer.
    pub(crate) async fn verify(&self, token: &Parsed<'_>) -> Result<OwnToken, TokenError> {
        self.check(token, &self.audiences()).await?;
        let text = |name: &'static str| token.text(name).map(str::to_owned);
        Ok(OwnToken {
            holder: text("oid").ok_or(TokenError::Missing("oid"))?,
            client: text("appid").ok_or(TokenError::Missing("appid"))?,
            grant: text("sid"),
            rights: claims::own_rights(&token.claims),
            issuer: text("iss").ok_or(TokenError::Missing("iss"))?,
            tenant: self.tenant.clone(),
            name: text("upn"),
        })
    }

    /// Checks signature and claims of an access token of this issuer.
    async fn check(&self, token: &Parsed<'_>, audiences: &[String]) -> Result<(), TokenError> {
        let keyring = self.keyring().await.map_err(|_| TokenError::Unreachable)?;
        if let Err(error) = token.check_signature(&keyring.verifying) {
            // Another node may have made a key since.
            let newer = self.newer_keyring(&keyring).await.ok_or(error)?;
            token.check_signature(&newer.verifying)?;
        }
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
        let issuer = self.of_token(&parsed).ok_or(TokenError::Issuer)?;
        let mut audiences = issuer.audiences().to_vec();
        audiences.push(issuer.user_info_address());
        issuer.check(&parsed, &audiences).await?;
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

    /// The keys as they are now, if the catalogue has changed since these were read.
    async fn newer_keyring(&self, known: &Keyring) -> Option<Arc<Keyring>> {
        let version = self.catalogue.version().await.ok()?;
        if version == known.version {
            return None;
        }
        let mut keyring = self.keyring.lock().await;
        let opened = Keyring::open(&self.catalogue, self.now()).await;
        let opened = Arc::new(opened.ok()?);
        *keyring = Some(opened.clone());
        Some(opened)
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
