//! Encoders of the dynamic values that a query computes.

use datafusion::common::Result;
use datafusion::execution::memory_pool::MemoryReservation;
use hindsight_kql_types::Encoder;
use hindsight_kql_types::dynamic::EncoderMemory;

use crate::kernel::KernelError;
use crate::work::CancellationToken;

/// An encoder that reserves the memory of large values in the memory pool of the query.
///
/// Code that runs for rows uses it, and takes the value with [`finished`]; a kernel's `collect_dynamics` does that itself.
pub fn encoder() -> Encoder {
    Encoder::reserving(Box::new(QueryMemory {
        token: CancellationToken::current(),
        reservation: None,
    }))
}

/// The value that an encoder was given, for the function or operator `name`; empties the encoder.
///
/// # Errors
/// [`KernelError::no_value`].
pub fn finished(encoder: &mut Encoder, name: &str) -> Result<Vec<u8>> {
    let value = encoder.finish();
    if value.is_empty() {
        return Err(KernelError::no_value().of(name));
    }
    Ok(value)
}

/// The memory of one encoder in the memory pool of the query; outside of any query nothing is reserved.
#[derive(Debug)]
struct QueryMemory {
    token: CancellationToken,
    reservation: Option<MemoryReservation>,
}

impl EncoderMemory for QueryMemory {
    fn reserve(&mut self, bytes: usize) -> bool {
        if self.reservation.is_none() {
            self.reservation = self.token.reservation("dynamic value");
        }
        match self.reservation.as_ref().map(|r| r.try_grow(bytes)) {
            Some(Err(error)) => {
                self.token.refuse(&error);
                false
            }
            Some(Ok(())) | None => true,
        }
    }

    fn release(&mut self) {
        self.reservation = None;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::execution::memory_pool::{GreedyMemoryPool, MemoryPool};

    use super::*;
    use crate::work::Work;

    #[tokio::test]
    async fn a_value_that_the_pool_cannot_hold_is_refused() {
        let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(8 << 20));
        let error = Work::new(Arc::clone(&pool)).run(async {
            let mut encoder = encoder();
            encoder.string(&"x".repeat(2 << 20));
            assert!(!encoder.finish().is_empty());
            encoder.string(&"x".repeat(12 << 20));
            assert!(encoder.finish().is_empty());
            KernelError::no_value()
        });
        let error = error.await;
        assert!(
            matches!(&error, KernelError::Memory(m) if m.contains("dynamic value")),
            "{error}"
        );
        assert_eq!(pool.reserved(), 0);
        assert!(matches!(KernelError::no_value(), KernelError::TooLarge(_)));
    }
}
