//! Databases: the applications that a principal may read.

use std::sync::Arc;

use hindsight_identity::Right;

use crate::app::App;
use crate::auth::Principal;
use crate::directory::{AppRecord, Snapshot};
use crate::error::ApiError;

/// The name of the default database, which clients send if none is configured.
const DEFAULT: &str = "NetDefaultDB";

/// The applications that the principal may read, by name.
pub(super) async fn readable(
    app: &App,
    principal: &Principal,
) -> Result<Vec<Arc<AppRecord>>, ApiError> {
    let snapshot = app.directory.current().await?;
    Ok(readable_in(&snapshot, principal))
}

fn readable_in(snapshot: &Snapshot, principal: &Principal) -> Vec<Arc<AppRecord>> {
    let apps = snapshot.apps();
    let mut apps: Vec<Arc<AppRecord>> = apps
        .filter(|app| principal.may(app.id, Right::Read))
        .cloned()
        .collect();
    apps.sort_by(|one, other| one.name.cmp(&other.name));
    apps
}

/// The application of this name or id. A request without a name is about the only application that the principal may read.
///
/// # Errors
/// [`ApiError::Forbidden`] for an application that the principal may not read, [`ApiError::Bad`] if there is none of this name or
/// no name is given and the principal may read several.
pub(super) async fn find(
    app: &App,
    principal: &Principal,
    name: Option<&str>,
) -> Result<Arc<AppRecord>, ApiError> {
    let name = name.filter(|name| !name.is_empty());
    if let Some(name) = name {
        let snapshot = app.directory.snapshot().await?;
        if let Ok(found) = principal.app(&snapshot, name, Right::Read) {
            return Ok(found);
        }
    }
    let snapshot = app.directory.current().await?;
    match name.filter(|name| *name != DEFAULT || snapshot.app(DEFAULT).is_some()) {
        Some(name) => match principal.app(&snapshot, name, Right::Read) {
            Err(ApiError::PathNotFound) => Err(ApiError::bad(format!(
                "Entity ID '{name}' of kind 'Database' was not found."
            ))),
            other => other,
        },
        None => only(&readable_in(&snapshot, principal), principal),
    }
}

fn only(apps: &[Arc<AppRecord>], principal: &Principal) -> Result<Arc<AppRecord>, ApiError> {
    match apps {
        [one] => Ok(one.clone()),
        [] => Err(principal.forbidden()),
        _ => Err(ApiError::bad(
            "The request names no database ('db'), and the credential permits to read several applications",
        )),
    }
}
