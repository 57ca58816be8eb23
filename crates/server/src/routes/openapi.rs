//! The program's own description.

use std::sync::LazyLock;

use axum::Extension;
use axum::body::Bytes;
use axum::http::header;
use axum::response::{IntoResponse, Response};

/// The OpenAPI document, made when it is first asked for. The router, which knows all routes, provides it.
#[derive(Clone, Copy)]
pub(crate) struct Document(pub(crate) &'static LazyLock<Bytes>);

/// `GET /openapi.json`
pub(crate) async fn serve(Extension(Document(document)): Extension<Document>) -> Response {
    let json = "application/json; charset=utf-8";
    ([(header::CONTENT_TYPE, json)], Bytes::clone(document)).into_response()
}
