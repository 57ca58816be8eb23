//! The work of one query: whether it is cancelled, and the memory that it may use.
//!
//! Dropping a query's future cancels it at the points where it yields to the scheduler. A kernel over a large value, or an
//! aggregate that finishes a million groups, does not yield; it checks its [`CancellationToken`]. The work is a task-local
//! that is handed on to every task that DataFusion starts for the query, so no plan and no function signature has to carry
//! it. Code that runs outside of any work, such as a test of one kernel, is never cancelled.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Once, Weak};

use datafusion::common::runtime::{JoinSetTracer, set_join_set_tracer};
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use futures::FutureExt;
use futures::future::BoxFuture;

tokio::task_local! {
    static CURRENT: Work;
}

/// One query's work. Clones share it.
#[derive(Debug, Clone)]
pub struct Work(Arc<State>);

/// Cancels work. It holds no strong reference to the work, and so keeps none of the query's memory alive.
#[derive(Debug, Clone)]
pub struct CancellationHandle(Weak<State>);

#[derive(Debug)]
struct State {
    cancelled: AtomicBool,
    /// How many checks found the work cancelled; a test counts here what still ran.
    checks_after_cancellation: AtomicUsize,
    pool: Arc<dyn MemoryPool>,
}

impl Work {
    /// Work that reserves its memory in `pool`.
    pub fn new(pool: Arc<dyn MemoryPool>) -> Work {
        install_hand_over();
        Work(Arc::new(State {
            cancelled: AtomicBool::new(false),
            checks_after_cancellation: AtomicUsize::new(0),
            pool,
        }))
    }

    /// Cancels the work.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }

    /// A handle that cancels the work.
    pub fn cancellation_handle(&self) -> CancellationHandle {
        CancellationHandle(Arc::downgrade(&self.0))
    }

    /// Whether [`Work::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }

    /// How many checks found the work cancelled.
    pub fn checks_after_cancellation(&self) -> usize {
        self.0.checks_after_cancellation.load(Ordering::Relaxed)
    }

    /// `future` as a task of this work.
    pub fn run<F: Future>(self, future: F) -> impl Future<Output = F::Output> {
        CURRENT.scope(self, future)
    }
}

impl CancellationHandle {
    /// Cancels the work; does nothing if the work has ended.
    pub fn cancel(&self) {
        if let Some(state) = self.0.upgrade() {
            Work(state).cancel();
        }
    }
}

/// What running code checks for cancellation. A loop keeps it, because looking up the task-local costs more than a check.
#[derive(Debug, Clone)]
pub struct CancellationToken(Option<Work>);

impl CancellationToken {
    /// The token of the work that this code is a part of.
    pub fn current() -> CancellationToken {
        CancellationToken(CURRENT.try_with(Work::clone).ok())
    }

    /// Whether the work was cancelled: nobody reads its result.
    pub fn is_cancelled(&self) -> bool {
        let Some(work) = &self.0 else {
            return false;
        };
        let cancelled = work.is_cancelled();
        if cancelled {
            let checks = &work.0.checks_after_cancellation;
            checks.fetch_add(1, Ordering::Relaxed);
        }
        cancelled
    }

    /// Checks for cancellation.
    ///
    /// # Errors
    /// The work was cancelled.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            return Err(DataFusionError::Execution(
                "the query was cancelled".to_owned(),
            ));
        }
        Ok(())
    }

    /// An empty reservation of the work's memory under this name; none outside of any work.
    pub fn reservation(&self, name: &str) -> Option<MemoryReservation> {
        let work = self.0.as_ref()?;
        Some(MemoryConsumer::new(name).register(&work.0.pool))
    }
}

/// The payload with which [`unwind_if_cancelled`] unwinds a task.
#[derive(Debug)]
pub struct Cancelled;

/// Unwinds the current task if its work was cancelled.
///
/// DataFusion has loops that do not yield for many seconds (sorting rows that it then spills), and it takes an error of the
/// memory pool for a reason to spill. But it reserves memory in each round, so the pool can end such a loop by unwinding,
/// which only drops the state of the query.
pub fn unwind_if_cancelled() {
    if CancellationToken::current().is_cancelled() && !std::thread::panicking() {
        std::panic::resume_unwind(Box::new(Cancelled));
    }
}

/// Tasks that DataFusion starts belong to the work of the task that starts them.
struct HandOver;

impl JoinSetTracer for HandOver {
    fn trace_future(
        &self,
        future: BoxFuture<'static, Box<dyn std::any::Any + Send>>,
    ) -> BoxFuture<'static, Box<dyn std::any::Any + Send>> {
        match CancellationToken::current().0 {
            Some(work) => work.run(future).boxed(),
            None => future,
        }
    }

    fn trace_block(
        &self,
        block: Box<dyn FnOnce() -> Box<dyn std::any::Any + Send> + Send>,
    ) -> Box<dyn FnOnce() -> Box<dyn std::any::Any + Send> + Send> {
        match CancellationToken::current().0 {
            Some(work) => Box::new(move || CURRENT.sync_scope(work, block)),
            None => block,
        }
    }
}

fn install_hand_over() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // It is the process's only tracer; were there another, tasks would end at their next batch only.
        let _ = set_join_set_tracer(&HandOver);
    });
}

#[cfg(test)]
mod tests {
    use datafusion::common::runtime::SpawnedTask;
    use datafusion::execution::memory_pool::UnboundedMemoryPool;

    use super::*;

    fn work() -> Work {
        Work::new(Arc::new(UnboundedMemoryPool::default()))
    }

    #[tokio::test]
    async fn tasks_that_the_engine_starts_belong_to_the_work() {
        let work = work();
        work.cancel();
        let seen = work.clone().run(async {
            let task = SpawnedTask::spawn(async { CancellationToken::current().is_cancelled() });
            let block = SpawnedTask::spawn_blocking(|| CancellationToken::current().is_cancelled());
            (task.await.ok(), block.await.ok())
        });
        assert_eq!(seen.await, (Some(true), Some(true)));
        assert!(
            !CancellationToken::current().is_cancelled(),
            "outside of any work"
        );
    }
}
