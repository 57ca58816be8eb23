//! The memory of request bodies: one byte budget for bodies as they arrive, decompressed bytes and what is decoded from them
//! (setting `http.body_memory`).
//!
//! The budget has fixed parts, so that none of them starves another: bodies that are arriving, whole bodies that wait, bodies of
//! queries, and telemetry that is decoded and stored.

pub(crate) mod receiving;
pub(crate) mod shares;

use std::sync::Arc;
use std::time::Duration;

use hindsight_store::AppId;

use receiving::Receiving;
use shares::Shares;

/// The owner of a body: the application of its first item, or none if that is unknown.
pub(crate) type Owner = Option<AppId>;

/// The budget and its parts.
pub(crate) struct BodyMemory {
    /// Bodies that are arriving: an eighth.
    pub(crate) receiving: Arc<Receiving>,
    /// Whole bodies of queries, by principal: an eighth.
    pub(crate) queries: Arc<Shares<Arc<str>>>,
    /// Telemetry that is decoded and stored, by application: five eighths. Whole bodies that wait for it have an eighth.
    pub(crate) telemetry: Arc<Shares<Owner>>,
}

/// What the settings say of bodies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyLimits {
    /// `http.body_memory`
    pub(crate) memory: usize,
    /// `http.max_bodies_per_address`
    pub(crate) per_address: usize,
    /// `ingest.concurrency`
    pub(crate) concurrency: usize,
    /// `ingest.queue`
    pub(crate) queue: usize,
    /// `ingest.queue_time`
    pub(crate) queue_time: Duration,
}

/// Bodies of queries of one principal that are held at once; the limits of running and waiting queries are lower.
const QUERIES: usize = 10_000;

impl BodyMemory {
    /// A budget within these limits.
    pub(crate) fn new(limits: BodyLimits) -> BodyMemory {
        let part = limits.memory / 8;
        BodyMemory {
            receiving: Receiving::new(part, limits.per_address),
            queries: Shares::new(shares::Limits {
                bytes: part,
                running: QUERIES,
                queue: 0,
                waiting_bytes: 0,
                queue_time: Duration::ZERO,
            }),
            telemetry: Shares::new(shares::Limits {
                bytes: 5 * part,
                running: limits.concurrency,
                queue: limits.queue,
                waiting_bytes: part,
                queue_time: limits.queue_time,
            }),
        }
    }
}
