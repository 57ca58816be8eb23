//! Judges a request: credential, right and application together.
//!
//! A wrong key and a wrong application cost the same work and get the same bytes, so neither tells which it was.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use hindsight_identity::{Attempts, Right, Token, TokenError, Verifier, api_key, secret};
use hindsight_store::{Catalogue, Clock};

use super::credential::Credential;
use super::principal::Principal;
use crate::directory::{AppRecord, Directory, Snapshot};
use crate::error::ApiError;

/// Failures of one address are counted over this long.
const WINDOW: Duration = Duration::from_secs(60);
/// A key's last use is noted at most this often, in ticks of 100 ns.
const NOTED_EVERY: i64 = 60 * 10_000_000;

/// An admitted request.
#[derive(Debug, Clone)]
pub(crate) struct Admitted {
    /// The principal.
    pub(crate) principal: Principal,
    /// The application of the path, where it has one.
    pub(crate) app: Option<Arc<AppRecord>>,
}

/// Judges credentials.
pub(crate) struct Gate {
    admin_token: String,
    verifier: Verifier,
    directory: Arc<Directory>,
    catalogue: Catalogue,
    clock: Arc<dyn Clock>,
    failures: Attempts,
    /// Wrong credentials of one address in a minute.
    most_failures: u32,
    noted: parking_lot::Mutex<std::collections::HashMap<String, i64>>,
}

/// A credential after its verification: tokens are verified once, keys are compared with each snapshot.
enum Shown {
    Admin,
    Key(String),
    Token(Token),
}

impl Gate {
    /// A gate that also opens to `admin_token`. `failures`: wrong credentials of one address in a minute.
    pub(crate) fn new(
        admin_token: String,
        verifier: Verifier,
        directory: Arc<Directory>,
        catalogue: Catalogue,
        clock: Arc<dyn Clock>,
        failures: u32,
    ) -> Gate {
        Gate {
            admin_token,
            verifier,
            directory,
            catalogue,
            clock,
            failures: Attempts::new(failures, WINDOW),
            most_failures: failures,
            noted: parking_lot::Mutex::default(),
        }
    }

    /// The principal of a credential, with the application of `target` if there is one.
    pub(crate) async fn admit(
        &self,
        credential: Credential,
        target: Option<(&str, Right)>,
        address: Option<IpAddr>,
    ) -> Result<Admitted, ApiError> {
        let source = address
            .map(|address| address.to_string())
            .unwrap_or_default();
        let verdict = self.judge(credential, target).await;
        let refused = matches!(
            verdict,
            Err(ApiError::Forbidden { .. } | ApiError::InvalidToken(_))
        );
        if !refused {
            return verdict;
        }
        let now = self.clock.elapsed();
        if let Some(wait) = self.failures.wait(&source, now) {
            return Err(ApiError::Throttled {
                message: "Rate limit is exceeded: too many wrong credentials from this address (`auth.failures_per_minute`)"
                    .to_owned(),
                limit: u64::from(self.most_failures),
                retry_after: wait.as_secs().max(1),
            });
        }
        self.failures.failed(&source, now);
        verdict
    }

    async fn judge(
        &self,
        credential: Credential,
        target: Option<(&str, Right)>,
    ) -> Result<Admitted, ApiError> {
        let shown = self.read(credential).await?;
        let snapshot = self.directory.snapshot().await?;
        let first = decide(&shown, &snapshot, target, self.clock.now_ticks());
        let verdict = match first {
            // A key or role may be newer than the snapshot: refresh it before refusing.
            Err(_) => {
                let snapshot = self.directory.current().await?;
                decide(&shown, &snapshot, target, self.clock.now_ticks())
            }
            good => good,
        };
        if let (Ok(_), Shown::Key(text)) = (&verdict, &shown) {
            self.note_use(text);
        }
        verdict
    }

    async fn read(&self, credential: Credential) -> Result<Shown, ApiError> {
        match credential {
            Credential::Absent | Credential::Malformed => Err(ApiError::Unauthenticated),
            Credential::Repeated(name) => {
                Err(ApiError::bad(format!("'{name}' was sent more than once")))
            }
            Credential::Key(text) | Credential::Bearer(text) if self.is_admin(&text) => {
                Ok(Shown::Admin)
            }
            Credential::Key(text) => Ok(Shown::Key(text)),
            // Clients that know tokens alone send a key as one.
            Credential::Bearer(text) if api_key::id_of(&text).is_some() => Ok(Shown::Key(text)),
            Credential::Bearer(text) => match self.verifier.verify(&text).await {
                Ok(token) => Ok(Shown::Token(token)),
                Err(error @ TokenError::Unreachable) => {
                    Err(ApiError::Downstream(error.to_string()))
                }
                Err(error) => Err(ApiError::InvalidToken(error)),
            },
        }
    }

    fn is_admin(&self, text: &str) -> bool {
        !self.admin_token.is_empty() && secret::same(&self.admin_token, text)
    }

    /// Records the use of a key, in the background and seldom.
    fn note_use(&self, text: &str) {
        let (Some(id), now) = (api_key::id_of(text), self.clock.now_ticks()) else {
            return;
        };
        {
            let mut noted = self.noted.lock();
            if noted
                .get(id)
                .is_some_and(|last| now < last.saturating_add(NOTED_EVERY))
            {
                return;
            }
            noted.insert(id.to_owned(), now);
        }
        let (catalogue, id) = (self.catalogue.clone(), id.to_owned());
        tokio::spawn(async move {
            if let Err(error) = catalogue.touch_key(&id, now).await {
                tracing::debug!(%error, key = %id, "the use of a key was not noted");
            }
        });
    }
}

/// The principal by this snapshot, if it has the right.
fn decide(
    shown: &Shown,
    snapshot: &Snapshot,
    target: Option<(&str, Right)>,
    now: i64,
) -> Result<Admitted, ApiError> {
    let principal = match shown {
        Shown::Admin => Principal::local(),
        Shown::Key(text) => by_key(text, snapshot, now)?,
        Shown::Token(Token::External(token)) => Principal::of_external(token, snapshot),
        Shown::Token(Token::Own(token)) => {
            let revoked = token
                .grant
                .as_deref()
                .is_some_and(|grant| snapshot.is_revoked(grant));
            let roles = snapshot.roles(&token.holder).filter(|_| !revoked);
            let roles = roles.ok_or(ApiError::InvalidToken(TokenError::Revoked))?;
            Principal::of_own(token, &roles)
        }
    };
    let app = target
        .map(|(name, right)| principal.app(snapshot, name, right))
        .transpose()?;
    Ok(Admitted { principal, app })
}

fn by_key(text: &str, snapshot: &Snapshot, now: i64) -> Result<Principal, ApiError> {
    let record = api_key::id_of(text).and_then(|id| snapshot.key(id));
    let matches = api_key::matches(text, record.as_ref().map(|record| record.hash.as_slice()));
    record
        .filter(|record| matches && record.expires.is_none_or(|expires| now < expires))
        .map(|record| Principal::of_key(&record))
        .ok_or(ApiError::Forbidden { by_token: false })
}
