//! People who signed in: their password, their browser's session.

use std::time::Duration;

use hindsight_store::{AuditRecord, SessionRecord, UserRecord};

use super::error::OAuthError;
use super::pending::SignedIn;
use super::{Issuer, TICKS, UNIX_EPOCH_TICKS};
use crate::secret;

/// How long a browser stays signed in.
pub const SESSION_LIFETIME: Duration = Duration::from_secs(8 * 3600);

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
    /// `None` for a wrong name or password; [`OAuthError`] where the name or the address failed too often.
    pub async fn sign_in(
        &self,
        name: &str,
        password: &str,
        address: &str,
    ) -> Result<Option<NewSession>, OAuthError> {
        let sources = [
            format!("user {}", name.to_lowercase()),
            format!("address {address}"),
        ];
        let elapsed = self.clock.elapsed();
        let waits = sources
            .iter()
            .filter_map(|source| self.sign_ins.wait(source, elapsed));
        if let Some(wait) = waits.max() {
            return Err(OAuthError::too_many(wait.as_secs().max(1)));
        }
        let user = self.catalogue.user(name).await?;
        let user = user.filter(|user| user.name.eq_ignore_ascii_case(name) || user.name == name);
        let kept = user.as_ref().map(|user| user.password.clone());
        let good = self.passwords.matches(password, kept).await;
        match user.filter(|_| good) {
            Some(user) => {
                sources
                    .iter()
                    .for_each(|source| self.sign_ins.succeeded(source));
                self.audit(&user.name, "sign-in", "", address).await?;
                self.begin(&user).await.map(Some)
            }
            None => {
                sources
                    .iter()
                    .for_each(|source| self.sign_ins.failed(source, elapsed));
                self.audit("", "sign-in failed", &shown(name), address)
                    .await?;
                Ok(None)
            }
        }
    }

    async fn begin(&self, user: &UserRecord) -> Result<NewSession, OAuthError> {
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
        let record = AuditRecord {
            at: self.now(),
            actor: actor.to_owned(),
            action: action.to_owned(),
            subject: subject.to_owned(),
            address: address.to_owned(),
        };
        Ok(self.catalogue.note(&record).await?)
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
