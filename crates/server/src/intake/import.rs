//! Imports: lines with the columns of a table, of any age that is kept. Items that are there already are not stored again.

use std::sync::Arc;

use axum::body::Bytes;
use hindsight_ingest::ItemError;
use hindsight_ingest::body::Codec;
use hindsight_rows::AppColumns;
use hindsight_store::{AppendRequest, RetentionRules, StoreError, Table};

use super::{
    PackedBody, Refused, Verdict, decoding, decompress, expected_memory, memory, no_memory, ticks,
    unavailable, unreachable, with_share,
};
use crate::app::App;
use crate::bodies::Owner;
use crate::bodies::shares::{NoMemory, Share};
use crate::directory::AppRecord;
use crate::import::columns::{self, ImportRules, Imported};

/// How much longer than an item as it is sent its line may be: several columns may repeat one of its texts.
const LINE_FACTOR: usize = 4;

/// The outcome of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ImportOutcome {
    /// Lines of the request.
    pub(crate) received: usize,
    /// Items that were stored.
    pub(crate) stored: usize,
    /// Items that were there already.
    pub(crate) duplicates: usize,
    /// Lines that were refused, by their index.
    pub(crate) errors: Vec<(usize, String)>,
}

struct Request {
    codec: Codec,
    body: Bytes,
    record: Arc<AppRecord>,
    rules: RetentionRules,
}

/// Stores the lines of a body as items of an application; returns when they are on disk. The items count against no daily cap.
///
/// # Errors
/// Why nothing was stored; the request may be repeated.
pub(crate) async fn import(
    app: &Arc<App>,
    body: PackedBody,
    record: Arc<AppRecord>,
) -> Result<ImportOutcome, ItemError> {
    let rules = app.store.retention_rules().await;
    let outcome = match rules {
        Ok(rules) => {
            let request = Arc::new(Request {
                codec: body.codec,
                body: body.bytes,
                record,
                rules,
            });
            drop(body.arriving);
            run(app, request).await
        }
        Err(error) => Err(unreachable(error)),
    };
    outcome.map_err(|refused| {
        let verdict = match refused {
            Refused::Whole(verdict) => verdict,
            Refused::Body(error) => Verdict::refused(0, 400, error.to_string()),
            Refused::Needs(_) => no_memory(NoMemory::TooLarge {
                limit: app.bodies.telemetry.limit(),
            }),
        };
        let first = verdict.errors.into_iter().next();
        first.unwrap_or_else(|| ItemError {
            index: 0,
            status: 500,
            message: "the import failed".to_owned(),
        })
    })
}

async fn run(app: &Arc<App>, request: Arc<Request>) -> Result<ImportOutcome, Refused> {
    let limit = app.settings.ingest_max_decompressed_bytes;
    let expected = expected_memory(request.codec, &request.body, limit);
    let owner = Some(request.record.id);
    with_share(app, owner, expected, request.body.len(), |share| {
        let (app, request) = (app.clone(), request.clone());
        async move {
            let (blocking, of) = (app.clone(), request.clone());
            let granted = share.bytes();
            let decoded = decoding(&share, move || decode(&blocking, &of, granted)).await?;
            store(&app, &request.record, decoded, &share).await
        }
    })
    .await
}

fn decode(app: &App, request: &Request, granted: usize) -> Result<Imported, Refused> {
    let plain = decompress(app, request.codec, &request.body, granted)?;
    let lines = plain.split(|byte| *byte == b'\n').count();
    if lines > app.settings.ingest_max_items {
        let limit = app.settings.ingest_max_items;
        let message = format!(
            "The request has {lines} lines, more than the limit of {limit} (`ingest.max_items`)"
        );
        return Err(Refused::Whole(Verdict::refused(0, 413, message)));
    }
    let needed = memory(request.body.len(), plain.len(), lines);
    if needed > granted {
        return Err(Refused::Needs(needed));
    }
    let (record, now) = (&request.record, app.now());
    let rules = ImportRules {
        app: AppColumns {
            id: &record.id_text,
            name: &record.name,
            ikey: &record.ikey,
            resource_id: &record.resource_id,
        },
        oldest: &|table| now.saturating_sub(request.rules.age(record.id, table)),
        latest: now.saturating_add(ticks(app.settings.ingest_max_ahead)),
        max_line_bytes: LINE_FACTOR * app.settings.ingest_max_item_bytes,
    };
    columns::decode(&plain, &rules).map_err(|error| {
        tracing::error!(%error, "imported items do not fit their schema");
        Refused::Whole(Verdict::refused(
            0,
            500,
            "The items could not be put into columns",
        ))
    })
}

async fn store(
    app: &Arc<App>,
    record: &AppRecord,
    decoded: Imported,
    share: &Share<Owner>,
) -> Result<ImportOutcome, Refused> {
    let Imported {
        batches,
        received,
        refused,
    } = decoded;
    let arrays = batches.iter().map(|(_, batch)| batch);
    let bytes = arrays.map(|batch| batch.get_array_memory_size()).sum();
    let tables: Vec<Table> = batches.iter().map(|(table, _)| *table).collect();
    let turn = share.log(bytes).await;
    let request = AppendRequest {
        app: record.id,
        batches,
    };
    let appended = app.store.append_unique(request).await;
    drop(turn);
    let done = appended.map_err(|error| match error {
        StoreError::Uncertain { .. } => Refused::Whole(Verdict::refused(0, 400, error.to_string())),
        error => Refused::Whole(Verdict::refused(0, 503, unavailable(&error))),
    })?;
    if done.stored > 0 {
        app.replies.note_arrival(record.id, tables.into_iter());
    }
    Ok(ImportOutcome {
        received,
        stored: done.stored,
        duplicates: done.duplicates,
        errors: refused,
    })
}
