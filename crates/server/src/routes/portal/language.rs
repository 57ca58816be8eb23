//! `GET /portal/api/language`: what of the language is supported and what is refused, as `hindsight docs` says it.

use std::sync::LazyLock;

use axum::response::Response;
use serde_json::Value;

use super::access::unstored;
use crate::wire::portal as wire;

static LANGUAGE: LazyLock<Value> = LazyLock::new(wire::language);

pub(super) async fn language() -> Response {
    unstored(&LANGUAGE)
}
