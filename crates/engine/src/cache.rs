//! The response cache (`D18`): in memory, bounded by bytes, private to what a principal may see.

use std::sync::Arc;
use std::time::Duration;

use hindsight_store::Clock;
use moka::future::Cache;

use crate::error::EngineError;
use crate::request::CacheControl;
use crate::result::{Answer, EventsResult, MetricResult, QueryResult};

/// A cached answer of any operation.
#[derive(Debug, Clone)]
pub(crate) enum Cached {
    /// Of `query`.
    Query(Arc<QueryResult>),
    /// Of `metrics`.
    Metric(Arc<MetricResult>),
    /// Of `events`.
    Events(Arc<EventsResult>),
    /// Of a description: the reply's text as it is.
    Text(Arc<str>),
}

impl Cached {
    fn bytes(&self) -> usize {
        match self {
            Cached::Query(result) => result.tables.iter().map(table_bytes).sum(),
            Cached::Metric(result) => 512 + result.query.len() + metric_bytes(&result.body),
            Cached::Events(result) => table_bytes(&result.table),
            Cached::Text(text) => 64 + text.len(),
        }
    }
}

fn table_bytes(table: &crate::result::ResultTable) -> usize {
    512 + table
        .batches
        .iter()
        .map(arrow::record_batch::RecordBatch::get_array_memory_size)
        .sum::<usize>()
}

fn metric_bytes(body: &crate::result::MetricBody) -> usize {
    use crate::result::{MetricBody, MetricSegment};
    fn segments(list: &[MetricSegment]) -> usize {
        list.iter()
            .map(|s| 160 + s.value.to_text().len() + segments(&s.segments))
            .sum()
    }
    match body {
        MetricBody::Values(values) => 16 * values.len(),
        MetricBody::Segments(list) => segments(list),
        MetricBody::Buckets(buckets) => buckets.iter().map(|b| 128 + segments(&b.segments)).sum(),
    }
}

#[derive(Debug, Clone)]
struct Entry {
    answer: Cached,
    at: Duration,
    bytes: u32,
}

/// Answers by key. A key holds everything that the answer depends on, what the principal may see included.
#[derive(Debug)]
pub(crate) struct ResponseCache {
    entries: Cache<String, Entry>,
    clock: Arc<dyn Clock>,
    lifetime: Duration,
}

impl ResponseCache {
    /// A cache of at most `bytes`, whose answers are served for `lifetime` to requests that do not say how old is too old.
    pub(crate) fn new(bytes: u64, lifetime: Duration, clock: Arc<dyn Clock>) -> ResponseCache {
        let entries = Cache::builder()
            .max_capacity(bytes)
            .weigher(|key: &String, entry: &Entry| entry.bytes.saturating_add(key.len() as u32))
            .time_to_live(lifetime * 5)
            .build();
        ResponseCache {
            entries,
            clock,
            lifetime,
        }
    }

    /// The answer under `key`: from the cache where `control` allows it, else by running `compute`. Identical requests
    /// that arrive while one runs wait for it and share its answer.
    pub(crate) async fn get(
        &self,
        key: String,
        control: CacheControl,
        compute: impl Future<Output = Result<Cached, EngineError>>,
    ) -> Result<Answer<Cached>, EngineError> {
        if control.bypass || control.no_store || control.max_age == Some(0) {
            let answer = compute.await?;
            if !control.no_store {
                self.entries.insert(key, self.entry(&answer)).await;
            }
            return Ok(Answer {
                value: answer,
                age: None,
            });
        }
        let oldest = control.max_age.map_or(self.lifetime, Duration::from_secs);
        if let Some(entry) = self.entries.get(&key).await {
            let age = self.clock.elapsed().saturating_sub(entry.at);
            if age <= oldest {
                return Ok(Answer {
                    value: entry.answer,
                    age: Some(age.as_secs()),
                });
            }
            self.entries.invalidate(&key).await;
        }
        let compute = async { compute.await.map(|answer| self.entry(&answer)) };
        let entry = self
            .entries
            .try_get_with(key, compute)
            .await
            .map_err(|e: Arc<EngineError>| (*e).clone())?;
        Ok(Answer {
            value: entry.answer,
            age: None,
        })
    }

    fn entry(&self, answer: &Cached) -> Entry {
        let bytes = u32::try_from(answer.bytes()).unwrap_or(u32::MAX);
        Entry {
            answer: answer.clone(),
            at: self.clock.elapsed(),
            bytes,
        }
    }
}
