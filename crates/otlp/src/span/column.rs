//! Columns that requests and dependencies share.

use std::borrow::Cow;

use hindsight_rows::limits::{self, cut};

/// `success`
pub(super) fn truth(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

/// A name, a code, a type or a target.
pub(super) fn named(text: Cow<'_, str>) -> Cow<'_, str> {
    cut(text, limits::NAME)
}
