//! Who asks, and what they may.

pub(crate) mod api_key;
pub(crate) mod credential;
pub(crate) mod principal;

pub(crate) use principal::{Principal, Scope};
