//! `GET /portal/api/me`: the principal, and its rights on every application.

use axum::response::Response;

use super::access::{Asker, unstored};
use crate::wire::portal as wire;

pub(super) async fn me(asker: Asker) -> Response {
    let principal = asker.principal();
    unstored(&wire::me(principal.name(), principal.everywhere()))
}
