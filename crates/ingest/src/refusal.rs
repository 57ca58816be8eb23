//! Why items are not taken.

/// Why the items of an instrumentation key are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyRefusal {
    /// No application has the key. The message is the recorded one.
    #[error("Invalid instrumentation key")]
    Unknown,
    /// The sender's credential has no right on the key's application.
    #[error("The credential has no right to send telemetry with this instrumentation key")]
    Forbidden,
    /// The application's daily cap is reached.
    #[error("The daily cap of {cap} bytes of the application is spent")]
    CapSpent {
        /// Bytes that the application may send in a day.
        cap: u64,
    },
}

impl KeyRefusal {
    /// The status of a request with such an item alone.
    pub fn status(&self) -> u16 {
        match self {
            KeyRefusal::Unknown => 400,
            KeyRefusal::Forbidden => 403,
            KeyRefusal::CapSpent { .. } => 402,
        }
    }
}

/// Why an item was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemError {
    /// Its place in the request, from 0.
    pub index: usize,
    /// What would have been the status of a request with this item alone.
    pub status: u16,
    /// A sentence.
    pub message: String,
}

impl ItemError {
    /// Whether the sender may send the item again later.
    pub fn is_repeatable(&self) -> bool {
        matches!(self.status, 429 | 503)
    }
}
