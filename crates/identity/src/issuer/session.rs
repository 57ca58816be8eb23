//! People who signed in: their password, their browser's session.

use std::time::Duration;

use hindsight_store::{AuditRecord, SessionRecord, UserRecord};

use super::error::OAuthError;
use super::pending::SignedIn;
use super::{Issuer, TICKS, UNIX_EPOCH_TICKS};
use crate::attempts::Source;
use crate::password::Busy;
use crate::secret;

/// How long a browser stays signed in.
pub const SESSION_LIFETIME: Duration = Duration::from_secs(8 * 3600);

/// Failures of one name, and of one address, as a multiple of the limit of a name at an address.
const NAME_FACTOR: u32 = 10;
/// Failures of all names and addresses together, as a multiple of the same limit.
const GLOBAL_FACTOR: u32 = 100;
/// The audit's word for a sign-in that failed.
const FAILED: &str = "sign-in failed";
/// The maximum number of failed sign-ins in the audit log, so that guesses do not grow it without bound.
const FAILURES_KEPT: u32 = 10_000;

/// A session that began now.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// What the browser's cookie holds; it is not kept.
    pub secret: String,
    /// Who signed in.
    pub who: SignedIn,
}

impl Issuer {
    /// Begins a session of a person who knows a user's password.
    ///
    /// The session is always a new one: what the browser held before it signed in is worth nothing.
    ///
    /// # Errors
    /// `None` for a wrong name or password; [`OAuthError`] where the name at the address failed too often, or too many passwords
    /// are being compared.
    pub async fn sign_in(
        &self,
        name: &str,
        password: &str,
        address: &str,
    ) -> Result<Option<NewSession>, OAuthError> {
        let elapsed = self.clock.elapsed();
        let sources = self.sources("user", name, address, elapsed);
        // Counted before the password is compared: of many attempts at once no more are compared than the limit.
        self.sign_ins
            .begin(&sources, elapsed)
            .map_err(|wait| OAuthError::too_many(wait.as_secs().max(1)))?;
        let user = self.catalogue.user(name).await?;
        let user = user.filter(|user| user.name.eq_ignore_ascii_case(name));
        let kept = user.as_ref().map(|user| user.password.clone());
        let good = match self.passwords.matches(password, kept).await {
            Ok(good) => good,
            Err(Busy) => {
                self.sign_ins.succeeded(&sources);
                return Err(OAuthError::busy());
            }
        };
        match user.filter(|_| good) {
            Some(user) => {
                self.sign_in_succeeded(&sources, elapsed);
                self.audit(&user.name, "sign-in", "", address).await?;
                self.begin(&user).await.map(Some)
            }
            None => {
                let record = self.audit_record("", FAILED, &shown(name), address);
                self.catalogue.note_bounded(&record, FAILURES_KEPT).await?;
                Ok(None)
            }
        }
    }

    /// What an attempt counts for. Guesses for one name at one address delay no one else: the name at other addresses and all
    /// names together have higher limits, and an address where the name signed in lately is exempt from these.
    pub(crate) fn sources(
        &self,
        kind: &str,
        name: &str,
        address: &str,
        elapsed: Duration,
    ) -> Vec<Source> {
        let name = name.to_lowercase();
        let limit = self.sign_ins.limit();
        let source = |name: String, factor: u32| Source {
            name,
            limit: limit.saturating_mul(factor),
        };
        let pair = format!("{kind} {name} at {address}");
        let known = self.known.contains(&pair, elapsed);
        let mut sources = vec![source(pair, 1)];
        if !known {
            sources.push(source(format!("{kind} {name}"), NAME_FACTOR));
            sources.push(source(format!("address {address}"), NAME_FACTOR));
            sources.push(source("all".to_owned(), GLOBAL_FACTOR));
        }
        sources
    }

    /// Takes back what an attempt with the right secret counted, and remembers where it came from.
    pub(crate) fn sign_in_succeeded(&self, sources: &[Source], elapsed: Duration) {
        self.sign_ins.succeeded(sources);
        if let Some(pair) = sources.first() {
            self.sign_ins.reset(pair);
            self.known.note(&pair.name, elapsed);
        }
    }

    /// Begins a session of a user.
    pub(super) async fn begin(&self, user: &UserRecord) -> Result<NewSession, OAuthError> {
        let now = self.now();
        self.catalogue.forget_ended(now).await?;
        let text = secret::random()?;
        let lifetime =
            i64::try_from(SESSION_LIFETIME.as_secs()).unwrap_or(i64::MAX / TICKS) * TICKS;
        let session = SessionRecord {
            id: secret::new_id().to_string(),
            user: user.id.clone(),
            created: now,
            expires: now.saturating_add(lifetime),
        };
        self.catalogue
            .create_session(&secret::hash(&text), &session)
            .await?;
        Ok(NewSession {
            secret: text,
            who: signed_in(user, &session),
        })
    }

    /// Who a browser's session belongs to, if it is still good.
    ///
    /// # Errors
    /// What the catalogue says.
    pub async fn session(&self, secret: &str) -> Result<Option<SignedIn>, OAuthError> {
        let session = self.catalogue.session(&secret::hash(secret)).await?;
        let now = self.now();
        let Some(session) = session.filter(|session| now < session.expires) else {
            return Ok(None);
        };
        let user = self.catalogue.user(&session.user).await?;
        Ok(user.map(|user| signed_in(&user, &session)))
    }

    /// Ends a browser's session.
    ///
    /// # Errors
    /// What the catalogue says.
    pub async fn sign_out(&self, secret: &str) -> Result<(), OAuthError> {
        Ok(self.catalogue.delete_session(&secret::hash(secret)).await?)
    }

    /// Notes what somebody did.
    pub(crate) async fn audit(
        &self,
        actor: &str,
        action: &str,
        subject: &str,
        address: &str,
    ) -> Result<(), OAuthError> {
        let record = self.audit_record(actor, action, subject, address);
        Ok(self.catalogue.note(&record).await?)
    }

    fn audit_record(&self, actor: &str, action: &str, subject: &str, address: &str) -> AuditRecord {
        AuditRecord {
            at: self.now(),
            actor: actor.to_owned(),
            action: action.to_owned(),
            subject: subject.to_owned(),
            address: address.to_owned(),
        }
    }
}

/// A name that somebody typed, for the audit: people type passwords into the wrong field, so only its beginning.
fn shown(name: &str) -> String {
    const SHOWN: usize = 3;
    let begin: String = name
        .chars()
        .filter(|c| !c.is_control())
        .take(SHOWN)
        .collect();
    format!("{begin}…")
}

fn signed_in(user: &UserRecord, session: &SessionRecord) -> SignedIn {
    SignedIn {
        user: user.id.clone(),
        name: user.name.clone(),
        session: session.id.clone(),
        at: (session.created - UNIX_EPOCH_TICKS).div_euclid(TICKS),
    }
}
