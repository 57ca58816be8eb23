//! `GET /portal/api/me`: who asks, and what they may do everywhere.

use axum::response::Response;

use super::access::{Asker, unstored};
use crate::wire::portal as wire;

pub(super) async fn me(asker: Asker) -> Response {
    let principal = asker.principal();
    unstored(&wire::me(principal.name(), principal.everywhere()))
}
