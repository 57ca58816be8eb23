//! The work of one query: whether it is still wanted, and the memory that it may use.
//!
//! Dropping a query's future ends it where it gives way to the scheduler. A kernel over a large value, or an aggregate
//! that finishes a million groups, does not give way; it asks here. The work is the task's own and is handed on to every
//! task that DataFusion starts for the query, so no plan and no function signature has to carry it. Code that runs
//! outside of any work, such as a test of one kernel, is never stopped.

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

/// One query's work. Copies share it.
#[derive(Debug, Clone)]
pub struct Work(Arc<State>);

/// Stops work, and does not keep what belongs to it.
#[derive(Debug, Clone)]
pub struct Stopper(Weak<State>);

#[derive(Debug)]
struct State {
    stopped: AtomicBool,
    /// How often code asked after the stop; a test counts here what still ran.
    asked_after_stop: AtomicUsize,
    pool: Arc<dyn MemoryPool>,
}

impl Work {
    /// Work that may use the memory of `pool`.
    pub fn new(pool: Arc<dyn MemoryPool>) -> Work {
        install_hand_over();
        Work(Arc::new(State {
            stopped: AtomicBool::new(false),
            asked_after_stop: AtomicUsize::new(0),
            pool,
        }))
    }

    /// The work is not wanted any more.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }

    /// What can stop it.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::downgrade(&self.0))
    }

    /// Whether [`Work::stop`] was called.
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }

    /// How many loops noticed the stop.
    pub fn asked_after_stop(&self) -> usize {
        self.0.asked_after_stop.load(Ordering::Relaxed)
    }

    /// `future` as a task of this work.
    pub fn run<F: Future>(self, future: F) -> impl Future<Output = F::Output> {
        CURRENT.scope(self, future)
    }
}

impl Stopper {
    /// The work is not wanted any more; nothing where it has ended.
    pub fn stop(&self) {
        if let Some(state) = self.0.upgrade() {
            Work(state).stop();
        }
    }
}

/// What the code that runs now asks; kept through a loop, because looking the work up costs more than asking.
#[derive(Debug, Clone)]
pub struct Watch(Option<Work>);

impl Watch {
    /// The work that this code is a part of.
    pub fn current() -> Watch {
        Watch(CURRENT.try_with(Work::clone).ok())
    }

    /// Whether the work was stopped: the answer does not matter any more.
    pub fn is_stopped(&self) -> bool {
        let Some(work) = &self.0 else {
            return false;
        };
        let stopped = work.is_stopped();
        if stopped {
            work.0.asked_after_stop.fetch_add(1, Ordering::Relaxed);
        }
        stopped
    }

    /// Fails where the work was stopped.
    pub fn check(&self) -> Result<()> {
        if self.is_stopped() {
            Err(stopped())
        } else {
            Ok(())
        }
    }

    /// An empty reservation of the work's memory under this name; none outside of any work.
    pub fn reservation(&self, name: &str) -> Option<MemoryReservation> {
        let work = self.0.as_ref()?;
        Some(MemoryConsumer::new(name).register(&work.0.pool))
    }
}

/// What a task unwinds with that [`unwind_if_stopped`] ends.
#[derive(Debug)]
pub struct Stopped;

/// Ends the task that runs now where its work was stopped.
///
/// DataFusion has loops that give way to nobody for many seconds (sorting what it then writes to disk), and takes the
/// error of a memory pool for a wish to write more. But it asks the pool in each round, and this is how the pool can end
/// it: by unwinding, which only drops what the query has. Nobody waits for its answer any more.
pub fn unwind_if_stopped() {
    if Watch::current().is_stopped() && !std::thread::panicking() {
        std::panic::resume_unwind(Box::new(Stopped));
    }
}

fn stopped() -> DataFusionError {
    DataFusionError::Execution("the query was stopped".to_owned())
}

/// Tasks that DataFusion starts belong to the work of the task that starts them.
struct HandOver;

impl JoinSetTracer for HandOver {
    fn trace_future(
        &self,
        future: BoxFuture<'static, Box<dyn std::any::Any + Send>>,
    ) -> BoxFuture<'static, Box<dyn std::any::Any + Send>> {
        match Watch::current().0 {
            Some(work) => work.run(future).boxed(),
            None => future,
        }
    }

    fn trace_block(
        &self,
        block: Box<dyn FnOnce() -> Box<dyn std::any::Any + Send> + Send>,
    ) -> Box<dyn FnOnce() -> Box<dyn std::any::Any + Send> + Send> {
        match Watch::current().0 {
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
        work.stop();
        let seen = work.clone().run(async {
            let task = SpawnedTask::spawn(async { Watch::current().is_stopped() });
            let block = SpawnedTask::spawn_blocking(|| Watch::current().is_stopped());
            (task.await.ok(), block.await.ok())
        });
        assert_eq!(seen.await, (Some(true), Some(true)));
        assert!(!Watch::current().is_stopped(), "outside of any work");
    }
}
