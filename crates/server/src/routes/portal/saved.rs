//! Saved queries and workbooks of an application, which everybody who may read it shares. A change names the version that it is based on.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use hindsight_store::{Saved, SavedKind};
use serde::Deserialize;

use super::access::{Asker, done, unstored};
use crate::app::App;
use crate::error::ApiError;
use crate::routes::asked::Asked;
use crate::wire::portal as wire;

/// The longest name, in bytes.
const LONGEST_NAME: usize = 200;

/// What messages call a kind, and its limits.
struct About {
    word: &'static str,
    several: &'static str,
    /// The longest text, in bytes.
    longest_text: usize,
    /// How many an application has at most.
    most: usize,
}

const fn about(kind: SavedKind) -> About {
    match kind {
        SavedKind::Query => About {
            word: "saved query",
            several: "saved queries",
            longest_text: 256 << 10,
            most: 1_000,
        },
        SavedKind::Workbook => About {
            word: "workbook",
            several: "workbooks",
            longest_text: 1 << 20,
            most: 200,
        },
    }
}

/// What is saved.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Text {
    text: String,
    /// The time range that it is shown with, as addresses of the portal have it.
    range: Option<String>,
}

/// `GET /portal/api/apps/{appId}/queries`
pub(super) async fn queries(
    State(app): State<Arc<App>>,
    asker: Asker,
) -> Result<Response, ApiError> {
    let catalogue = app.store.catalogue();
    let list = catalogue.saved(SavedKind::Query, asker.app()?.id).await?;
    Ok(unstored(&wire::saved_queries(&list)))
}

/// `GET /portal/api/apps/{appId}/workbooks`
pub(super) async fn workbooks(
    State(app): State<Arc<App>>,
    asker: Asker,
) -> Result<Response, ApiError> {
    let catalogue = app.store.catalogue();
    let of = asker.app()?.id;
    let list = catalogue.saved(SavedKind::Workbook, of).await?;
    Ok(unstored(&wire::saved_workbooks(&list)))
}

/// `GET /portal/api/apps/{appId}/workbooks/{workbookName}`
pub(super) async fn workbook(
    State(app): State<Arc<App>>,
    asker: Asker,
    Path((_, name)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let catalogue = app.store.catalogue();
    let of = asker.app()?.id;
    let found = catalogue.saved_one(SavedKind::Workbook, of, &name).await?;
    let found = found
        .ok_or_else(|| ApiError::NotFound(format!("No workbook is saved under the name '{name}'")));
    Ok(unstored(&wire::saved(&found?)))
}

/// `PUT /portal/api/apps/{appId}/queries/{queryName}`
pub(super) async fn put_query(
    State(app): State<Arc<App>>,
    asker: Asker,
    Path((_, name)): Path<(String, String)>,
    Asked(text): Asked<Text>,
) -> Result<Response, ApiError> {
    put(&app, &asker, SavedKind::Query, name, text).await
}

/// `PUT /portal/api/apps/{appId}/workbooks/{workbookName}`
pub(super) async fn put_workbook(
    State(app): State<Arc<App>>,
    asker: Asker,
    Path((_, name)): Path<(String, String)>,
    Asked(text): Asked<Text>,
) -> Result<Response, ApiError> {
    put(&app, &asker, SavedKind::Workbook, name, text).await
}

/// `DELETE /portal/api/apps/{appId}/queries/{queryName}` with `If-Match`.
pub(super) async fn delete_query(
    State(app): State<Arc<App>>,
    asker: Asker,
    Path((_, name)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    delete(&app, &asker, SavedKind::Query, &name).await
}

/// `DELETE /portal/api/apps/{appId}/workbooks/{workbookName}` with `If-Match`.
pub(super) async fn delete_workbook(
    State(app): State<Arc<App>>,
    asker: Asker,
    Path((_, name)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    delete(&app, &asker, SavedKind::Workbook, &name).await
}

/// Saves a new text with `If-None-Match: *`, or the next version of the one that `If-Match` names.
async fn put(
    app: &App,
    asker: &Asker,
    kind: SavedKind,
    name: String,
    Text { text, range }: Text,
) -> Result<Response, ApiError> {
    let About {
        word,
        several,
        longest_text,
        most,
    } = about(kind);
    if name.trim() != name
        || name.is_empty()
        || name.len() > LONGEST_NAME
        || name.contains(char::is_control)
    {
        return Err(ApiError::bad(format!(
            "The name of a {word} has 1 to {LONGEST_NAME} bytes, no control characters, and no white space around it"
        )));
    }
    if text.len() > longest_text || range.as_ref().is_some_and(|r| r.len() > LONGEST_NAME) {
        return Err(ApiError::TooLarge(format!(
            "The text of a {word} has at most {longest_text} bytes, its range {LONGEST_NAME}"
        )));
    }
    let catalogue = app.store.catalogue();
    let of = asker.app()?.id;
    let version = match version(kind, &asker.head.headers)? {
        Some(known) => known.saturating_add(1),
        None if catalogue.saved(kind, of).await?.len() >= most => {
            return Err(ApiError::bad(format!(
                "An application has at most {most} {several}"
            )));
        }
        None => 1,
    };
    let saved = Saved {
        app: of,
        name,
        text,
        range,
        version,
        author: asker.principal().name().to_owned(),
        changed: app.now(),
    };
    if !catalogue.save(kind, &saved).await? {
        return Err(changed(kind));
    }
    Ok(unstored(&wire::saved(&saved)))
}

async fn delete(
    app: &App,
    asker: &Asker,
    kind: SavedKind,
    name: &str,
) -> Result<Response, ApiError> {
    let version = version(kind, &asker.head.headers)?.ok_or_else(|| needs_version(kind))?;
    let of = asker.app()?.id;
    let catalogue = app.store.catalogue();
    if !catalogue.delete_saved(kind, of, name, version).await? {
        return Err(changed(kind));
    }
    Ok(done())
}

/// The version that `If-Match` names; `None` with `If-None-Match: *`, for what is not there yet.
fn version(kind: SavedKind, headers: &HeaderMap) -> Result<Option<u32>, ApiError> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    match (text(header::IF_MATCH), text(header::IF_NONE_MATCH)) {
        (None, Some("*")) => Ok(None),
        (Some(tag), None) => {
            let version = tag.trim().trim_matches('"').parse().ok();
            version.map(Some).ok_or_else(|| changed(kind))
        }
        _ => Err(needs_version(kind)),
    }
}

fn needs_version(kind: SavedKind) -> ApiError {
    ApiError::bad(format!(
        "Name the version that is changed in If-Match, or send If-None-Match: * for a new {}",
        about(kind).word
    ))
}

fn changed(kind: SavedKind) -> ApiError {
    ApiError::PreconditionFailed(format!(
        "The {} was changed or deleted meanwhile",
        about(kind).word
    ))
}
