//! Parsers of structured text (`docs/semantics.md §11`).

mod command_line;
mod csv;
mod extract_json;
mod path;
mod url;
mod user_agent;
mod version;
mod xml;

use super::prelude::*;

pub(crate) static LIST: &[&ScalarFunction] = &[
    &command_line::DEF,
    &csv::DEF,
    &extract_json::DEF,
    &path::DEF,
    &url::PARSE_URL,
    &url::PARSE_URLQUERY,
    &user_agent::DEF,
    &version::DEF,
    &xml::DEF,
];

/// The inner kernels of these functions.
pub(super) static KERNELS: &[&InnerKernel] = &[
    &command_line::KERNEL,
    &extract_json::KERNEL,
    &user_agent::KERNEL,
];
