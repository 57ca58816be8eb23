//! Applications: the list, a new one, the limits of one.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use hindsight_identity::Right;
use hindsight_store::{Application, StoreError, Tier};
use serde::Deserialize;

use super::access::{Asker, unstored};
use crate::app::{App, create_app};
use crate::error::ApiError;
use crate::routes::asked::Asked;
use crate::wire::portal as wire;

/// A new application.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewApp {
    name: String,
}

/// The limits of an application; `null` is none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct AppLimits {
    tier: String,
    daily_cap_bytes: Option<u64>,
    retention_days: Option<u32>,
}

/// `GET /portal/api/apps`: the applications that the caller may read or send telemetry to.
pub(super) async fn list(State(app): State<Arc<App>>, asker: Asker) -> Result<Response, ApiError> {
    let principal = asker.principal();
    let base = asker.head.base(&app.settings);
    let all = app.store.catalogue().apps().await?;
    let visible = all
        .iter()
        .filter(|app| principal.may(app.id, Right::Read) || principal.may(app.id, Right::Ingest));
    let described = visible.map(|app| wire::app(app, principal.rights_on(app.id), &base));
    Ok(unstored(&wire::apps(described.collect())))
}

/// `POST /portal/api/apps`
pub(super) async fn create(
    State(app): State<Arc<App>>,
    asker: Asker,
    Asked(new): Asked<NewApp>,
) -> Result<Response, ApiError> {
    if !asker.principal().may_everywhere(Right::Admin) {
        return Err(asker.principal().forbidden());
    }
    let created = create_app(app.store.catalogue(), &new.name, app.now()).await;
    let created = created.map_err(|error| match error.downcast::<StoreError>() {
        Ok(taken @ StoreError::NameTaken { .. }) => ApiError::bad(taken.to_string()),
        Ok(other) => other.into(),
        // The name is refused with a sentence.
        Err(refused) => ApiError::bad(refused.to_string()),
    })?;
    asker
        .note(&app, "application created", created.name.clone())
        .await?;
    Ok(shown(&app, &asker, &created))
}

/// `PUT /portal/api/apps/{appId}`
pub(super) async fn change(
    State(app): State<Arc<App>>,
    asker: Asker,
    Asked(limits): Asked<AppLimits>,
) -> Result<Response, ApiError> {
    let tier = Tier::parse(&limits.tier).ok_or_else(|| {
        ApiError::bad(format!(
            "'{}' is no pricing tier; use free, basic or enterprise",
            limits.tier
        ))
    })?;
    if limits.retention_days == Some(0) {
        return Err(ApiError::bad(
            "'retentionDays' is a number of days from 1, or null",
        ));
    }
    let known = asker.app()?;
    let catalogue = app.store.catalogue();
    let (cap, days) = (limits.daily_cap_bytes, limits.retention_days);
    catalogue.set_app_limits(known.id, tier, cap, days).await?;
    let or_none = |limit: Option<u64>| limit.map_or_else(|| "none".to_owned(), |n| n.to_string());
    let subject = format!(
        "{}: tier {}, daily cap {}, retention days {}",
        known.name,
        tier.name(),
        or_none(cap),
        or_none(days.map(u64::from)),
    );
    asker.note(&app, "application changed", subject).await?;
    let changed = catalogue.app(&known.id_text).await?;
    let changed = changed.ok_or(ApiError::PathNotFound)?;
    Ok(shown(&app, &asker, &changed))
}

fn shown(app: &App, asker: &Asker, shown: &Application) -> Response {
    let base = asker.head.base(&app.settings);
    let rights = asker.principal().rights_on(shown.id);
    unstored(&wire::app(shown, rights, &base))
}
