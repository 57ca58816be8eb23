//! Saved queries of an application, which everybody who may read it shares. A change names the version that it is based on.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use hindsight_store::SavedQuery;
use serde::Deserialize;

use super::access::{Asker, done, unstored};
use crate::app::App;
use crate::error::ApiError;
use crate::routes::asked::Asked;
use crate::wire::portal as wire;

/// The longest name, in bytes.
const LONGEST_NAME: usize = 200;
/// The longest text, in bytes.
const LONGEST_TEXT: usize = 256 << 10;
/// Saved queries of an application.
const MOST: usize = 1_000;

/// What is saved.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Saved {
    text: String,
    /// The time range that the query is shown with, as addresses of the portal have it.
    range: Option<String>,
}

/// `GET /portal/api/apps/{appId}/queries`
pub(super) async fn list(State(app): State<Arc<App>>, asker: Asker) -> Result<Response, ApiError> {
    let queries = app.store.catalogue().saved_queries(asker.app()?.id).await?;
    Ok(unstored(&wire::saved_queries(&queries)))
}

/// `PUT /portal/api/apps/{appId}/queries/{queryName}`: a new query with `If-None-Match: *`, or the next version of the one that
/// `If-Match` names.
pub(super) async fn put(
    State(app): State<Arc<App>>,
    asker: Asker,
    Path((_, name)): Path<(String, String)>,
    Asked(saved): Asked<Saved>,
) -> Result<Response, ApiError> {
    if name.trim() != name
        || name.is_empty()
        || name.len() > LONGEST_NAME
        || name.contains(char::is_control)
    {
        return Err(ApiError::bad(format!(
            "The name of a saved query has 1 to {LONGEST_NAME} bytes, no control characters, and no white space around it"
        )));
    }
    if saved.text.len() > LONGEST_TEXT
        || saved.range.as_ref().is_some_and(|r| r.len() > LONGEST_NAME)
    {
        return Err(ApiError::TooLarge(format!(
            "The text of a saved query has at most {LONGEST_TEXT} bytes, its range {LONGEST_NAME}"
        )));
    }
    let catalogue = app.store.catalogue();
    let of = asker.app()?.id;
    let version = match version(&asker.head.headers)? {
        Some(known) => known.saturating_add(1),
        None if catalogue.saved_queries(of).await?.len() >= MOST => {
            return Err(ApiError::bad(format!(
                "An application has at most {MOST} saved queries"
            )));
        }
        None => 1,
    };
    let query = SavedQuery {
        app: of,
        name,
        text: saved.text,
        range: saved.range,
        version,
        author: asker.principal().name().to_owned(),
        changed: app.now(),
    };
    if !catalogue.save_query(&query).await? {
        return Err(changed());
    }
    Ok(unstored(&wire::saved_query(&query)))
}

/// `DELETE /portal/api/apps/{appId}/queries/{queryName}` with `If-Match`.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    asker: Asker,
    Path((_, name)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let version = version(&asker.head.headers)?.ok_or_else(needs_version)?;
    let of = asker.app()?.id;
    let catalogue = app.store.catalogue();
    if !catalogue.delete_saved_query(of, &name, version).await? {
        return Err(changed());
    }
    Ok(done())
}

/// The version that `If-Match` names; `None` with `If-None-Match: *`, for a query that is not there yet.
fn version(headers: &HeaderMap) -> Result<Option<u32>, ApiError> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    match (text(header::IF_MATCH), text(header::IF_NONE_MATCH)) {
        (None, Some("*")) => Ok(None),
        (Some(tag), None) => {
            let version = tag.trim().trim_matches('"').parse().ok();
            version.map(Some).ok_or_else(changed)
        }
        _ => Err(needs_version()),
    }
}

fn needs_version() -> ApiError {
    ApiError::bad(
        "Name the version that is changed in If-Match, or send If-None-Match: * for a new query",
    )
}

fn changed() -> ApiError {
    ApiError::PreconditionFailed("The saved query was changed or deleted meanwhile".to_owned())
}
