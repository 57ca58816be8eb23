//! The reply cache (`D18`): bytes in memory, bounded, private to what a principal may see.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::http::{HeaderMap, header};
use hindsight_engine::EngineError;
use hindsight_store::{AppId, Clock, Table};
use moka::future::Cache;

use super::{Answer, Arrivals, Kept, Made, Reads};
use crate::error::ApiError;

/// Bytes that an entry needs beside its key and its reply, about.
const OVERHEAD: usize = 256;
/// How many lifetimes an entry is kept for those who ask for older ones with `max-age`.
const KEPT_LIFETIMES: u32 = 5;

/// How a request may be answered from the cache: its `Cache-Control`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CacheControl {
    /// `no-cache` or `no-store`: the store is always queried.
    pub(crate) bypass: bool,
    /// `no-store`: the reply is not kept either.
    pub(crate) no_store: bool,
    /// `max-age`, seconds.
    pub(crate) max_age: Option<u64>,
}

impl CacheControl {
    /// The directives that count. Unknown ones are ignored, names are case-insensitive.
    pub(crate) fn read(headers: &HeaderMap) -> CacheControl {
        let mut control = CacheControl::default();
        let values = headers
            .get_all(header::CACHE_CONTROL)
            .iter()
            .filter_map(|value| value.to_str().ok());
        for directive in values.flat_map(|value| value.split(',')) {
            let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
            match name.trim().to_ascii_lowercase().as_str() {
                "no-cache" => control.bypass = true,
                "no-store" => {
                    control.bypass = true;
                    control.no_store = true;
                }
                "max-age" => {
                    let age = value.trim().trim_matches('"').parse().ok();
                    control.max_age = age.or(control.max_age);
                }
                _ => {}
            }
        }
        control
    }

    fn must_ask(self) -> bool {
        self.bypass || self.max_age == Some(0)
    }
}

#[derive(Debug, Clone)]
struct Entry {
    reply: Kept,
    began: Began,
    reads: Reads,
}

/// When the computation of a reply began: as a time, and as the number of the latest arrival of telemetry.
#[derive(Debug, Clone, Copy)]
struct Began {
    at: Duration,
    arrivals: u64,
}

/// Why a reply was not cached.
enum NotKept {
    Failed(ApiError),
    /// It is streamed to the request that made it.
    TooLarge,
}

/// Replies by key. A key holds all that the reply depends on: what the principal may see, the canonical request and the
/// form of the reply.
#[derive(Debug)]
pub(crate) struct ReplyCache {
    entries: Cache<String, Entry>,
    clock: Arc<dyn Clock>,
    lifetime: Duration,
    stale: Duration,
    arrivals: Arrivals,
    generation: AtomicU64,
}

impl ReplyCache {
    /// A cache of at most `bytes`. With a lifetime of zero replies are neither kept nor shared by concurrent requests. Requests that do not say how old is too old get replies of at most `lifetime`, and of at most
    /// `stale` where telemetry has arrived since for what the reply has read.
    pub(crate) fn new(
        bytes: u64,
        lifetime: Duration,
        stale: Duration,
        clock: Arc<dyn Clock>,
    ) -> ReplyCache {
        let weigh = |key: &String, entry: &Entry| {
            u32::try_from(key.len() + entry.reply.body.len() + OVERHEAD).unwrap_or(u32::MAX)
        };
        let entries = Cache::builder()
            .max_capacity(bytes)
            .weigher(weigh)
            .time_to_live(lifetime * KEPT_LIFETIMES)
            .build();
        ReplyCache {
            entries,
            clock,
            lifetime,
            stale: stale.min(lifetime),
            arrivals: Arrivals::default(),
            generation: AtomicU64::new(0),
        }
    }

    /// Drops all entries, also those that are being made: what queries see has changed.
    pub(crate) fn clear(&self) {
        self.generation.fetch_add(1, Ordering::Relaxed);
        self.entries.invalidate_all();
        self.arrivals.note_everything();
    }

    /// Telemetry may have arrived in any table, at another node.
    pub(crate) fn note_other_nodes(&self) {
        self.arrivals.note_everything();
    }

    /// When telemetry arrived.
    pub(crate) fn arrivals(&self) -> &Arrivals {
        &self.arrivals
    }

    /// Telemetry of these tables became visible to queries.
    pub(crate) fn note_arrival(&self, app: AppId, tables: impl Iterator<Item = Table>) {
        self.arrivals.note(app, tables);
    }

    fn begin(&self) -> Began {
        Began {
            at: self.clock.elapsed(),
            arrivals: self.arrivals.count(),
        }
    }

    /// The kept reply, where `control` allows it.
    pub(crate) async fn find(&self, key: &str, control: CacheControl) -> Option<Answer> {
        if control.must_ask() || self.lifetime.is_zero() {
            return None;
        }
        let key = self.whole_key(key);
        let entry = self.entries.get(&key).await?;
        let age = self.clock.elapsed().saturating_sub(entry.began.at);
        let oldest = match control.max_age {
            Some(seconds) => Duration::from_secs(seconds),
            None if self.arrivals.any_since(&entry.reads, entry.began.arrivals) => self.stale,
            None => self.lifetime,
        };
        if age <= oldest {
            return Some(Answer::Whole(entry.reply, Some(age.as_secs())));
        }
        self.entries.invalidate(&key).await;
        None
    }

    /// The reply that [`ReplyCache::find`] did not find: made by `make`, and kept where `control` allows it. Identical
    /// concurrent requests are computed once; a caller that disconnects does not cancel the others.
    pub(crate) async fn make<F>(
        &self,
        key: &str,
        control: CacheControl,
        make: impl Fn() -> F,
    ) -> Result<Answer, ApiError>
    where
        F: Future<Output = Result<Made, ApiError>>,
    {
        let key = self.whole_key(key);
        if control.must_ask() || self.lifetime.is_zero() {
            let began = self.begin();
            return self.alone(key, control, began, make().await?).await;
        }
        let mut streamed = None;
        let mut made_here = false;
        let first = async {
            made_here = true;
            let began = self.begin();
            match make().await {
                Ok(Made::Whole {
                    body,
                    missing,
                    reads,
                }) => Ok(Entry {
                    reply: Kept::new(body, missing),
                    began,
                    reads,
                }),
                Ok(Made::Streamed(body)) => {
                    streamed = Some(body);
                    Err(NotKept::TooLarge)
                }
                Err(error) => Err(NotKept::Failed(error)),
            }
        };
        let outcome = self.entries.try_get_with(key.clone(), first).await;
        match (outcome.map_err(|why| (why.clone(), made_here)), streamed) {
            (Ok(entry), _) => Ok(Answer::Whole(entry.reply, None)),
            (Err(_), Some(body)) => Ok(Answer::Streamed(body)),
            (Err((why, made_here)), None) => match &*why {
                NotKept::Failed(error) if made_here || !personal(error) => Err(error.clone()),
                // The other request's reply was too large to share, or its timeout was shorter.
                _ => {
                    let began = self.begin();
                    self.alone(key, control, began, make().await?).await
                }
            },
        }
    }

    /// A reply that is not shared with concurrent requests.
    async fn alone(
        &self,
        key: String,
        control: CacheControl,
        began: Began,
        made: Made,
    ) -> Result<Answer, ApiError> {
        let (reply, reads) = match made {
            Made::Streamed(body) => return Ok(Answer::Streamed(body)),
            Made::Whole {
                body,
                missing,
                reads,
            } => (Kept::new(body, missing), reads),
        };
        if !control.no_store && !self.lifetime.is_zero() {
            let entry = Entry {
                reply: reply.clone(),
                began,
                reads,
            };
            self.entries.insert(key, entry).await;
        }
        Ok(Answer::Whole(reply, None))
    }

    fn whole_key(&self, key: &str) -> String {
        format!("{}\n{key}", self.generation.load(Ordering::Relaxed))
    }
}

/// Whether an error belongs to one request and not to its identical ones.
fn personal(error: &ApiError) -> bool {
    matches!(
        error,
        ApiError::Engine(EngineError::TimedOut { .. }) | ApiError::Throttled { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn directives_are_read_and_unknown_ones_ignored() {
        let check = |text: &'static str, bypass: bool, no_store: bool, max_age: Option<u64>| {
            let mut headers = HeaderMap::new();
            headers.insert("cache-control", HeaderValue::from_static(text));
            assert_eq!(
                CacheControl::read(&headers),
                CacheControl {
                    bypass,
                    no_store,
                    max_age
                },
                "{text}"
            );
        };
        check("No-Cache", true, false, None);
        check("no-store", true, true, None);
        check("max-age=30, stale-if-error=5", false, false, Some(30));
        check("max-age=soon", false, false, None);
        check("public", false, false, None);
    }
}
