//! The threads that queries run on. They are not those that answer requests: a kernel over a large value keeps its thread,
//! and time-outs, health checks and ingestion must not wait for it.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hindsight_kql::work::{CancellationHandle, Cancelled, Work};
use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};
use tokio_util::task::AbortOnDropHandle;

use crate::deadline::Deadline;
use crate::error::EngineError;

/// Bytes of a thread's stack: plans of thousands of steps nest as deeply. Only what is used takes memory.
const STACK: usize = 128 << 20;

/// Threads for reading files; each has such a stack.
const BLOCKING: usize = 64;

/// Principals whose threads are kept while they ask nothing.
const KEPT: usize = 8;

/// Principals that have threads of their own; those that come while so many run queries share with them.
const MOST: usize = 64;

/// Threads for the work of queries. Each principal that runs queries has its own, and the operating system shares the
/// processors between them: who runs many slow queries gets no more than who runs one, also inside one long computation.
#[derive(Debug)]
pub(crate) struct QueryThreads {
    threads: usize,
    /// Those of the principals that asked last, the latest first; dropped threads end with their last query.
    kept: Mutex<VecDeque<(Arc<str>, Arc<Threads>)>>,
}

/// The threads of one principal.
#[derive(Debug)]
struct Threads {
    /// None only while it is dropped.
    runtime: Option<Runtime>,
}

impl QueryThreads {
    /// So many threads for each principal.
    pub(crate) fn new(threads: usize) -> QueryThreads {
        QueryThreads {
            threads,
            kept: Mutex::default(),
        }
    }

    /// The threads of a principal, made where there are none.
    fn of(&self, principal: &Arc<str>) -> Result<Arc<Threads>, EngineError> {
        let mut kept = self.kept.lock();
        let place = kept.iter().position(|(known, _)| known == principal);
        let threads = match place.and_then(|place| kept.remove(place)) {
            Some((_, threads)) => threads,
            None if kept.len() >= MOST
                && let Some(shared) = least_used(&kept) =>
            {
                return Ok(shared);
            }
            None => Arc::new(Threads::new(self.threads)?),
        };
        kept.push_front((Arc::clone(principal), Arc::clone(&threads)));
        // Threads that still work stay, so that no principal has two sets of them.
        while kept.len() > KEPT
            && let Some(idle) = kept.iter().rposition(|(_, t)| Arc::strong_count(t) == 1)
        {
            kept.remove(idle);
        }
        Ok(threads)
    }

    /// Runs `future` as `work`. Dropping the task stops the work: at the next point where it gives way, and in long loops
    /// at the next time that they ask. The deadline stops it too, also while a reader that takes nothing holds it up.
    pub(crate) fn spawn(
        &self,
        principal: &Arc<str>,
        work: Work,
        deadline: Deadline,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> Result<QueryTask, EngineError> {
        let threads = self.of(principal)?;
        let runtime = threads
            .runtime
            .as_ref()
            .ok_or_else(|| EngineError::Internal("no threads for queries".to_owned()))?;
        let (stop, late) = (
            CancelOnDrop(work.cancellation_handle()),
            CancelOnDrop(work.cancellation_handle()),
        );
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
            _threads: threads,
        })
    }
}

/// The threads that the fewest queries use.
fn least_used(kept: &VecDeque<(Arc<str>, Arc<Threads>)>) -> Option<Arc<Threads>> {
    let sets = kept.iter().map(|(_, threads)| threads);
    sets.min_by_key(|threads| Arc::strong_count(threads))
        .cloned()
}

/// The work of one query; dropping it stops the work.
#[derive(Debug)]
pub(crate) struct QueryTask {
    handle: AbortOnDropHandle<Result<(), EngineError>>,
    _stop: CancelOnDrop,
    _threads: Arc<Threads>,
}

impl QueryTask {
    /// Waits for the end: whether it came in time. A panic of the work goes on here.
    pub(crate) async fn end(self) -> Result<(), EngineError> {
        match self.handle.await {
            Ok(ended) => ended,
            Err(error) if error.is_panic() => match error.into_panic().downcast::<Cancelled>() {
                Ok(_) => Err(EngineError::Internal("the query was cancelled".to_owned())),
                Err(panic) => std::panic::resume_unwind(panic),
            },
            Err(error) => Err(EngineError::Internal(error.to_string())),
        }
    }
}

impl Threads {
    fn new(threads: usize) -> Result<Threads, EngineError> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_stack_size(STACK)
            .max_blocking_threads(BLOCKING)
            .thread_name_fn(|| format!("query-{}", NEXT.fetch_add(1, Ordering::Relaxed)))
            .enable_all()
            .build()
            .map_err(|e| EngineError::Internal(format!("no threads for queries: {e}")))?;
        Ok(Threads {
            runtime: Some(runtime),
        })
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        // The last owner may be a task, which must not wait for threads to end.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Nobody waits for the result any more.
#[derive(Debug)]
struct CancelOnDrop(CancellationHandle);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use datafusion::execution::memory_pool::UnboundedMemoryPool;
    use tokio::sync::oneshot;

    use super::*;

    /// Work that keeps its thread until the sender is dropped.
    fn keep_thread(threads: &QueryThreads, principal: &Arc<str>) -> (QueryTask, mpsc::Sender<()>) {
        let (release, released) = mpsc::channel::<()>();
        let task = spawn(threads, principal, async move {
            let _ = released.recv();
        });
        (task, release)
    }

    fn spawn(
        threads: &QueryThreads,
        principal: &Arc<str>,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> QueryTask {
        let work = Work::new(Arc::new(UnboundedMemoryPool::default()));
        let task = threads.spawn(
            principal,
            work,
            Deadline::after(Duration::from_secs(60)),
            future,
        );
        task.expect("threads can be made")
    }

    fn principals(count: usize) -> Vec<Arc<str>> {
        (0..count)
            .map(|n| format!("principal {n}").into())
            .collect()
    }

    #[tokio::test]
    async fn one_who_keeps_all_threads_keeps_nobody_else_waiting() {
        let threads = QueryThreads::new(2);
        let (flood, quiet) = (Arc::from("flood"), Arc::from("quiet"));
        let kept: Vec<_> = (0..10).map(|_| keep_thread(&threads, &flood)).collect();
        let (send, receive) = oneshot::channel();
        let task = spawn(&threads, &quiet, async move {
            let _ = send.send("answer");
        });
        assert_eq!(receive.await, Ok("answer"));
        assert!(task.end().await.is_ok());
        for (task, release) in kept {
            drop(release);
            assert!(task.end().await.is_ok());
        }
    }

    #[tokio::test]
    async fn threads_of_those_who_ask_nothing_are_given_back() {
        let threads = QueryThreads::new(1);
        for principal in principals(3 * KEPT) {
            assert!(spawn(&threads, &principal, async {}).end().await.is_ok());
        }
        assert_eq!(threads.kept.lock().len(), KEPT);
        // The same principal again uses those that it had.
        let last: Arc<str> = format!("principal {}", 3 * KEPT - 1).into();
        assert!(spawn(&threads, &last, async {}).end().await.is_ok());
        let kept = threads.kept.lock();
        assert_eq!(kept.len(), KEPT);
        assert_eq!(kept.front().map(|(principal, _)| principal), Some(&last));
    }

    #[tokio::test]
    async fn more_principals_than_there_may_be_sets_share() {
        let threads = QueryThreads::new(1);
        let busy = principals(MOST);
        let kept: Vec<_> = busy.iter().map(|p| keep_thread(&threads, p)).collect();
        let late = spawn(&threads, &Arc::from("late"), async {});
        assert_eq!(threads.kept.lock().len(), MOST);
        for (task, release) in kept {
            drop(release);
            assert!(task.end().await.is_ok());
        }
        assert!(late.end().await.is_ok());
    }
}
