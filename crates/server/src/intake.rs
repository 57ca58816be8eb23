//! One track request from its bytes to the disk, for HTTP and the command line.

use std::sync::Arc;

use axum::body::Bytes;
use hindsight_identity::Right;
use hindsight_store::{AppendRequest, StoreError, Table};

use crate::app::App;
use crate::auth::Principal;
use crate::bodies::Owner;
use crate::bodies::receiving::Arriving;
use crate::bodies::shares::{NoMemory, Share};
use crate::directory::{AppRecord, Snapshot};
use crate::ingest::body::{self, BodyError, Codec};
use crate::ingest::{self, AppBatches, Decoded, ItemError, ItemRules, KeyRefusal, Sender, Verdict};

/// Ticks of 100 ns.
fn ticks(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_nanos() / 100).unwrap_or(i64::MAX)
}

/// Memory of an item beside its share of the body: its row in columns, and what is said of it in the reply.
const ITEM: usize = 1536;
/// Memory of a request beside its body.
const BASE: usize = 64 << 10;
/// How much larger a packed body is expected to be when it is decompressed.
const EXPANSION: usize = 16;

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

/// Decodes, judges and stores a request; returns when what was accepted is on disk.
///
/// The request waits for its application's share of memory, and is refused with 503 if it waits too long.
pub(crate) async fn take(
    app: &Arc<App>,
    body: PackedBody,
    sender: Sender,
    principal: Option<Principal>,
) -> Result<Verdict, BodyError> {
    let request = Arc::new(Request {
        codec: body.codec,
        body: body.bytes,
        sender,
        principal,
    });
    match run(app, request, body.arriving).await {
        Ok(verdict) | Err(Refused::Whole(verdict)) => Ok(verdict),
        Err(Refused::Body(error)) => Err(error),
        Err(Refused::Needs(_)) => {
            let limit = app.bodies.telemetry.limit();
            Ok(no_memory(NoMemory::TooLarge { limit }))
        }
    }
}

async fn run(
    app: &Arc<App>,
    request: Arc<Request>,
    arriving: Option<Arriving>,
) -> Result<Verdict, Refused> {
    let directory = app.directory.snapshot().await.map_err(unreachable)?;
    let owner = request.owner(app, &directory);
    let body = request.body.len();
    let expected = request.expected_memory(app.settings.ingest_max_decompressed_bytes);
    let mut needed = expected.min(app.bodies.telemetry.limit());
    // From here on the body counts among those that wait, and then in its share.
    drop(arriving);
    // Once with what is expected, once with what decompression needs, and once with what the items need.
    for _ in 0..2 {
        let share = enter(app, owner, needed, body).await?;
        match store_with(app, &request, &directory, share).await {
            Err(Refused::Needs(bytes)) => needed = bytes,
            outcome => return outcome,
        }
    }
    let share = enter(app, owner, needed, body).await?;
    store_with(app, &request, &directory, share).await
}

async fn enter(
    app: &App,
    owner: Owner,
    needed: usize,
    body: usize,
) -> Result<Share<Owner>, Refused> {
    let entered = app.bodies.telemetry.enter(owner, needed, body).await;
    entered.map_err(|why| Refused::Whole(no_memory(why)))
}

async fn store_with(
    app: &Arc<App>,
    request: &Arc<Request>,
    directory: &Arc<Snapshot>,
    share: Share<Owner>,
) -> Result<Verdict, Refused> {
    let decoded = decode_fresh(app, request.clone(), directory.clone(), &share).await?;
    Ok(store(app, decoded, &share).await)
}

fn no_memory(why: NoMemory) -> Verdict {
    metrics::counter!("hindsight_ingest_requests_refused_total").increment(1);
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

struct Request {
    codec: Codec,
    body: Bytes,
    sender: Sender,
    /// The sender, if the request had a credential; then each item needs a right too.
    principal: Option<Principal>,
}

impl Request {
    /// The application whose share of the memory the request uses: that of its first item, if it takes telemetry of this sender.
    fn owner(&self, app: &App, directory: &Snapshot) -> Owner {
        let key = ingest::first_key(self.codec, &self.body)?;
        let found = find_app(app, directory, self.principal.as_ref(), &key, app.now());
        found.ok().map(|record| record.id)
    }

    /// The memory that the request is expected to need.
    fn expected_memory(&self, limit: usize) -> usize {
        let packed = self.body.len();
        let plain = match self.codec {
            Codec::Identity => packed,
            _ => limit.min(packed.saturating_mul(EXPANSION)),
        };
        memory(packed, plain, plain / 512)
    }

    /// The plain bytes that fit into so much memory.
    fn room(&self, memory: usize) -> usize {
        memory.saturating_sub(self.body.len() + BASE) / 3
    }
}

/// The memory of a request: the body as it came, decompressed, in columns and in the log's form.
fn memory(packed: usize, plain: usize, items: usize) -> usize {
    BASE + packed + 3 * plain + ITEM * items
}

fn unreachable(error: StoreError) -> Refused {
    Refused::Whole(Verdict::refused(0, 503, unavailable(&error)))
}

/// Decodes with the current snapshot and, if a key was unknown, once more if the catalogue has changed since.
async fn decode_fresh(
    app: &Arc<App>,
    request: Arc<Request>,
    directory: Arc<Snapshot>,
    share: &Share<Owner>,
) -> Result<Decoded, Refused> {
    let decoded = decode_blocking(app, request.clone(), directory.clone(), share).await?;
    if !decoded.unknown_key {
        return Ok(decoded);
    }
    let current = app.directory.current().await.map_err(unreachable)?;
    if Arc::ptr_eq(&directory, &current) {
        return Ok(decoded);
    }
    drop(decoded);
    decode_blocking(app, request, current, share).await
}

/// Decodes on a thread for blocking work.
async fn decode_blocking(
    app: &Arc<App>,
    request: Arc<Request>,
    directory: Arc<Snapshot>,
    share: &Share<Owner>,
) -> Result<Decoded, Refused> {
    let turn = share.decoding().await;
    let (app, memory) = (app.clone(), share.bytes());
    let work = move || {
        let _turn = turn;
        decode(&app, &request, &directory, memory)
    };
    tokio::task::spawn_blocking(work)
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

enum Refused {
    Body(BodyError),
    Whole(Verdict),
    /// So many bytes of memory are needed.
    Needs(usize),
}

/// Decodes a request within a memory reservation.
fn decode(
    app: &App,
    request: &Request,
    directory: &Snapshot,
    granted: usize,
) -> Result<Decoded, Refused> {
    let settings = &app.settings;
    let limit = settings.ingest_max_decompressed_bytes;
    let (packed, room) = (request.body.len(), request.room(granted));
    let plain = match body::decode_within(request.codec, &request.body, limit, room) {
        Ok(plain) => plain,
        Err(BodyError::NeedsRoom { bytes }) => {
            let expected = memory(packed, bytes, bytes / 512);
            return Err(Refused::Needs(expected.min(app.bodies.telemetry.limit())));
        }
        Err(error) => return Err(Refused::Body(error)),
    };
    let received = ingest::count(&plain);
    if received == 0 {
        return Err(Refused::Whole(Verdict::refused(
            0,
            400,
            "The body holds no telemetry items",
        )));
    }
    if received > settings.ingest_max_items {
        let limit = settings.ingest_max_items;
        let message = format!(
            "The request has {received} items, more than the limit of {limit} (`ingest.max_items`)"
        );
        return Err(Refused::Whole(Verdict::refused(received, 413, message)));
    }
    let needed = memory(packed, plain.len(), received);
    if needed > granted {
        return Err(Refused::Needs(needed));
    }
    let now = app.now();
    let rules = ItemRules {
        now,
        clock_is_trusted: app.store.clock_trust().is_trusted(),
        max_age: ticks(settings.ingest_max_age.unwrap_or(settings.retention)),
        max_ahead: ticks(settings.ingest_max_ahead),
        max_item_bytes: settings.ingest_max_item_bytes,
    };
    let principal = request.principal.as_ref();
    let find = |ikey: &str| find_app(app, directory, principal, ikey, now);
    let decoded = ingest::decode(&plain, &rules, &request.sender, &find).map_err(|error| {
        tracing::error!(%error, "telemetry does not fit its schema");
        Refused::Whole(Verdict::refused(
            received,
            500,
            "The items could not be put into columns",
        ))
    })?;
    Ok(decoded)
}

/// The application of an instrumentation key, if it takes telemetry now.
fn find_app(
    app: &App,
    directory: &Snapshot,
    principal: Option<&Principal>,
    ikey: &str,
    now: i64,
) -> Result<Arc<AppRecord>, KeyRefusal> {
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

/// Stores each application's rows. A failure concerns the items of that application alone.
async fn store(app: &Arc<App>, decoded: Decoded, share: &Share<Owner>) -> Verdict {
    let Decoded {
        received,
        apps,
        mut errors,
        unknown_key: _,
    } = decoded;
    let only = match apps.as_slice() {
        [one] => Some(one.app.to_string()),
        _ => None,
    };
    let mut accepted = 0;
    for AppBatches {
        app: id,
        items,
        batches,
    } in apps
    {
        let bytes: usize = batches
            .iter()
            .map(|(_, batch)| batch.get_array_memory_size())
            .sum();
        let tables: Vec<Table> = batches.iter().map(|(table, _)| *table).collect();
        let turn = share.log(bytes).await;
        let appended = app.store.append(AppendRequest { app: id, batches }).await;
        drop(turn);
        match appended {
            Ok(_) => {
                app.replies.note_arrival(id, tables.into_iter());
                accepted += items.len();
                let elapsed = app.clock.elapsed();
                if app.daily.add(id, bytes as u64, app.now(), elapsed) {
                    let app = app.clone();
                    tokio::task::spawn_blocking(move || app.daily.save());
                }
            }
            Err(error) => {
                let (status, message) = (503, unavailable(&error));
                errors.extend(items.into_iter().map(|index| ItemError {
                    index,
                    status,
                    message: message.clone(),
                }));
            }
        }
    }
    errors.sort_by_key(|error| error.index);
    Verdict {
        items_received: received,
        items_accepted: accepted,
        app_id: only.filter(|_| accepted > 0),
        errors,
    }
}

/// The message for the sender; details of this machine go to the log.
fn unavailable(error: &StoreError) -> String {
    tracing::warn!(%error, "telemetry could not be stored");
    match error {
        StoreError::Overloaded { .. } => "The store is overloaded; try again later".to_owned(),
        StoreError::ReadOnly { .. } => "The store is read-only at the moment".to_owned(),
        _ => "The telemetry could not be stored; try again later".to_owned(),
    }
}
