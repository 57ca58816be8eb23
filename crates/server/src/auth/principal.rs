//! From a credential to a principal, and from a principal to an application it may see (`D3`, `D4`).

use std::sync::Arc;

use hindsight_engine::{Access, Caller};
use hindsight_store::{AppId, KeyRecord};
use subtle::ConstantTimeEq;

use super::api_key;
use super::credential::Credential;
use crate::directory::{AppRecord, Directory, Snapshot};
use crate::error::ApiError;

/// What a credential permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Query telemetry.
    Read,
    /// Everything.
    Admin,
}

impl Scope {
    /// The scope's name in the catalogue.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Admin => "admin",
        }
    }
}

/// Who asks.
#[derive(Debug, Clone)]
pub(crate) struct Principal {
    /// For limits and logs: the key's id, or `local` for the command line of this machine.
    pub(crate) id: Arc<str>,
    /// What they may read.
    pub(crate) access: Access,
    scopes: Arc<str>,
}

impl Principal {
    /// The command line on this machine, which read the token file.
    pub(crate) fn local() -> Principal {
        Principal {
            id: "local".into(),
            access: Access::All,
            scopes: Scope::Admin.name().into(),
        }
    }

    fn of_key(key: &KeyRecord) -> Principal {
        Principal {
            id: key.id.as_str().into(),
            access: Access::Only(vec![key.app]),
            scopes: key.scopes.as_str().into(),
        }
    }

    /// Whether a scope is granted.
    pub(crate) fn may(&self, scope: Scope) -> bool {
        self.scopes
            .split([',', ' '])
            .any(|granted| granted == scope.name() || granted == Scope::Admin.name())
    }

    /// The application of a URL, if this principal may read it.
    ///
    /// A principal with named applications learns nothing of others: known or not, the answer is the same 403.
    pub(crate) fn app(
        &self,
        snapshot: &Snapshot,
        name_or_id: &str,
    ) -> Result<Arc<AppRecord>, ApiError> {
        if !self.may(Scope::Read) {
            return Err(ApiError::Forbidden);
        }
        let found = snapshot.app(name_or_id);
        match (&self.access, found) {
            (Access::All, Some(app)) => Ok(app),
            (Access::All, None) => Err(ApiError::PathNotFound),
            (Access::Only(allowed), Some(app)) if allowed.contains(&app.id) => Ok(app),
            (Access::Only(_), _) => Err(ApiError::Forbidden),
        }
    }

    /// The engine's view of this principal.
    pub(crate) fn caller(&self, app: AppId) -> Caller {
        Caller {
            access: self.access.clone(),
            app,
        }
    }
}

/// Judges credentials.
pub(crate) struct Gate {
    admin_token: String,
}

impl Gate {
    /// A gate that also opens to this token.
    pub(crate) fn new(admin_token: String) -> Gate {
        Gate { admin_token }
    }

    /// The principal of a credential, with the snapshot in which it was found.
    pub(crate) async fn admit(
        &self,
        credential: Credential,
        directory: &Directory,
        now: i64,
    ) -> Result<(Principal, Arc<Snapshot>), ApiError> {
        let snapshot = directory.snapshot().await?;
        let (text, bearer) = match credential {
            Credential::Absent | Credential::Malformed => return Err(ApiError::Unauthenticated),
            Credential::Repeated(name) => {
                return Err(ApiError::bad(format!("'{name}' was sent more than once")));
            }
            Credential::Key(text) => (text, false),
            Credential::Bearer(text) => (text, true),
        };
        if self.is_admin(&text) {
            return Ok((Principal::local(), snapshot));
        }
        if bearer {
            // No token issuer is configured, so no other token can be good (`D4`).
            return Err(ApiError::Unauthenticated);
        }
        if let Some(principal) = by_key(&text, &snapshot, now) {
            return Ok((principal, snapshot));
        }
        // A key that was made a moment ago: look again before saying no.
        let snapshot = directory.current().await?;
        by_key(&text, &snapshot, now)
            .map(|principal| (principal, snapshot))
            .ok_or(ApiError::Forbidden)
    }

    fn is_admin(&self, text: &str) -> bool {
        !self.admin_token.is_empty()
            && bool::from(self.admin_token.as_bytes().ct_eq(text.as_bytes()))
    }
}

fn by_key(text: &str, snapshot: &Snapshot, now: i64) -> Option<Principal> {
    let record = snapshot.key(api_key::id_of(text)?)?;
    let alive = record.expires.is_none_or(|expires| now < expires);
    (api_key::matches(text, &record.hash) && alive).then(|| Principal::of_key(&record))
}
