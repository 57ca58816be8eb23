//! The memory pool of one query.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use datafusion::execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};
use hindsight_kql::work::unwind_if_cancelled;

/// The memory pool of one query, over the pool of all queries. It records the peak reservation. A cancelled query ends at its next
/// reservation.
#[derive(Debug)]
pub(crate) struct QueryPool {
    shared: Arc<dyn MemoryPool>,
    figures: Arc<Figures>,
    /// Every operator of the query holds the pool, so this counts queries that have not ended.
    _running: Option<Arc<()>>,
}

#[derive(Debug, Default)]
struct Figures {
    reserved: AtomicUsize,
    peak: AtomicUsize,
}

impl QueryPool {
    /// A pool over `shared`.
    pub(super) fn over(shared: Arc<dyn MemoryPool>, running: Arc<()>) -> QueryPool {
        QueryPool {
            shared,
            figures: Arc::default(),
            _running: Some(running),
        }
    }

    /// The same pool for collected results, which do not count as a running query.
    pub(super) fn for_results(&self) -> QueryPool {
        QueryPool {
            shared: Arc::clone(&self.shared),
            figures: Arc::clone(&self.figures),
            _running: None,
        }
    }

    /// The peak reservation in bytes.
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
    async fn a_cancelled_query_ends_at_its_next_reservation() {
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
