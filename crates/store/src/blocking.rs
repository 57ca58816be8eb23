//! Blocking work beside asynchronous tasks.

use crate::error::{Result, StoreError};

/// Runs `work` on a thread for blocking work.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    on_thread(work).await?
}

/// Runs work with errors of its own on a thread for blocking work.
///
/// # Errors
/// [`StoreError::Task`] if it panics.
pub(crate) async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    #[cfg(test)]
    if one_thread::is_on() {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| StoreError::Task(error.to_string()))
}

/// Tests that repeat a run exactly do blocking work on the thread that asks for it.
#[cfg(test)]
pub(crate) mod one_thread {
    use std::cell::Cell;

    thread_local! {
        static ON: Cell<bool> = const { Cell::new(false) };
    }

    /// From now on, on this thread.
    pub(crate) fn turn_on() {
        ON.set(true);
    }

    pub(super) fn is_on() -> bool {
        ON.get()
    }
}
