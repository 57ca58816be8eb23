//! What every query passes: version, credential, application, tier, throttle.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use hindsight_engine::Caller;

use crate::app::App;
use crate::auth::Principal;
use crate::auth::gate::Admitted;
use crate::directory::AppRecord;
use crate::error::ApiError;
use crate::origin::Head;
use crate::params::Params;
use crate::prefer::Prefer;
use crate::reply::{CacheControl, Conditions};
use crate::throttle::Permit;

/// A version segment of the URL (`D1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// `v1`
    V1,
    /// `beta`
    Beta,
}

impl Version {
    /// The version of this name; any other is no path of ours.
    pub(crate) fn parse(text: &str) -> Option<Version> {
        match text {
            "v1" => Some(Version::V1),
            "beta" => Some(Version::Beta),
            _ => None,
        }
    }
}

/// A query that was admitted.
pub(crate) struct Access {
    /// The version in the URL.
    pub(crate) version: Version,
    /// The application as it was written in the URL.
    pub(crate) app_text: String,
    /// The application.
    pub(crate) app: Arc<AppRecord>,
    /// The principal.
    pub(crate) principal: Principal,
    /// The client's address.
    pub(crate) address: Option<IpAddr>,
    /// The base address of links in the reply, without a slash at its end.
    pub(crate) base: String,
    /// The URL's parameters.
    pub(crate) params: Params,
    /// The client's preferences.
    pub(crate) prefer: Prefer,
    /// How the cache may be used.
    pub(crate) cache: CacheControl,
    /// The replies that the caller already has.
    pub(crate) conditions: Conditions,
}

impl Access {
    /// The engine's view of the principal.
    pub(crate) fn caller(&self) -> Caller {
        let host = self.base.split_once("://").map(|(_, host)| host);
        Caller {
            endpoint: host.map(Arc::from),
            ..self.principal.caller(self.app.id, self.prefer.wait)
        }
    }

    /// The client's address and the principal: who reads the memory of a body.
    pub(crate) fn reader(&self) -> (Option<IpAddr>, &Arc<str>) {
        (self.address, &self.principal.id)
    }

    /// An admitted request about an application, which is named `app_text` in it.
    ///
    /// # Errors
    /// [`ApiError::PaymentRequired`] for a pricing tier that does not permit queries, [`ApiError::Bad`] for a preference or
    /// parameter that cannot be read.
    pub(crate) fn new(
        app: &App,
        parts: &Parts,
        version: Version,
        app_text: String,
        admitted: Admitted,
    ) -> Result<Access, ApiError> {
        let Admitted {
            principal,
            app: Some(record),
        } = admitted
        else {
            return Err(ApiError::Unauthenticated);
        };
        if record.tier < app.settings.minimum_tier {
            let needs = app.settings.minimum_tier.name();
            return Err(ApiError::PaymentRequired {
                has: record.tier.name(),
                needs,
            });
        }
        let params = Params::parse(parts.uri.query());
        let prefer = Prefer::read(&parts.headers, &params, app.settings.query_max_wait)?;
        let head = Head::of(parts);
        Ok(Access {
            version,
            app_text,
            app: record,
            principal,
            address: head.connection.address(),
            base: head.base(&app.settings),
            params,
            prefer,
            cache: CacheControl::read(&parts.headers),
            conditions: Conditions::read(&parts.method, &parts.headers),
        })
    }

    /// Waits until the principal's limits permit the query.
    ///
    /// # Errors
    /// [`ApiError::Throttled`] if that takes too long, [`ApiError::Unavailable`] if the server stops meanwhile.
    pub(crate) async fn permit(&self, app: &App) -> Result<Permit, ApiError> {
        let permit = app.throttle.admit(&self.principal.id);
        app.shutdown.or_stopping(permit).await
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Version {
    type Rejection = ApiError;

    /// The version in the path; `v1` for a path without one.
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Version, ApiError> {
        let path = RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(|_| ApiError::PathNotFound)?;
        match segment(&path, "version") {
            Some(text) => Version::parse(text).ok_or(ApiError::PathNotFound),
            None => Ok(Version::V1),
        }
    }
}

/// A part of the path.
fn segment<'p>(path: &'p RawPathParams, name: &str) -> Option<&'p str> {
    path.iter()
        .find(|(known, _)| *known == name)
        .map(|(_, value)| value)
}

impl FromRequestParts<Arc<App>> for Access {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Access, ApiError> {
        // The gate before the route has let them in: without a credential nobody learns which paths exist.
        let admitted = parts.extensions.remove::<Admitted>();
        let admitted = admitted.ok_or(ApiError::Unauthenticated)?;
        let version = Version::from_request_parts(parts, app).await?;
        let path = RawPathParams::from_request_parts(parts, app)
            .await
            .map_err(|_| ApiError::PathNotFound)?;
        let app_text = segment(&path, "appId").unwrap_or_default().to_owned();
        Access::new(app, parts, version, app_text, admitted)
    }
}
