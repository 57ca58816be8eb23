//! The execution context of one query: its cancellation state, its memory pool and its database of addresses.
//!
//! Dropping a query's future cancels it at the points where it yields to the scheduler. A kernel over a large value, or an
//! aggregate that finishes a million groups, does not yield; it checks its [`CancellationToken`]. The context is a
//! task-local that every task that DataFusion starts for the query inherits, so plans and function signatures do not carry
//! it. Code outside of any context, such as the test of a kernel, is never cancelled.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Once, OnceLock, Weak};

use datafusion::common::runtime::{JoinSetTracer, set_join_set_tracer};
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::addresses::AddressDatabase;

tokio::task_local! {
    static CURRENT: Work;
}

/// The execution context of one query. Clones share it.
#[derive(Debug, Clone)]
pub struct Work(Arc<State>);

/// Cancels a [`Work`]. It holds no strong reference to the context, and so keeps none of the query's memory alive.
#[derive(Debug, Clone)]
pub struct CancellationHandle(Weak<State>);

#[derive(Debug)]
struct State {
    cancelled: AtomicBool,
    /// The number of checks that found the query cancelled; a test counts the code that still ran.
    checks_after_cancellation: AtomicUsize,
    pool: Arc<dyn MemoryPool>,
    /// Why the memory pool first refused the memory of a value. The query fails, because the value is missing.
    refusal: OnceLock<String>,
    addresses: Option<Arc<AddressDatabase>>,
    lacked_addresses: AtomicBool,
}

impl Work {
    /// A context that reserves its memory in `pool`.
    pub fn new(pool: Arc<dyn MemoryPool>) -> Work {
        Work::with_addresses(pool, None)
    }

    /// A context that reserves its memory in `pool` and looks addresses up in `addresses`.
    pub fn with_addresses(
        pool: Arc<dyn MemoryPool>,
        addresses: Option<Arc<AddressDatabase>>,
    ) -> Work {
        install_tracer();
        Work(Arc::new(State {
            cancelled: AtomicBool::new(false),
            checks_after_cancellation: AtomicUsize::new(0),
            pool,
            refusal: OnceLock::new(),
            addresses,
            lacked_addresses: AtomicBool::new(false),
        }))
    }

    /// Cancels the query.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Relaxed);
    }

    /// A handle that cancels the query.
    pub fn cancellation_handle(&self) -> CancellationHandle {
        CancellationHandle(Arc::downgrade(&self.0))
    }

    /// Whether [`Work::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Relaxed)
    }

    /// The number of checks that found the query cancelled.
    pub fn checks_after_cancellation(&self) -> usize {
        self.0.checks_after_cancellation.load(Ordering::Relaxed)
    }

    /// Runs `future` as a task of this context.
    pub fn run<F: Future>(self, future: F) -> impl Future<Output = F::Output> {
        CURRENT.scope(self, future)
    }
}

impl CancellationHandle {
    /// Cancels the query; does nothing if it has ended.
    pub fn cancel(&self) {
        if let Some(state) = self.0.upgrade() {
            Work(state).cancel();
        }
    }
}

/// The cancellation check of running code. A loop keeps the token, because the task-local lookup costs more than a check.
#[derive(Debug, Clone)]
pub struct CancellationToken(Option<Work>);

impl CancellationToken {
    /// The token of the current context.
    pub fn current() -> CancellationToken {
        CancellationToken(CURRENT.try_with(Work::clone).ok())
    }

    /// Whether the query is cancelled, so that its result is not needed.
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
    /// The query is cancelled.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() {
            return Err(DataFusionError::Execution(
                "the query was cancelled".to_owned(),
            ));
        }
        Ok(())
    }

    /// The database of addresses. If there is none, the context notes that the query lacked it.
    pub(crate) fn addresses(&self) -> Option<&AddressDatabase> {
        let work = self.0.as_ref()?;
        let addresses = work.0.addresses.as_deref();
        if addresses.is_none() {
            work.0.lacked_addresses.store(true, Ordering::Relaxed);
        }
        addresses
    }

    /// Whether the query looked an address up without a database.
    pub fn lacked_addresses(&self) -> bool {
        let work = self.0.as_ref();
        work.is_some_and(|work| work.0.lacked_addresses.load(Ordering::Relaxed))
    }

    /// An empty memory reservation named `name`; `None` outside of any context.
    pub fn reservation(&self, name: &str) -> Option<MemoryReservation> {
        let work = self.0.as_ref()?;
        Some(MemoryConsumer::new(name).register(&work.0.pool))
    }

    /// Records that the memory pool refused the memory of a value, which is therefore missing; the first refusal is kept.
    pub(crate) fn refuse(&self, error: &DataFusionError) {
        if let Some(work) = &self.0 {
            work.0.refusal.get_or_init(|| refusal_message(error));
        }
    }

    /// Whether the memory pool has refused the memory of a value.
    pub fn was_refused(&self) -> bool {
        self.refusal().is_some()
    }

    /// Why the memory of a value was refused; `None` if none was.
    pub(crate) fn refusal(&self) -> Option<&str> {
        Some(self.0.as_ref()?.0.refusal.get()?.as_str())
    }
}

/// The message of an error of a memory pool.
pub(crate) fn refusal_message(error: &DataFusionError) -> String {
    match error {
        DataFusionError::ResourcesExhausted(message) => message.clone(),
        other => other.to_string(),
    }
}

/// The payload with which [`unwind_if_cancelled`] unwinds a task.
#[derive(Debug)]
pub struct Cancelled;

/// Unwinds the current task if its query is cancelled.
///
/// DataFusion has loops that do not yield for many seconds (sorting rows before it spills them), and it treats an error of
/// the memory pool as a reason to spill. Each iteration reserves memory, so the pool can end such a loop by unwinding, which
/// only drops the state of the query.
pub fn unwind_if_cancelled() {
    if CancellationToken::current().is_cancelled() && !std::thread::panicking() {
        std::panic::resume_unwind(Box::new(Cancelled));
    }
}

/// Tasks that DataFusion starts inherit the context of the task that starts them.
struct InheritWork;

impl JoinSetTracer for InheritWork {
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

fn install_tracer() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // DataFusion accepts one tracer per process. If another is installed, cancelled tasks end only at their next batch.
        let _ = set_join_set_tracer(&InheritWork);
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
    async fn spawned_tasks_inherit_the_work() {
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
