//! Principals and their rights on applications (`D3`, `D4`).

use std::collections::HashMap;
use std::sync::Arc;

use hindsight_engine::{Access, Caller, PrincipalKind, QueryPrincipal};
use hindsight_identity::{Applications, ExternalToken, OwnToken, Right, Rights};
use hindsight_store::{AppId, KeyRecord};

use crate::directory::{AppRecord, Roles, Snapshot};
use crate::error::ApiError;

/// An authenticated caller.
#[derive(Debug, Clone)]
pub(crate) struct Principal {
    /// For limits and logs: the key's id, the user's or client's, or `local` for the command line of this machine.
    pub(crate) id: Arc<str>,
    /// Rights on every application.
    everywhere: Rights,
    /// Rights on single applications.
    apps: HashMap<AppId, Rights>,
    /// Whether the credential was a token: refusals then follow RFC 6750.
    pub(crate) by_token: bool,
    /// The family of tokens that the credential belongs to, where a person signed in at the embedded issuer.
    pub(crate) grant: Option<Arc<str>>,
    /// What queries see of it (`current_principal()`, `docs/semantics.md §12`).
    sender: Arc<QueryPrincipal>,
}

impl Principal {
    /// The command line of this machine, which reads the token file.
    pub(crate) fn local() -> Principal {
        Principal {
            id: "local".into(),
            everywhere: Rights::NONE.with(Right::Admin),
            apps: HashMap::new(),
            by_token: false,
            grant: None,
            sender: Arc::new(without_tenant(PrincipalKind::Local, "admin", None)),
        }
    }

    /// The holder of an API key.
    pub(crate) fn of_key(key: &KeyRecord) -> Principal {
        let rights = Rights::parse(&key.scopes).unwrap_or_default();
        Principal {
            id: key.id.as_str().into(),
            everywhere: Rights::NONE,
            apps: HashMap::from([(key.app, rights)]),
            by_token: false,
            grant: None,
            sender: Arc::new(without_tenant(
                PrincipalKind::ApiKey,
                &key.id,
                Some(key.name.clone()),
            )),
        }
    }

    /// The user or client of one of our own tokens: what their roles permit, as far as the token does too.
    pub(crate) fn of_own(token: &OwnToken, roles: &Roles) -> Principal {
        let limited = |rights: &Rights| rights.both(token.rights);
        Principal {
            id: format!("{}@{}", token.holder, token.client).into(),
            everywhere: limited(&roles.everywhere),
            apps: roles
                .apps
                .iter()
                .map(|(app, rights)| (*app, limited(rights)))
                .collect(),
            by_token: true,
            grant: token.grant.as_deref().map(Arc::from),
            sender: Arc::new(QueryPrincipal {
                // A family of tokens begins with a person who signs in.
                kind: user_or_application(token.grant.is_some()),
                id: token.holder.clone(),
                tenant: Some(token.tenant.clone()),
                issuer: Some(token.issuer.clone()),
                sign_in_name: token.name.clone(),
                display_name: None,
            }),
        }
    }

    /// The subject of a trusted issuer's token.
    pub(crate) fn of_external(token: &ExternalToken, snapshot: &Snapshot) -> Principal {
        let mut principal = Principal {
            id: format!("{}#{}", token.issuer.issuer, token.subject).into(),
            everywhere: Rights::NONE,
            apps: HashMap::new(),
            by_token: true,
            grant: None,
            sender: Arc::new(QueryPrincipal {
                kind: user_or_application(token.is_person),
                id: token.subject.clone(),
                tenant: token.tenant.clone(),
                issuer: Some(token.issuer.issuer.clone()),
                sign_in_name: token.name.clone(),
                display_name: None,
            }),
        };
        match &token.issuer.applications {
            Applications::All => principal.everywhere = token.rights,
            Applications::Named(names) => {
                let known = names.iter().filter_map(|name| snapshot.app(name));
                principal.apps = known.map(|app| (app.id, token.rights)).collect();
            }
        }
        principal
    }

    /// What people call the principal: the name with which a person signs in, a key's name, or an id.
    pub(crate) fn name(&self) -> &str {
        let sender = &self.sender;
        let named = sender
            .sign_in_name
            .as_ref()
            .or(sender.display_name.as_ref());
        named.filter(|name| !name.is_empty()).unwrap_or(&sender.id)
    }

    /// The rights on every application.
    pub(crate) fn everywhere(&self) -> Rights {
        self.everywhere
    }

    /// The rights on an application.
    pub(crate) fn rights_on(&self, app: AppId) -> Rights {
        let own = self.apps.get(&app).copied().unwrap_or_default();
        self.everywhere.and(own)
    }

    /// Whether the principal has this right on every application.
    pub(crate) fn may_everywhere(&self, right: Right) -> bool {
        self.everywhere.may(right)
    }

    /// Whether the principal has this right anywhere.
    pub(crate) fn may_somewhere(&self, right: Right) -> bool {
        self.everywhere.may(right) || self.apps.values().any(|rights| rights.may(right))
    }

    /// The one application on which the principal has this right; `None` if there are several, or none.
    pub(crate) fn only_app(&self, right: Right) -> Option<AppId> {
        if self.everywhere.may(right) {
            return None;
        }
        let mut apps = self.apps.iter().filter(|(_, rights)| rights.may(right));
        let first = apps.next().map(|(app, _)| *app);
        first.filter(|_| apps.next().is_none())
    }

    /// Whether the principal has this right on an application.
    pub(crate) fn may(&self, app: AppId, right: Right) -> bool {
        self.everywhere.may(right) || self.apps.get(&app).is_some_and(|rights| rights.may(right))
    }

    /// The application of a URL, if the principal has this right on it.
    ///
    /// A principal with named applications learns nothing of others: known or not, the answer is the same 403.
    pub(crate) fn app(
        &self,
        snapshot: &Snapshot,
        name_or_id: &str,
        right: Right,
    ) -> Result<Arc<AppRecord>, ApiError> {
        match snapshot.app(name_or_id) {
            Some(app) if self.may(app.id, right) => Ok(app),
            None if self.everywhere.may(right) => Err(ApiError::PathNotFound),
            _ => Err(self.forbidden()),
        }
    }

    /// The refusal, which names the missing scope for tokens.
    pub(crate) fn forbidden(&self) -> ApiError {
        ApiError::Forbidden {
            by_token: self.by_token,
        }
    }

    /// The engine's view of this principal.
    pub(crate) fn caller(&self, app: AppId, wait: Option<u64>) -> Caller {
        let access = if self.everywhere.may(Right::Read) {
            Access::All
        } else {
            let mut readable: Vec<AppId> = self
                .apps
                .iter()
                .filter(|(_, rights)| rights.may(Right::Read))
                .map(|(app, _)| *app)
                .collect();
            readable.sort_unstable();
            Access::Only(readable)
        };
        Caller {
            principal: Arc::clone(&self.id),
            sender: Some(Arc::clone(&self.sender)),
            endpoint: None,
            access,
            app,
            wait,
        }
    }
}

/// What queries see of a principal of this machine, which belongs to no tenant.
fn without_tenant(kind: PrincipalKind, id: &str, display_name: Option<String>) -> QueryPrincipal {
    QueryPrincipal {
        kind,
        id: id.to_owned(),
        tenant: None,
        issuer: None,
        sign_in_name: None,
        display_name,
    }
}

fn user_or_application(is_person: bool) -> PrincipalKind {
    if is_person {
        PrincipalKind::User
    } else {
        PrincipalKind::Application
    }
}
