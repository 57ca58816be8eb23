//! The limits of one item.

use hindsight_rows::Window;

/// What an item may be, from the settings.
#[derive(Debug, Clone)]
pub struct ItemRules {
    /// The times that items may have (`D25`).
    pub window: Window,
    /// Whether the clock is trusted. If it is not, an item outside of the window is refused for now and not for good (`D33`).
    pub clock_is_trusted: bool,
    /// Bytes of one item's JSON.
    pub max_item_bytes: usize,
}
