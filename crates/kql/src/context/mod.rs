//! Where binding stands: the names that are visible, and what kind of expression stands there.

mod classify;
mod names;

pub(crate) use classify::{function_is_tabular, names_a_scope};
pub(crate) use names::{ACCESS, Entry, Env, alias_name};
