//! One track request from its bytes to the disk, for HTTP and the command line.

use std::sync::Arc;

use axum::body::Bytes;
use hindsight_identity::Right;
use hindsight_store::{AppendRequest, StoreError};

use crate::app::App;
use crate::auth::Principal;
use crate::directory::{AppRecord, Snapshot};
use crate::ingest::body::{self, BodyError, Codec};
use crate::ingest::{self, AppBatches, Decoded, ItemError, ItemRules, KeyRefusal, Sender, Verdict};

/// Ticks of 100 ns.
fn ticks(duration: std::time::Duration) -> i64 {
    i64::try_from(duration.as_nanos() / 100).unwrap_or(i64::MAX)
}

/// Decodes, judges and stores a request; returns when what was accepted is on disk.
pub(crate) async fn take(
    app: &Arc<App>,
    codec: Codec,
    body: Bytes,
    sender: Sender,
    principal: Option<Principal>,
) -> Result<Verdict, BodyError> {
    let request = Request {
        codec,
        body,
        sender,
        principal,
    };
    match decode_fresh(app, Arc::new(request)).await {
        Ok(decoded) => Ok(store(app, decoded).await),
        Err(Refused::Body(error)) => Err(error),
        Err(Refused::Whole(verdict)) => Ok(verdict),
    }
}

struct Request {
    codec: Codec,
    body: Bytes,
    sender: Sender,
    /// The sender, if the request had a credential; then each item needs a right too.
    principal: Option<Principal>,
}

/// Decodes with the current snapshot and, if a key was unknown, once more if the catalogue has changed since.
async fn decode_fresh(app: &Arc<App>, request: Arc<Request>) -> Result<Decoded, Refused> {
    let unreachable =
        |error: StoreError| Refused::Whole(Verdict::refused(0, 503, unavailable(&error)));
    let directory = app.directory.snapshot().await.map_err(unreachable)?;
    let decoded = decode_blocking(app, request.clone(), directory.clone()).await?;
    if !decoded.unknown_key {
        return Ok(decoded);
    }
    let current = app.directory.current().await.map_err(unreachable)?;
    if Arc::ptr_eq(&directory, &current) {
        return Ok(decoded);
    }
    decode_blocking(app, request, current).await
}

/// Decodes on a thread for blocking work.
async fn decode_blocking(
    app: &Arc<App>,
    request: Arc<Request>,
    directory: Arc<Snapshot>,
) -> Result<Decoded, Refused> {
    let app = app.clone();
    let work = move || decode(&app, &request, &directory);
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
}

fn decode(app: &App, request: &Request, directory: &Snapshot) -> Result<Decoded, Refused> {
    let settings = &app.settings;
    let limit = settings.ingest_max_decompressed_bytes;
    let plain = body::decode(request.codec, &request.body, limit).map_err(Refused::Body)?;
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
async fn store(app: &Arc<App>, decoded: Decoded) -> Verdict {
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
        match app.store.append(AppendRequest { app: id, batches }).await {
            Ok(_) => {
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
