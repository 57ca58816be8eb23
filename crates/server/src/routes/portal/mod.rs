//! The portal: its pages and files, signing in by a link, and what its pages ask beside the query API.

mod access;
mod apps;
mod check;
mod keys;
mod language;
mod me;
mod pages;
mod saved;
mod session;
mod table;
mod tail;

pub(crate) use pages::is_portal;
pub(super) use pages::{to_portal, wants_page};
pub(super) use table::ROUTES;
