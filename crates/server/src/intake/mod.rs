//! Telemetry from a request's bytes to the disk, for every ingestion protocol.
//!
//! A request waits for its application's share of memory, is decoded within it on a thread for blocking work, and its rows are
//! appended to the log. `track.rs` and `otlp.rs` have what differs between the protocols.

mod import;
pub(crate) mod otlp;
pub(crate) mod series;
mod track;
mod verdict;

use std::sync::Arc;

use axum::body::Bytes;
use hindsight_identity::Right;
use hindsight_ingest::KeyRefusal;
use hindsight_ingest::body::{self, BodyError, Codec};
use hindsight_rows::{AppBatches, Window};
use hindsight_store::{AppendRequest, StoreError, Table};

pub(crate) use import::{ImportOutcome, import};
pub(crate) use track::{Full, take};
pub(crate) use verdict::Verdict;

use crate::app::App;
use crate::auth::Principal;
use crate::bodies::Owner;
use crate::bodies::receiving::Arriving;
use crate::bodies::shares::{NoMemory, Place, Share};
use crate::config::Settings;
use crate::directory::{AppRecord, Snapshot};
use crate::moderation;

/// Ticks of 100 ns.
fn ticks(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_nanos() / 100).unwrap_or(i64::MAX)
}

/// The times that items may have.
fn window(settings: &Settings, now: i64) -> Window {
    Window {
        now,
        max_age: ticks(settings.ingest_max_age.unwrap_or(settings.retention)),
        max_ahead: ticks(settings.ingest_max_ahead),
    }
}

/// Memory of an item beside its share of the body: its row in columns, and what is said of it in the reply.
const ITEM: usize = 1536;
/// Memory of a request beside its body.
const BASE: usize = 64 << 10;

/// A body as it was received.
pub(crate) struct PackedBody {
    /// How it is packed.
    pub(crate) codec: Codec,
    /// Its bytes.
    pub(crate) bytes: Bytes,
    /// The memory that it holds as an arriving body.
    pub(crate) arriving: Option<Arriving>,
}

impl PackedBody {
    /// A body of this process.
    pub(crate) fn plain(bytes: Bytes) -> PackedBody {
        PackedBody {
            codec: Codec::Identity,
            bytes,
            arriving: None,
        }
    }
}

/// Why a request is not stored.
enum Refused {
    /// Its body cannot be decompressed.
    Body(BodyError),
    /// All of it, for one reason.
    Whole(Verdict),
    /// The request needs a reservation of this number of bytes.
    Needs(usize),
}

/// Does `work` with a share of memory: once with what is expected, once with what decompression needs, and once with what the items
/// need. `body`: bytes of the body, which counts among those that wait.
async fn with_share<T, F>(
    app: &App,
    owner: Owner,
    expected: usize,
    body: usize,
    work: impl Fn(Share<Owner>) -> F,
) -> Result<T, Refused>
where
    F: Future<Output = Result<T, Refused>>,
{
    let mut needed = expected.min(app.bodies.telemetry.limit());
    // The work of a request that has begun is lost if it is refused: it waits before those that have not.
    for place in [Place::Last, Place::First] {
        let share = enter(app, owner, needed, body, place).await?;
        match work(share).await {
            Err(Refused::Needs(bytes)) => needed = bytes,
            outcome => return outcome,
        }
    }
    work(enter(app, owner, needed, body, Place::First).await?).await
}

async fn enter(
    app: &App,
    owner: Owner,
    needed: usize,
    body: usize,
    place: Place,
) -> Result<Share<Owner>, Refused> {
    let shares = &app.bodies.telemetry;
    let entered = shares.enter_at(place, owner, needed, body).await;
    entered.map_err(|why| Refused::Whole(no_memory(why)))
}

fn no_memory(why: NoMemory) -> Verdict {
    metrics::counter!("hindsight_ingest_requests_refused_total").increment(1);
    moderation::refused();
    match why {
        NoMemory::TooLarge { limit } => Verdict::refused(
            0,
            413,
            format!(
                "The body needs more memory than {limit} bytes, five eighths of `http.body_memory`, when it is decoded"
            ),
        ),
        NoMemory::Full => Verdict::refused(
            0,
            503,
            "Too many ingestion requests wait (`ingest.queue`, `http.body_memory`); try again later",
        ),
        NoMemory::Late => Verdict::refused(
            0,
            503,
            "The request waited too long to be stored (`ingest.queue_time`); try again later",
        ),
    }
}

/// The memory of a request: the body as it came, decompressed, in columns and in the log's form.
fn memory(packed: usize, plain: usize, items: usize) -> usize {
    BASE + packed + 3 * plain + ITEM * items
}

fn unreachable(error: StoreError) -> Refused {
    Refused::Whole(Verdict::refused(0, 503, unavailable(&error)))
}

/// The memory that a packed body is expected to need.
fn expected_memory(codec: Codec, packed: &[u8], limit: usize) -> usize {
    let plain = body::expected_size(codec, packed).min(limit);
    memory(packed.len(), plain, plain / 512)
}

/// The plain bytes that fit into so much memory.
fn room(memory: usize, packed: usize) -> usize {
    memory.saturating_sub(packed + BASE) / 3
}

/// Decompresses a body within a memory reservation.
fn decompress<'b>(
    app: &App,
    codec: Codec,
    packed: &'b [u8],
    granted: usize,
) -> Result<std::borrow::Cow<'b, [u8]>, Refused> {
    let limit = app.settings.ingest_max_decompressed_bytes;
    let room = room(granted, packed.len());
    match body::decode_within(codec, packed, limit, room) {
        Ok(plain) => Ok(plain),
        Err(BodyError::NeedsRoom { bytes }) => {
            let expected = memory(packed.len(), bytes, bytes / 512);
            Err(Refused::Needs(expected.min(app.bodies.telemetry.limit())))
        }
        Err(error) => Err(Refused::Body(error)),
    }
}

/// Decodes on a thread for blocking work, in the turn of the share's owner.
async fn decoding<T: Send + 'static>(
    share: &Share<Owner>,
    decode: impl FnOnce() -> Result<T, Refused> + Send + 'static,
) -> Result<T, Refused> {
    let turn = moderation::promptly(share.decoding()).await;
    let work = move || {
        let _turn = turn;
        decode()
    };
    moderation::promptly(tokio::task::spawn_blocking(work))
        .await
        .unwrap_or_else(|error| {
            tracing::error!(%error, "decoding failed");
            Err(Refused::Whole(Verdict::refused(
                0,
                500,
                "The request could not be decoded",
            )))
        })
}

/// The application of an instrumentation key, if it takes telemetry now.
fn find_app<'d>(
    app: &App,
    directory: &'d Snapshot,
    principal: Option<&Principal>,
    ikey: &str,
    now: i64,
) -> Result<&'d AppRecord, KeyRefusal> {
    let record = directory.by_ikey(ikey);
    // A sender with a credential learns nothing of applications outside of its rights.
    if let Some(principal) = principal {
        let may = match &record {
            Some(record) => principal.may(record.id, Right::Ingest),
            None => principal.may_everywhere(Right::Ingest),
        };
        if !may {
            return Err(KeyRefusal::Forbidden);
        }
    }
    let record = record.ok_or(KeyRefusal::Unknown)?;
    match record.daily_cap_bytes {
        Some(cap) if app.daily.bytes(record.id, now) >= cap => Err(KeyRefusal::CapSpent { cap }),
        _ => Ok(record),
    }
}

/// Appends the rows of one application to the log; returns when they are on disk. A failure is a message for the sender.
async fn append(app: &Arc<App>, share: &Share<Owner>, rows: AppBatches) -> Result<usize, String> {
    let AppBatches {
        app: id,
        items,
        batches,
    } = rows;
    let bytes: usize = batches
        .iter()
        .map(|(_, batch)| batch.get_array_memory_size())
        .sum();
    let tables: Vec<Table> = batches.iter().map(|(table, _)| *table).collect();
    let append = async {
        let _turn = share.log(bytes).await;
        app.store.append(AppendRequest { app: id, batches }).await
    };
    let appended = moderation::promptly(append).await;
    appended.map_err(|error| unavailable(&error))?;
    app.replies.note_arrival(id, tables.into_iter());
    let elapsed = app.clock.elapsed();
    if app.daily.add(id, bytes as u64, app.now(), elapsed) {
        let app = app.clone();
        tokio::task::spawn_blocking(move || app.daily.save());
    }
    Ok(items.len())
}

/// The message for the sender; details of this machine go to the log.
fn unavailable(error: &StoreError) -> String {
    tracing::warn!(%error, "telemetry could not be stored");
    match error {
        StoreError::Overloaded { .. } => "The store is overloaded; try again later".to_owned(),
        StoreError::ReadOnly { .. } => "The store is read-only at the moment".to_owned(),
        StoreError::Joining => {
            "The node is joining the others; try again in a few seconds".to_owned()
        }
        StoreError::NoCopy { .. } => {
            "No other node has a second copy of the log at the moment; try again later".to_owned()
        }
        StoreError::NotWithNodes { .. } => error.to_string(),
        _ => "The telemetry could not be stored; try again later".to_owned(),
    }
}
