//! What SDKs ask for beside sending telemetry: whether live metrics are watched, and the id of their application.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hindsight_identity::Right;
use hindsight_ingest::body::{BodyError, decode};

use super::body::{self, Unread};
use crate::app::App;
use crate::auth::gate::Admitted;
use crate::directory::AppRecord;
use crate::error::ApiError;
use crate::live::Sample;
use crate::origin::Head;
use crate::params::Params;
use crate::wire::{live, track};

/// Tells an SDK whether somebody watches: it then sends a sample each second.
const SUBSCRIBED: HeaderName = HeaderName::from_static("x-ms-qps-subscribed");
/// Bytes of a post of live metrics.
const LARGEST_POST: usize = 256 << 10;

/// `POST /QuickPulseService.svc/ping`: whether somebody watches the application. The body tells nothing that a sample does not
/// tell too, and is not read.
pub(crate) async fn ping(
    State(app): State<Arc<App>>,
    admitted: Option<Extension<Admitted>>,
    head: Head,
    body: Body,
) -> Response {
    body::discard(body);
    answer(&app, find(&app, admitted, &head).await)
}

/// `POST /QuickPulseService.svc/post`: samples of the last second. Those of an application that nobody watches are dropped
/// unread.
pub(crate) async fn post(
    State(app): State<Arc<App>>,
    admitted: Option<Extension<Admitted>>,
    head: Head,
    body: Body,
) -> Response {
    let found = find(&app, admitted, &head).await;
    if let Ok(Some(record)) = &found
        && app.live.is_watched(record.id)
    {
        match read(&app, &head, body).await {
            Ok(samples) => app.live.keep(record.id, samples),
            Err(error) => return track::refused(error),
        }
    } else {
        body::discard(body);
    }
    answer(&app, found)
}

/// The application of the parameter `ikey`; `None` for an unknown key, which is answered as one that nobody watches.
///
/// # Errors
/// [`ApiError::Forbidden`] for a credential without the right to send telemetry to it.
async fn find(
    app: &App,
    admitted: Option<Extension<Admitted>>,
    head: &Head,
) -> Result<Option<Arc<AppRecord>>, ApiError> {
    let key = Params::parse(head.uri.query()).one("ikey")?;
    let found = of_key(app, &key.unwrap_or_default()).await?;
    if let Some(Extension(Admitted { principal, .. })) = admitted {
        let may = match &found {
            Some(record) => principal.may(record.id, Right::Ingest),
            None => principal.may_everywhere(Right::Ingest),
        };
        if !may {
            return Err(principal.forbidden());
        }
    }
    Ok(found)
}

/// The application of an instrumentation key, which may be newer than the last snapshot.
async fn of_key(app: &App, ikey: &str) -> Result<Option<Arc<AppRecord>>, ApiError> {
    if let Some(found) = app.directory.snapshot().await?.by_ikey(ikey) {
        return Ok(Some(found.clone()));
    }
    Ok(app.directory.current().await?.by_ikey(ikey).cloned())
}

async fn read(app: &App, head: &Head, body: Body) -> Result<Vec<Sample>, ApiError> {
    let too_large = || ApiError::TooLarge(format!("The body is larger than {LARGEST_POST} bytes"));
    let codec = body::codec(&head.headers)
        .map_err(|error| ApiError::UnsupportedMedia(error.to_string()))?;
    let address = head.connection.address();
    let whole = body::read(app, address, &head.headers, body, LARGEST_POST)
        .await
        .map_err(|unread| match unread {
            Unread::TooLarge => too_large(),
            Unread::Slow => ApiError::Slow(body::slow(app.settings.body_timeout)),
            Unread::Broken => {
                ApiError::InvalidBody("The body could not be read to its end".to_owned())
            }
            Unread::Closed => ApiError::Unavailable(body::CLOSED.to_owned()),
            Unread::TooMuchMemory => ApiError::TooLarge(body::TOO_MUCH_MEMORY.to_owned()),
        })?;
    let plain = decode(codec, &whole.bytes, LARGEST_POST).map_err(|error| match error {
        BodyError::TooLarge { .. } => too_large(),
        error => ApiError::InvalidBody(error.to_string()),
    })?;
    live::samples(&plain, app.now()).map_err(ApiError::InvalidBody)
}

/// 200 without a body. SDKs that get anything else report an error each few seconds.
fn answer(app: &App, found: Result<Option<Arc<AppRecord>>, ApiError>) -> Response {
    let found = match found {
        Ok(found) => found,
        Err(error) => return track::refused(error),
    };
    let watched = found.is_some_and(|record| app.live.is_watched(record.id));
    let value = HeaderValue::from_static(if watched { "true" } else { "false" });
    (StatusCode::OK, [(SUBSCRIBED, value)]).into_response()
}

/// `GET /api/profiles/{ikey}/appId`: the application's id as plain text, for the correlation of requests.
pub(crate) async fn app_id(
    State(app): State<Arc<App>>,
    Path(ikey): Path<String>,
) -> Result<Response, ApiError> {
    let found = of_key(&app, &ikey).await?;
    let record = found.ok_or(ApiError::PathNotFound)?;
    let media = HeaderValue::from_static("text/plain; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, media)], record.id_text.clone()).into_response())
}
