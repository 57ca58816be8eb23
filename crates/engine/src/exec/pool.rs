//! The memory of one query.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use datafusion::execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};
use hindsight_kql::work::unwind_if_cancelled;

/// The memory of one query, taken from the memory of all; it remembers the most that was reserved. A query that was
/// stopped ends where it asks for more.
#[derive(Debug)]
pub(crate) struct QueryPool {
    shared: Arc<dyn MemoryPool>,
    figures: Arc<Figures>,
    /// Every part of the query holds the pool, so this tells that the query has not ended.
    _running: Option<Arc<()>>,
}

#[derive(Debug, Default)]
struct Figures {
    reserved: AtomicUsize,
    peak: AtomicUsize,
}

impl QueryPool {
    /// The memory of a query, taken from `shared`.
    pub(super) fn over(shared: Arc<dyn MemoryPool>, running: Arc<()>) -> QueryPool {
        QueryPool {
            shared,
            figures: Arc::default(),
            _running: Some(running),
        }
    }

    /// The same memory for what is kept of the result: who holds it does not work.
    pub(super) fn for_results(&self) -> QueryPool {
        QueryPool {
            shared: Arc::clone(&self.shared),
            figures: Arc::clone(&self.figures),
            _running: None,
        }
    }

    /// The most bytes that were reserved at once.
    pub(crate) fn peak(&self) -> usize {
        self.figures.peak.load(Ordering::Relaxed)
    }

    fn add(&self, bytes: usize) {
        let now = self.figures.reserved.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.figures.peak.fetch_max(now, Ordering::Relaxed);
    }
}

impl std::fmt::Display for QueryPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "query memory over {}", self.shared)
    }
}

impl MemoryPool for QueryPool {
    fn name(&self) -> &str {
        "query"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.shared.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.shared.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.shared.grow(reservation, additional);
        self.add(additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.shared.shrink(reservation, shrink);
        self.figures.reserved.fetch_sub(shrink, Ordering::Relaxed);
    }

    fn try_grow(
        &self,
        reservation: &MemoryReservation,
        additional: usize,
    ) -> datafusion::error::Result<()> {
        unwind_if_cancelled();
        self.shared.try_grow(reservation, additional)?;
        self.add(additional);
        Ok(())
    }

    fn reserved(&self) -> usize {
        self.figures.reserved.load(Ordering::Relaxed)
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.shared.memory_limit()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;

    use datafusion::execution::memory_pool::UnboundedMemoryPool;
    use futures::FutureExt;
    use hindsight_kql::work::{Cancelled, Work};

    use super::*;

    #[tokio::test]
    async fn who_asks_for_more_after_the_stop_ends() {
        let pool: Arc<dyn MemoryPool> = Arc::new(QueryPool::over(
            Arc::new(UnboundedMemoryPool::default()),
            Arc::new(()),
        ));
        let work = Work::new(Arc::clone(&pool));
        let handle = work.cancellation_handle();
        let task = work.run(async move {
            let held = MemoryConsumer::new("rows").register(&pool);
            assert!(held.try_grow(10).is_ok());
            handle.cancel();
            let _ = held.try_grow(10);
        });
        let ended = AssertUnwindSafe(task).catch_unwind().await;
        assert!(ended.is_err_and(|panic| panic.is::<Cancelled>()));
    }
}
