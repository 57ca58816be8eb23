//! Tokens of trusted issuers, whose discovery documents and keys are cached and refreshed.

use std::sync::Arc;
use std::time::Duration;

use hindsight_store::Clock;
use parking_lot::RwLock;
use serde_json::Value;

use crate::claims::{self, Expected};
use crate::fetch::{FetchError, Fetcher};
use crate::jwt::{self, Parsed, TokenError, VerifyingKey};
use crate::right::Rights;
use crate::trust::TrustedIssuer;

/// How long keys are cached before they are fetched again.
const FRESH: Duration = Duration::from_secs(3600);
/// The shortest time between two fetches.
const PAUSE: Duration = Duration::from_secs(60);
/// Ticks from 0001-01-01 to 1970-01-01.
const UNIX_EPOCH_TICKS: i64 = 621_355_968_000_000_000;

/// A verified token of a trusted issuer.
#[derive(Debug, Clone)]
pub struct ExternalToken {
    /// Its issuer.
    pub issuer: Arc<TrustedIssuer>,
    /// Its subject: `oid` where there is one, otherwise `sub`.
    pub subject: String,
    /// The rights that both the token and the trust in its issuer grant.
    pub rights: Rights,
    /// Whether it is a person's: it has scopes (`scp`, `scope`), which only people grant.
    pub is_person: bool,
    /// Its tenant (`tid`), where it names one.
    pub tenant: Option<String>,
    /// The name with which a person signs in: `upn` or `preferred_username`.
    pub name: Option<String>,
}

/// All trusted issuers.
pub(crate) struct ExternalIssuers {
    issuers: Vec<External>,
    fetcher: Option<Fetcher>,
    clock: Arc<dyn Clock>,
}

/// One trusted issuer.
struct External {
    trusted: Arc<TrustedIssuer>,
    keys: RwLock<Keys>,
    reading: tokio::sync::Mutex<()>,
}

/// The last good keys.
#[derive(Default, Clone)]
struct Keys {
    known: Arc<[VerifyingKey]>,
    /// When they were fetched.
    read: Option<Duration>,
    /// When fetching was last tried.
    tried: Option<Duration>,
}

impl ExternalIssuers {
    /// Checks the addresses; fetches nothing yet.
    pub(crate) fn new(
        trusted: Vec<TrustedIssuer>,
        allow_local: bool,
        clock: Arc<dyn Clock>,
    ) -> Result<ExternalIssuers, FetchError> {
        let fetcher = if trusted.is_empty() {
            None
        } else {
            Some(Fetcher::new(allow_local)?)
        };
        for issuer in &trusted {
            if let Some(fetcher) = &fetcher {
                fetcher.check(&issuer.issuer)?;
            }
        }
        let issuers = trusted
            .into_iter()
            .map(|trusted| External {
                trusted: Arc::new(trusted),
                keys: RwLock::default(),
                reading: tokio::sync::Mutex::default(),
            })
            .collect();
        Ok(ExternalIssuers {
            issuers,
            fetcher,
            clock,
        })
    }

    /// Whether a token names one of these issuers.
    pub(crate) fn includes(&self, token: &Parsed<'_>) -> bool {
        let name = token.text("iss");
        let mut issuers = self.issuers.iter();
        issuers.any(|external| Some(external.trusted.issuer.as_str()) == name)
    }

    /// Checks a token. Several entries may trust one issuer, each with another tenant or audience.
    pub(crate) async fn verify(&self, token: &Parsed<'_>) -> Result<ExternalToken, TokenError> {
        let name = token.text("iss").ok_or(TokenError::Missing("iss"))?;
        let mut verdict = Err(TokenError::Issuer);
        for external in self
            .issuers
            .iter()
            .filter(|external| external.trusted.issuer == name)
        {
            verdict = self.verify_with(token, external).await;
            if verdict.is_ok() {
                break;
            }
        }
        verdict
    }

    async fn verify_with(
        &self,
        token: &Parsed<'_>,
        external: &External,
    ) -> Result<ExternalToken, TokenError> {
        // Claims are compared first: a token that could not pass makes nobody read keys.
        let trusted = &external.trusted;
        let now = (self.clock.now_ticks() - UNIX_EPOCH_TICKS).div_euclid(10_000_000);
        let expected = Expected {
            issuers: &[&trusted.issuer],
            audiences: &trusted.audiences,
            tenant: trusted.tenant.as_deref(),
            now,
        };
        claims::check(&token.claims, &expected)?;
        let keys = self.keys_for(token, external).await?;
        token.check_signature(&keys)?;
        let subject = token.text("oid").or_else(|| token.text("sub"));
        let name = token
            .text("upn")
            .or_else(|| token.text("preferred_username"));
        Ok(ExternalToken {
            issuer: trusted.clone(),
            subject: subject.ok_or(TokenError::Missing("sub"))?.to_owned(),
            rights: claims::rights(&token.claims).both(trusted.rights),
            is_person: ["scp", "scope"]
                .iter()
                .any(|name| token.claims.get(*name).is_some()),
            tenant: token.text("tid").map(str::to_owned),
            name: name.map(str::to_owned),
        })
    }

    /// The issuer's keys. They are fetched again when they are old or lack the token's key, but at most once a minute; when fetching
    /// fails, the last good keys stay.
    async fn keys_for(
        &self,
        token: &Parsed<'_>,
        external: &External,
    ) -> Result<Arc<[VerifyingKey]>, TokenError> {
        let suits = |keys: &Keys, now: Duration| {
            let fresh = keys.read.is_some_and(|read| now < read + FRESH);
            fresh && jwt::find(&keys.known, token.key_id.as_deref()).is_some()
        };
        let rests =
            |keys: &Keys, now: Duration| keys.tried.is_some_and(|tried| now < tried + PAUSE);
        let known = external.keys.read().clone();
        let now = self.clock.elapsed();
        if suits(&known, now) {
            return Ok(known.known);
        }
        if !rests(&known, now) {
            let _one_at_a_time = external.reading.lock().await;
            let known = external.keys.read().clone();
            if !suits(&known, now) && !rests(&known, now) {
                self.read_keys(external).await;
            }
        }
        let known = external.keys.read().clone();
        match known.read {
            Some(_) => Ok(known.known),
            None => Err(TokenError::Unreachable),
        }
    }

    async fn read_keys(&self, external: &External) {
        let issuer = &external.trusted.issuer;
        external.keys.write().tried = Some(self.clock.elapsed());
        match self.fetch(issuer).await {
            Ok(keys) => {
                tracing::info!(%issuer, keys = keys.len(), "read an issuer's keys");
                let mut state = external.keys.write();
                state.known = keys.into();
                state.read = Some(self.clock.elapsed());
            }
            Err(error) => tracing::warn!(%issuer, %error, "cannot read an issuer's keys"),
        }
    }

    /// Discovery (OpenID Connect Discovery §4) and then the keys.
    async fn fetch(&self, issuer: &str) -> Result<Vec<VerifyingKey>, FetchError> {
        let Some(fetcher) = &self.fetcher else {
            return Ok(Vec::new());
        };
        let address = format!(
            "{}/.well-known/openid-configuration",
            issuer.trim_end_matches('/')
        );
        let failed = |why: &str| FetchError::Failed(address.clone(), why.to_owned());
        let document = fetcher.json(&address).await?;
        if document.get("issuer").and_then(Value::as_str) != Some(issuer) {
            return Err(failed("it names another issuer"));
        }
        let keys = document.get("jwks_uri").and_then(Value::as_str);
        let set = fetcher
            .json(keys.ok_or_else(|| failed("it has no jwks_uri"))?)
            .await?;
        let keys = jwt::verifying_keys(&set);
        if keys.is_empty() {
            return Err(failed("its key set has no key that can be trusted"));
        }
        Ok(keys)
    }
}
