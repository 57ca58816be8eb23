//! The deadline of a query.

use std::time::Duration;

use crate::error::EngineError;

/// When a query times out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    at: tokio::time::Instant,
    limit: Duration,
}

impl Deadline {
    /// The deadline `limit` from now.
    pub(crate) fn after(limit: Duration) -> Deadline {
        Deadline {
            at: tokio::time::Instant::now() + limit,
            limit,
        }
    }

    /// The time until then.
    pub(crate) fn remaining(self) -> Duration {
        let now = tokio::time::Instant::now();
        self.at.saturating_duration_since(now)
    }

    /// The result of `work`, or [`EngineError::TimedOut`] once the deadline has passed.
    pub(crate) async fn bound<T>(
        self,
        work: impl Future<Output = Result<T, EngineError>>,
    ) -> Result<T, EngineError> {
        let late = EngineError::TimedOut { limit: self.limit };
        // `timeout_at` polls the work first: work that never yields would always be in time.
        if tokio::time::Instant::now() >= self.at {
            return Err(late);
        }
        tokio::time::timeout_at(self.at, work)
            .await
            .unwrap_or(Err(late))
    }
}
