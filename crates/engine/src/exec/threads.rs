//! The threads that queries run on. They are not those that answer requests: a kernel over a large value keeps its thread,
//! and time-outs, health checks and ingestion must not wait for it.

use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};

use hindsight_kql::work::{Stopper, Work};
use tokio::runtime::{Builder, Runtime};
use tokio_util::task::AbortOnDropHandle;

use crate::error::EngineError;
use crate::stream::Deadline;

/// Bytes of a thread's stack: plans of thousands of steps nest as deeply. Only what is used takes memory.
const STACK: usize = 128 << 20;

/// Threads for reading files; each has such a stack.
const BLOCKING: usize = 64;

/// A runtime of its own for the work of queries.
#[derive(Debug)]
pub(crate) struct QueryThreads {
    /// None only while it is dropped.
    runtime: Option<Runtime>,
}

impl QueryThreads {
    /// So many threads.
    pub(crate) fn new(threads: usize) -> Result<QueryThreads, EngineError> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            // A task that gave way is woken after each poll, not after 61 of others: it belongs in its line (`kql::turns`).
            .event_interval(1)
            .thread_stack_size(STACK)
            .max_blocking_threads(BLOCKING)
            .thread_name_fn(|| format!("query-{}", NEXT.fetch_add(1, Ordering::Relaxed)))
            .enable_all()
            .build()
            .map_err(|e| EngineError::Internal(format!("no threads for queries: {e}")))?;
        Ok(QueryThreads {
            runtime: Some(runtime),
        })
    }

    /// Runs `future` as `work`. Dropping the task stops the work: at the next point where it gives way, and in long loops
    /// at the next time that they ask. The deadline stops it too, also while a reader that takes nothing holds it up.
    pub(crate) fn spawn(
        &self,
        work: Work,
        deadline: Deadline,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> Result<QueryTask, EngineError> {
        let runtime = self
            .runtime
            .as_ref()
            .ok_or_else(|| EngineError::Internal("no threads for queries".to_owned()))?;
        let (stop, late) = (StopOnDrop(work.stopper()), StopOnDrop(work.stopper()));
        let timed = async move {
            let whole = async {
                future.await;
                Ok(())
            };
            let ended = deadline.bound(whole).await;
            drop(late);
            ended
        };
        Ok(QueryTask {
            handle: AbortOnDropHandle::new(runtime.spawn(work.run(timed))),
            _stop: stop,
        })
    }
}

/// The work of one query; dropping it stops the work.
#[derive(Debug)]
pub(crate) struct QueryTask {
    handle: AbortOnDropHandle<Result<(), EngineError>>,
    _stop: StopOnDrop,
}

impl QueryTask {
    /// Waits for the end: whether it came in time. A panic of the work goes on here.
    pub(crate) async fn end(self) -> Result<(), EngineError> {
        match self.handle.await {
            Ok(ended) => ended,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(error) => Err(EngineError::Internal(error.to_string())),
        }
    }
}

impl Drop for QueryThreads {
    fn drop(&mut self) {
        // The last owner may be a task, which must not wait for threads to end.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Nobody waits for the result any more.
#[derive(Debug)]
struct StopOnDrop(Stopper);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}
