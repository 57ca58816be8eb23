//! String functions (`docs/semantics.md §11`).

mod case;
mod codepoints;
mod countof;
mod extract;
mod extract_all;
mod format_bytes;
mod has_any_index;
mod indexof;
mod indexof_regex;
mod join;
mod length;
mod regex;
mod replace;
mod replace_strings;
mod reverse;
mod split;
mod strcmp;
mod substring;
mod translate;
mod trim;
mod validity;

use super::prelude::*;

pub(crate) static LIST: &[&ScalarFunction] = &[
    &case::TOLOWER,
    &case::TOUPPER,
    &codepoints::FROM_STRING,
    &codepoints::TO_STRING,
    &countof::DEF,
    &extract::DEF,
    &extract_all::DEF,
    &format_bytes::DEF,
    &has_any_index::DEF,
    &indexof::DEF,
    &indexof_regex::DEF,
    &join::STRCAT,
    &join::STRCAT_DELIM,
    &join::STRREP,
    &length::STRING_SIZE,
    &length::STRLEN,
    &regex::REGEX_QUOTE,
    &replace::REPLACE,
    &replace::REPLACE_REGEX,
    &replace::REPLACE_STRING,
    &replace_strings::DEF,
    &reverse::DEF,
    &split::DEF,
    &strcmp::DEF,
    &substring::DEF,
    &translate::DEF,
    &trim::TRIM,
    &trim::TRIM_END,
    &trim::TRIM_START,
    &validity::ISASCII,
    &validity::ISUTF8,
];

/// The inner kernels of these functions.
pub(super) static KERNELS: &[&InnerKernel] = &[
    &codepoints::KERNEL,
    &countof::COUNTOF_REGEX_KERNEL,
    &countof::COUNTOF_KERNEL,
    &extract::KERNEL,
    &extract_all::KERNEL,
    &indexof_regex::KERNEL,
    &replace::REPLACE_REGEX_KERNEL,
    &replace::REPLACE_KERNEL,
    &trim::TRIM_KERNEL,
    &trim::TRIM_START_KERNEL,
    &trim::TRIM_END_KERNEL,
];
