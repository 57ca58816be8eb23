//! The API keys of an application.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use hindsight_identity::Rights;
use hindsight_kql_types::datetime;
use serde::Deserialize;

use super::access::{Asker, done, unstored};
use crate::app::{App, create_key_with};
use crate::error::ApiError;
use crate::routes::asked::Asked;
use crate::wire::portal as wire;

/// The longest name of a key.
const LONGEST_NAME: usize = 128;
/// The audit's words for a new key, after which its id stands in the subject.
const CREATED: &str = "key created";

/// A new key.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewKey {
    name: String,
    /// Names of rights.
    rights: Vec<String>,
    /// A time of ISO 8601; `null` for a key without an end.
    expires: Option<String>,
}

/// `GET /portal/api/apps/{appId}/keys`
pub(super) async fn list(State(app): State<Arc<App>>, asker: Asker) -> Result<Response, ApiError> {
    let catalogue = app.store.catalogue();
    let keys = catalogue.keys(asker.app()?.id).await?;
    let notes = catalogue.notes_of(CREATED).await?;
    let creators: HashMap<&str, &str> = notes
        .iter()
        .filter_map(|note| Some((note.subject.split(' ').next()?, note.actor.as_str())))
        .collect();
    let described = keys
        .iter()
        .map(|key| wire::key(key, creators.get(key.id.as_str()).copied()));
    Ok(unstored(&wire::keys(described.collect())))
}

/// `POST /portal/api/apps/{appId}/keys`: the key is in this reply alone.
pub(super) async fn create(
    State(app): State<Arc<App>>,
    asker: Asker,
    Asked(new): Asked<NewKey>,
) -> Result<Response, ApiError> {
    let name = new.name.trim();
    if name.is_empty() || name.len() > LONGEST_NAME || name.contains(char::is_control) {
        return Err(ApiError::bad(
            "A key's name has 1 to 128 bytes and no control characters",
        ));
    }
    let rights = new.rights.join(",");
    let rights = Rights::parse(&rights).map_err(|unknown| {
        ApiError::bad(format!(
            "'{unknown}' is no right; use read, ingest or admin"
        ))
    })?;
    if rights == Rights::NONE {
        return Err(ApiError::bad(
            "A key has at least one right: read, ingest or admin",
        ));
    }
    let now = app.now();
    let expires = new.expires.as_deref().map(|text| {
        let at = datetime::parse(text).filter(|at| *at > now);
        at.ok_or_else(|| {
            ApiError::bad("'expires' is a time in the future, such as 2030-01-31T00:00:00Z")
        })
    });
    let expires = expires.transpose()?;
    let of = asker.app()?;
    let catalogue = app.store.catalogue();
    let made = create_key_with(catalogue, of.id, name, rights, now, expires).await;
    let (id, text) = made.map_err(|error| ApiError::Internal(format!("{error:#}")))?;
    let subject = format!("{id} ({}) of {}", rights.text(), of.name);
    asker.note(&app, CREATED, subject).await?;
    Ok(unstored(&wire::new_key(&id, &text)))
}

/// `DELETE /portal/api/apps/{appId}/keys/{keyId}`: the key is refused within a second.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    asker: Asker,
    Path((_, id)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let catalogue = app.store.catalogue();
    let of = asker.app()?;
    let known = catalogue.key(&id).await?.filter(|key| key.app == of.id);
    if known.is_none() {
        return Err(ApiError::NotFound(format!("There is no key '{id}'")));
    }
    catalogue.delete_key(&id).await?;
    asker.note(&app, "key deleted", id).await?;
    Ok(done())
}
