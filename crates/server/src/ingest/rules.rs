//! The limits of one item.

/// What an item may be, from the settings.
#[derive(Debug, Clone)]
pub(crate) struct ItemRules {
    /// Now, in ticks.
    pub(crate) now: i64,
    /// Whether `now` is trusted. If it is not, an item outside of the window is refused for now and not for good (`D33`).
    pub(crate) clock_is_trusted: bool,
    /// How old an item may be, ticks (`D25`).
    pub(crate) max_age: i64,
    /// How far ahead of now it may be, ticks (`D25`).
    pub(crate) max_ahead: i64,
    /// Bytes of one item's JSON.
    pub(crate) max_item_bytes: usize,
}
