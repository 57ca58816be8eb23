//! Limits the queries of each principal: concurrency, rate, and the length of the queue (`D19`).

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::error::ApiError;

/// `Retry-After` of a principal whose running queries are too many.
const BUSY: Duration = Duration::from_secs(5);
/// Principals that are tracked before idle ones are dropped.
const REMEMBERED: usize = 10_000;

/// The limits in force.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// `query.concurrency`
    pub(crate) concurrency: usize,
    /// `query.rate` in `query.rate_window`
    pub(crate) rate: Rate,
    /// `query.queue`
    pub(crate) queue: usize,
    /// `query.queue_time`
    pub(crate) queue_time: Duration,
}

/// At most `queries` within `window`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rate {
    pub(crate) queries: usize,
    pub(crate) window: Duration,
}

/// The limits and the usage of all principals.
#[derive(Debug)]
pub(crate) struct Throttle {
    limits: Limits,
    principals: Mutex<HashMap<Arc<str>, Arc<Usage>>>,
}

/// The usage of one principal.
#[derive(Debug)]
struct Usage {
    running: Arc<Semaphore>,
    waiting: AtomicUsize,
    begun: Mutex<VecDeque<Instant>>,
}

/// The permit to run a query; dropping it returns the permit.
#[derive(Debug)]
pub(crate) struct Permit {
    _running: OwnedSemaphorePermit,
}

/// One place in the queue; dropping it frees the place, also when the client disconnects.
struct Place<'a>(&'a Usage);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Throttle {
    /// A throttle with the same limits for every principal.
    pub(crate) fn new(limits: Limits) -> Throttle {
        Throttle {
            limits,
            principals: Mutex::default(),
        }
    }

    /// Waits until a query of this principal may run.
    pub(crate) async fn admit(&self, principal: &Arc<str>) -> Result<Permit, ApiError> {
        let usage = self.usage(principal);
        if let Ok(permit) = usage.running.clone().try_acquire_owned()
            && usage.begin(self.limits.rate).is_none()
        {
            return Ok(Permit { _running: permit });
        }
        if usage.waiting.fetch_add(1, Ordering::Relaxed) >= self.limits.queue {
            usage.waiting.fetch_sub(1, Ordering::Relaxed);
            let what = "queries may wait (`query.queue`)";
            return Err(throttled(
                what,
                self.limits.queue,
                usage.pause(self.limits.rate),
            ));
        }
        let _place = Place(&usage);
        let waited = tokio::time::timeout(self.limits.queue_time, usage.wait(self.limits.rate));
        let Ok(permit) = waited.await else {
            let pause = usage.pause(self.limits.rate);
            // Which of the two limits was reached.
            return Err(if usage.running.available_permits() == 0 {
                let what = "queries may run at once (`query.concurrency`)";
                throttled(what, self.limits.concurrency, pause)
            } else {
                let Rate { queries, window } = self.limits.rate;
                let window = window.as_secs_f64();
                let what = format!("queries may begin in {window} seconds (`query.rate`)");
                throttled(&what, queries, pause)
            });
        };
        permit
    }

    fn usage(&self, principal: &Arc<str>) -> Arc<Usage> {
        let mut principals = self.principals.lock();
        let window = self.limits.rate.window;
        if principals.len() > REMEMBERED {
            principals.retain(|_, usage| Arc::strong_count(usage) > 1 || !usage.idle(window));
        }
        let new = || {
            Arc::new(Usage {
                running: Arc::new(Semaphore::new(self.limits.concurrency)),
                waiting: AtomicUsize::new(0),
                begun: Mutex::default(),
            })
        };
        principals
            .entry(principal.clone())
            .or_insert_with(new)
            .clone()
    }
}

fn throttled(what: &str, limit: usize, retry: Duration) -> ApiError {
    ApiError::Throttled {
        message: format!("Rate limit is exceeded: {limit} {what}"),
        limit: limit as u64,
        retry_after: retry.as_secs().max(1),
    }
}

impl Usage {
    async fn wait(&self, rate: Rate) -> Result<Permit, ApiError> {
        let closed = |_| ApiError::Unavailable("The server is stopping".to_owned());
        let permit = self.running.clone().acquire_owned().await.map_err(closed)?;
        while let Some(pause) = self.begin(rate) {
            tokio::time::sleep(pause).await;
        }
        Ok(Permit { _running: permit })
    }

    /// `Retry-After` of a refused query: when the rate permits the next one, or a fixed time when a running one has to end first.
    fn pause(&self, rate: Rate) -> Duration {
        let begun = self.begun.lock();
        match begun.front() {
            Some(oldest) if begun.len() >= rate.queries => {
                rate.window.saturating_sub(oldest.elapsed())
            }
            _ => BUSY,
        }
    }

    /// Counts a query that starts now, or returns how long to wait until one may.
    fn begin(&self, rate: Rate) -> Option<Duration> {
        let now = Instant::now();
        let mut begun = self.begun.lock();
        while begun
            .front()
            .is_some_and(|first| now.duration_since(*first) >= rate.window)
        {
            begun.pop_front();
        }
        if begun.len() < rate.queries {
            begun.push_back(now);
            return None;
        }
        let oldest = begun.front().copied().unwrap_or(now);
        Some(
            rate.window
                .saturating_sub(now.duration_since(oldest))
                .max(Duration::from_millis(5)),
        )
    }

    fn idle(&self, window: Duration) -> bool {
        self.begun
            .lock()
            .back()
            .is_none_or(|last| last.elapsed() >= window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn per_window(queries: usize) -> Rate {
        Rate {
            queries,
            window: Duration::from_secs(30),
        }
    }

    fn throttle(concurrency: usize, rate: usize, queue: usize) -> Throttle {
        Throttle::new(Limits {
            concurrency,
            rate: per_window(rate),
            queue,
            queue_time: Duration::from_millis(50),
        })
    }

    #[tokio::test]
    async fn one_principal_does_not_slow_another() {
        let throttle = throttle(1, 100, 0);
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let held = throttle.admit(&a).await.unwrap();
        assert!(matches!(
            throttle.admit(&a).await,
            Err(ApiError::Throttled { limit: 0, .. })
        ));
        assert!(throttle.admit(&b).await.is_ok());
        drop(held);
        assert!(throttle.admit(&a).await.is_ok());
    }

    #[tokio::test]
    async fn over_the_rate_a_query_waits_and_is_then_refused() {
        let throttle = throttle(5, 2, 10);
        let a: Arc<str> = "a".into();
        for _ in 0..2 {
            drop(throttle.admit(&a).await.unwrap());
        }
        let begun = Instant::now();
        assert!(matches!(
            throttle.admit(&a).await,
            Err(ApiError::Throttled { limit: 2, .. })
        ));
        assert!(begun.elapsed() >= Duration::from_millis(50));
    }

    #[tokio::test]
    async fn a_query_over_the_rate_begins_when_the_window_has_passed() {
        let throttle = Throttle::new(Limits {
            concurrency: 5,
            rate: Rate {
                queries: 1,
                window: Duration::from_millis(40),
            },
            queue: 10,
            queue_time: Duration::from_secs(60),
        });
        let a: Arc<str> = "a".into();
        let begun = Instant::now();
        for _ in 0..3 {
            drop(throttle.admit(&a).await.unwrap());
        }
        assert!(begun.elapsed() >= Duration::from_millis(80));
    }

    /// A thousand slow queries at once from one key: 5 run, 200 wait, the rest are refused at once with `Retry-After`; another key is
    /// not delayed.
    #[tokio::test]
    async fn a_flood_is_bounded_and_delays_no_other_principal() {
        let throttle = Arc::new(Throttle::new(Limits {
            concurrency: 5,
            rate: per_window(200),
            queue: 200,
            queue_time: Duration::from_secs(180),
        }));
        let (flood, other): (Arc<str>, Arc<str>) = ("flood".into(), "other".into());
        let (refuse, mut refused) = tokio::sync::mpsc::unbounded_channel();
        let (run, mut running) = tokio::sync::mpsc::unbounded_channel();
        let mut asked = tokio::task::JoinSet::new();
        for _ in 0..1_000 {
            let (throttle, flood) = (throttle.clone(), flood.clone());
            let (refuse, run) = (refuse.clone(), run.clone());
            asked.spawn(async move {
                match throttle.admit(&flood).await {
                    Ok(permit) => drop(run.send(permit)),
                    Err(error) => drop(refuse.send(error)),
                }
            });
        }
        for _ in 0..795 {
            let error = refused.recv().await;
            assert!(matches!(
                error,
                Some(ApiError::Throttled {
                    limit: 200,
                    retry_after: 1..,
                    ..
                })
            ));
        }
        let held: Vec<Permit> = [
            running.recv().await,
            running.recv().await,
            running.recv().await,
            running.recv().await,
            running.recv().await,
        ]
        .into_iter()
        .flatten()
        .collect();
        assert_eq!(held.len(), 5);
        assert!(running.try_recv().is_err() && refused.try_recv().is_err());
        assert!(throttle.admit(&other).await.is_ok());
        // Each free permit goes to a waiting query, until the rate is reached.
        drop(held);
        for _ in 0..195 {
            drop(running.recv().await.unwrap());
        }
        assert!(running.try_recv().is_err());
    }
}
