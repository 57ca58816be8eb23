//! Progress bars: they draw on a terminal alone.

use std::sync::Arc;

use hindsight_store::Progress;
use indicatif::{ProgressBar, ProgressStyle};

/// A bar over bytes.
pub(super) struct Bar(ProgressBar);

impl Bar {
    /// A bar with a message in front of it.
    pub(super) fn new(message: &'static str) -> Arc<Bar> {
        let bar = ProgressBar::no_length().with_message(message);
        let form = "{msg} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
        if let Ok(style) = ProgressStyle::with_template(form) {
            bar.set_style(style);
        }
        Arc::new(Bar(bar))
    }

    /// Removes the bar from the terminal.
    pub(super) fn clear(&self) {
        self.0.finish_and_clear();
    }
}

impl Progress for Bar {
    fn begin(&self, bytes: u64) {
        self.0.set_length(bytes);
        self.0.set_position(0);
    }

    fn advance(&self, bytes: u64) {
        self.0.inc(bytes);
    }
}
