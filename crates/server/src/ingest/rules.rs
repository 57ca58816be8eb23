//! The limits of one item.

/// What an item may be, from the settings.
#[derive(Debug, Clone)]
pub(crate) struct ItemRules {
    /// Now, in ticks.
    pub(crate) now: i64,
    /// How old an item may be, ticks (`D25`).
    pub(crate) max_age: i64,
    /// How far ahead of now it may be, ticks (`D25`).
    pub(crate) max_ahead: i64,
    /// Bytes of one item's JSON.
    pub(crate) max_item_bytes: usize,
}
