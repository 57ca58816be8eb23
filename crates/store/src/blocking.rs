//! Blocking work beside asynchronous tasks, and long work beside everything else.

use std::thread;

use tokio::runtime::Builder;
use tokio::sync::oneshot;

use crate::error::{Result, StoreError};

/// How much lower the priority of background threads is, as `nice` counts: they take a tenth of a processor that others want too.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

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

/// Runs work as a task of its own, which dropping the future does not cancel: a transaction is committed and then made visible, or neither.
///
/// # Errors
/// [`StoreError::Task`] if the work panics.
pub(crate) async fn uncancelled<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    #[cfg(test)]
    if one_thread::is_on() {
        return work.await;
    }
    tokio::spawn(work)
        .await
        .map_err(|error| StoreError::Task(error.to_string()))?
}

/// Runs long work that may wait, with its blocking work, on threads of its own. On Linux these have a low priority, so that requests do not
/// wait for it where all processors are busy. The work is dropped at its next `await` if the caller does not wait for it any more.
///
/// # Errors
/// [`StoreError::Task`] if the work panics or its threads cannot be started.
pub(crate) async fn in_background<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    #[cfg(test)]
    if one_thread::is_on() {
        return work.await;
    }
    let (mut sender, receiver) = oneshot::channel();
    let failed = |error: std::io::Error| StoreError::Task(error.to_string());
    let run = move || {
        lower_priority();
        // Its threads inherit the priority.
        let runtime = match Builder::new_multi_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return drop(sender.send(Err(failed(error)))),
        };
        runtime.block_on(async {
            let done = tokio::select! {
                done = work => done,
                () = sender.closed() => return,
            };
            // An error says that the caller does not wait any more.
            let _ = sender.send(done);
        });
    };
    let name = "background".to_owned();
    thread::Builder::new()
        .name(name)
        .spawn(run)
        .map_err(failed)?;
    receiver
        .await
        .map_err(|_| StoreError::Task("work in the background panicked".to_owned()))?
}

/// Lowers the priority of this thread; on other systems it would be that of the process.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(NICENESS) {
        tracing::debug!(%error, "the priority of background work could not be lowered");
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    fn priority() -> i32 {
        rustix::process::getpriority_process(None).expect("a priority")
    }

    #[cfg(target_os = "linux")]
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn background_work_has_a_low_priority_and_its_caller_keeps_its_own() {
        let before = priority();
        let found = in_background(async {
            let task = tokio::spawn(async { priority() });
            let of_task = task.await.expect("a task");
            Ok([priority(), of_task, blocking(|| Ok(priority())).await?])
        });
        let lower = (before + NICENESS).min(19);
        assert_eq!(found.await.expect("it ends"), [lower; 3]);
        assert_eq!(priority(), before);
        assert_eq!(blocking(|| Ok(priority())).await.expect("it ends"), before);
    }

    #[tokio::test]
    async fn background_work_reports_errors_and_panics_and_ends_with_its_caller() {
        let failed = in_background(async { Err::<(), _>(StoreError::Closed) });
        assert!(matches!(failed.await, Err(StoreError::Closed)));
        let panicked = in_background::<()>(async { panic!("on purpose") });
        assert!(matches!(panicked.await, Err(StoreError::Task(_))));

        let (held, dropped) = oneshot::channel::<()>();
        let waits = in_background(async move {
            let _held = held;
            std::future::pending::<Result<()>>().await
        });
        let given_up = tokio::time::timeout(std::time::Duration::from_millis(20), waits);
        assert!(given_up.await.is_err());
        assert!(dropped.await.is_err(), "the work was dropped");
    }
}
