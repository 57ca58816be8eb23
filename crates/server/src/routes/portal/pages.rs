//! The portal's pages and files, which everybody may load: they hold nothing of anybody.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hindsight_portal::{File, Folder};

use crate::app::App;
use crate::error::ApiError;

/// What pages and files may load and do: everything from this server, nothing inline, in no frame, and no text becomes a script or markup
/// (Trusted Types; `hindsight` is the policy of `ui/lib/trusted.js`).
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; \
                      worker-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types hindsight";
const POLICY_HEADER: HeaderName = HeaderName::from_static("content-security-policy");
const OPENER_HEADER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
/// Where browsers find the portal.
pub(crate) const ROOT: &str = "/portal/";
/// The screen of an address that names none.
const FIRST_SCREEN: &str = "overview";
/// The file with the licences of everything that is embedded.
const LICENCES: &str = "vendor/LICENSES.txt";

/// Whether a path is one of the portal's.
pub(crate) fn is_portal(path: &str) -> bool {
    path == "/portal" || path == "/docs" || path.starts_with(ROOT)
}

/// Whether a client is a browser that shows a page: it prefers HTML by name. Others name JSON, or anything.
pub(crate) fn wants_page(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT);
    accepted
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| {
            value
                .split(',')
                .any(|part| part.trim().starts_with("text/html"))
        })
}

/// Sends a browser to the portal.
pub(crate) fn to_portal() -> Response {
    let headers = [
        (header::LOCATION, HeaderValue::from_static(ROOT)),
        (header::VARY, HeaderValue::from_static("accept")),
    ];
    (StatusCode::SEE_OTHER, headers).into_response()
}

/// `GET /portal`
pub(super) async fn root() -> Response {
    to_portal()
}

/// `GET /portal/`
pub(super) async fn index(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    page(&app, "index.html", FIRST_SCREEN, &headers)
}

/// `GET /docs`: the reference of the API, which the page makes of `/openapi.json`.
pub(super) async fn docs(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    page(&app, "docs.html", "", &headers)
}

/// `GET /portal/…`: a file, the licences, or the page, whose script reads the address.
pub(super) async fn any(
    State(app): State<Arc<App>>,
    Path(path): Path<String>,
    headers: HeaderMap,
) -> Response {
    if let Some(file) = path.strip_prefix("-/") {
        return file_of(&app, file, &headers);
    }
    match path.as_str() {
        "licences" => found(&app, LICENCES, &headers, "no-cache"),
        path if path == "api" || path.starts_with("api/") => ApiError::PathNotFound.into_response(),
        path => page(&app, "index.html", screen_of(path), &headers),
    }
}

/// The screen that an address shows: `demo/logs` shows `logs`, and `applications` itself.
fn screen_of(path: &str) -> &str {
    match path.split_once('/') {
        Some((_, "")) => FIRST_SCREEN,
        Some((_, screen)) => screen,
        None if path == "applications" => path,
        None => FIRST_SCREEN,
    }
}

/// `screen` names the screen that the page shows first.
fn page(app: &App, name: &str, screen: &str, headers: &HeaderMap) -> Response {
    let folder = folder(app);
    let text = match &folder {
        Some(folder) => folder.page(name, screen),
        None => hindsight_portal::page(name, screen),
    };
    let Some(text) = text else {
        return ApiError::PathNotFound.into_response();
    };
    let tag = format!("\"{}\"", hindsight_portal::hash());
    let kept = headers.get(header::IF_NONE_MATCH);
    let unchanged = folder.is_none() && kept.is_some_and(|kept| kept.as_bytes() == tag.as_bytes());
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    let mut response = if unchanged {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, html)], text).into_response()
    };
    let headers = response.headers_mut();
    if folder.is_none()
        && let Ok(tag) = HeaderValue::from_str(&tag)
    {
        headers.insert(header::ETAG, tag);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    protected(response)
}

/// A file below `/portal/-/`: the first part of the path is the hash of all files.
fn file_of(app: &App, path: &str, headers: &HeaderMap) -> Response {
    let base = if app.settings.portal_folder.is_some() {
        Folder::base().to_owned()
    } else {
        hindsight_portal::base()
    };
    let address = format!("{ROOT}-/{path}");
    let rest = address.strip_prefix(&base);
    match rest.and_then(|rest| rest.strip_prefix('/')) {
        Some(path) => found(app, path, headers, "public, max-age=31536000, immutable"),
        None => ApiError::PathNotFound.into_response(),
    }
}

fn found(app: &App, path: &str, headers: &HeaderMap, cache: &'static str) -> Response {
    let (file, cache) = match folder(app) {
        Some(folder) => (folder.file(path), "no-store"),
        None => (hindsight_portal::file(path, accepts_gzip(headers)), cache),
    };
    let Some(File {
        media,
        bytes,
        compressed,
    }) = file
    else {
        return ApiError::PathNotFound.into_response();
    };
    let mut response = bytes.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if compressed {
        let gzip = HeaderValue::from_static("gzip");
        headers.insert(header::CONTENT_ENCODING, gzip);
    }
    protected(response)
}

fn folder(app: &App) -> Option<Folder> {
    app.settings.portal_folder.as_deref().map(Folder::new)
}

fn accepts_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING).iter();
    accepted
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|coding| {
            let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
            name.trim().eq_ignore_ascii_case("gzip") && quality.replace(' ', "") != "q=0"
        })
}

fn protected(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(POLICY_HEADER, HeaderValue::from_static(POLICY));
    headers.insert(OPENER_HEADER, HeaderValue::from_static("same-origin"));
    response
}
