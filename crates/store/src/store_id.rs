//! The identity of a store: its catalogue, its file `format` and its segments name the same one.

use std::fmt;
use std::str::FromStr;

use uuid::Uuid;

/// The identity of a store, drawn when its folder is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoreId(Uuid);

impl StoreId {
    /// A new identity.
    pub(crate) fn new() -> StoreId {
        StoreId(Uuid::new_v4())
    }
}

impl fmt::Display for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.hyphenated().fmt(f)
    }
}

impl FromStr for StoreId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<StoreId, uuid::Error> {
        text.parse().map(StoreId)
    }
}
