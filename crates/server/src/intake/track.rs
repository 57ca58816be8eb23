//! Track requests: envelopes of the classic protocol.

use std::sync::Arc;

use axum::body::Bytes;
use hindsight_ingest::body::{BodyError, Codec};
use hindsight_ingest::{Decoded, Expected, ItemError, ItemRules, Outlook, Sender};

use super::{
    ITEM, PackedBody, Refused, Verdict, append, decoding, decompress, find_app, memory, no_memory,
    unreachable, window, with_share,
};
use crate::app::App;
use crate::auth::Principal;
use crate::bodies::Owner;
use crate::bodies::shares::{NoMemory, Share};
use crate::directory::{AppRecord, Snapshot};

struct Request {
    codec: Codec,
    body: Bytes,
    sender: Sender,
    /// The sender, if the request had a credential; then each item needs a right too.
    principal: Option<Principal>,
}

/// Whose requests are refused because too many wait. Theirs are told by their beginning, before they have arrived: at a hundred times the
/// capacity the refusals cost time that the requests before them need.
pub(crate) struct Full<'a> {
    app: &'a App,
    directory: Option<Arc<Snapshot>>,
    codec: Codec,
    principal: Option<&'a Principal>,
}

impl<'a> Full<'a> {
    /// As it is now.
    pub(crate) async fn now(
        app: &'a App,
        codec: Codec,
        principal: Option<&'a Principal>,
    ) -> Full<'a> {
        let directory = if app.bodies.telemetry.is_any_full() {
            app.directory.snapshot().await.ok()
        } else {
            None
        };
        Full {
            app,
            directory,
            codec,
            principal,
        }
    }

    /// Whether a request whose packed body begins so is refused. One that does not tell whose it is may not be.
    pub(crate) fn refuses(&self, beginning: &[u8]) -> bool {
        let Some(directory) = &self.directory else {
            return false;
        };
        let key = Outlook::of(self.codec, beginning).key();
        let owner = owner(self.app, directory, self.principal, key.as_deref());
        owner.is_some() && self.app.bodies.telemetry.is_full(&owner)
    }

    /// The verdict for such a request.
    pub(crate) fn verdict() -> Verdict {
        no_memory(NoMemory::Full)
    }
}

/// The application whose share of the memory a request uses: that of its first item, if it takes telemetry of this sender.
fn owner(
    app: &App,
    directory: &Snapshot,
    principal: Option<&Principal>,
    key: Option<&str>,
) -> Owner {
    let found = find_app(app, directory, principal, key?, app.now());
    found.ok().map(|record| record.id)
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
    // From here on the body counts among those that wait, and then in its share.
    drop(body.arriving);
    match run(app, request).await {
        Ok(verdict) | Err(Refused::Whole(verdict)) => Ok(verdict),
        Err(Refused::Body(error)) => Err(error),
        Err(Refused::Needs(_)) => {
            let limit = app.bodies.telemetry.limit();
            Ok(no_memory(NoMemory::TooLarge { limit }))
        }
    }
}

async fn run(app: &Arc<App>, request: Arc<Request>) -> Result<Verdict, Refused> {
    let directory = app.directory.snapshot().await.map_err(unreachable)?;
    let (owner, expected) = outlook(app, &request, &directory)?;
    let body = request.body.len();
    with_share(app, owner, expected, body, |share| {
        let (app, request, directory) = (app.clone(), request.clone(), directory.clone());
        async move {
            let decoded = decode_fresh(&app, request, directory, &share).await?;
            Ok(store(&app, decoded, &share).await)
        }
    })
    .await
}

/// Whose memory the request uses, and how much it is expected to need. While the owner's queue is full, only whose request it is is found
/// out: many requests are refused then, and each costs time that those before it need.
fn outlook(app: &App, request: &Request, directory: &Snapshot) -> Result<(Owner, usize), Refused> {
    let mut outlook = Outlook::of(request.codec, &request.body);
    let key = outlook.key();
    let owner = owner(app, directory, request.principal.as_ref(), key.as_deref());
    if app.bodies.telemetry.is_full(&owner) {
        return Err(Refused::Whole(no_memory(NoMemory::Full)));
    }
    let settings = &app.settings;
    let Expected { plain, items } = outlook.expected(settings.ingest_max_decompressed_bytes);
    let items = items.min(settings.ingest_max_items);
    Ok((owner, memory(request.body.len(), plain, items)))
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

async fn decode_blocking(
    app: &Arc<App>,
    request: Arc<Request>,
    directory: Arc<Snapshot>,
    share: &Share<Owner>,
) -> Result<Decoded, Refused> {
    let (app, granted) = (app.clone(), share.bytes());
    decoding(share, move || decode(&app, &request, &directory, granted)).await
}

/// Decodes a request within a memory reservation.
fn decode(
    app: &App,
    request: &Request,
    directory: &Snapshot,
    granted: usize,
) -> Result<Decoded, Refused> {
    let settings = &app.settings;
    let packed = request.body.len();
    let plain = decompress(app, request.codec, &request.body, granted)?;
    let fixed = memory(packed, plain.len(), 0);
    let fitting = granted.saturating_sub(fixed) / ITEM;
    let (items, received) = hindsight_ingest::split(&plain, fitting.min(settings.ingest_max_items));
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
    if items.len() < received {
        return Err(Refused::Needs(memory(packed, plain.len(), received)));
    }
    let now = app.now();
    let rules = ItemRules {
        window: window(settings, now),
        clock_is_trusted: app.store.clock_trust().is_trusted(),
        max_item_bytes: settings.ingest_max_item_bytes,
    };
    let principal = request.principal.as_ref();
    let find = |ikey: &str| find_app(app, directory, principal, ikey, now).map(AppRecord::owner);
    let decoded =
        hindsight_ingest::decode(&items, &rules, &request.sender, &find).map_err(|error| {
            tracing::error!(%error, "telemetry does not fit its schema");
            Refused::Whole(Verdict::refused(
                received,
                500,
                "The items could not be put into columns",
            ))
        })?;
    Ok(decoded)
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
    for rows in apps {
        let items = rows.items.clone();
        match append(app, share, rows).await {
            Ok(count) => accepted += count,
            Err(message) => errors.extend(items.into_iter().map(|index| ItemError {
                index,
                status: 503,
                message: message.clone(),
            })),
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
