//! Requests of OpenTelemetry: which application takes each resource, and its items as rows.

use std::sync::Arc;

use axum::body::Bytes;
use hindsight_identity::Right;
use hindsight_ingest::Beginning;
use hindsight_ingest::body::{BodyError, Codec};
use hindsight_otlp::{
    Browser, Changes, Context, DimensionRules, Encoding, MapError, Report, ResourceOutline,
    SeriesLimits, Signal, Sink, Staged,
};
use hindsight_rows::{AppBatches, Owner as Taker};
use hindsight_store::AppId;

use super::series::Locked;
use super::{
    BASE, ITEM, PackedBody, Refused, Verdict, append, decoding, decompress, expected_memory,
    memory, no_memory, ticks, unreachable, window, with_share,
};
use crate::app::App;
use crate::auth::Principal;
use crate::bodies::Owner;
use crate::bodies::shares::{NoMemory, Share};
use crate::directory::{AppRecord, Snapshot};

/// The most bytes that each row repeats of its resource and scope: six texts of 1,024 characters.
const REPEATED: usize = 24 << 10;
/// Bytes of a body in which an instrumentation key is looked for.
const BEGINNING: usize = 8 << 10;
/// The attribute of a resource that names its instrumentation key, as far as both names agree.
const KEY_NAMES: [&[u8]; 2] = [b"microsoft.instrumentation_key", b"ai.instrumentationKey"];
/// Characters of an instrumentation key.
const KEY: usize = 36;

/// A request, as its transport delivers it.
pub(crate) struct Export {
    /// What it carries.
    pub(crate) signal: Signal,
    /// How it is written.
    pub(crate) encoding: Encoding,
    /// The instrumentation key of a header or of the URL.
    pub(crate) key: Option<String>,
    /// The sender, if the request had a credential.
    pub(crate) principal: Option<Principal>,
    /// The browser that sends, if one does.
    pub(crate) browser: Option<Browser>,
}

/// What became of a request.
#[derive(Debug, Default)]
pub(crate) struct Exported {
    /// Items that are not stored.
    pub(crate) rejected: usize,
    /// Items that are on disk now, or that have no row.
    pub(crate) accepted: usize,
    /// Why the first item is not stored, or what the sender should know otherwise.
    pub(crate) message: Option<String>,
}

/// Why nothing of a request is stored.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// As the status of HTTP.
    pub(crate) status: u16,
    /// A sentence.
    pub(crate) message: String,
}

impl Refusal {
    fn new(status: u16, message: impl Into<String>) -> Refusal {
        let message = message.into();
        Refusal { status, message }
    }

    fn into_refused(self) -> Refused {
        Refused::Whole(Verdict::refused(0, self.status, self.message))
    }
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Refusal {
        match refused {
            Refused::Body(error) => {
                let status = match error {
                    BodyError::TooLarge { .. } => 413,
                    BodyError::Unsupported(_) => 415,
                    BodyError::Corrupt(_) => 400,
                    BodyError::NeedsRoom { .. } => 503,
                };
                Refusal::new(status, error.to_string())
            }
            Refused::Whole(verdict) => {
                let first = verdict.errors.into_iter().next();
                first.map_or_else(
                    || Refusal::new(500, "The request was refused"),
                    |error| Refusal::new(error.status, error.message),
                )
            }
            Refused::Needs(_) => Refusal::new(413, "The request needs too much memory"),
        }
    }
}

/// Maps and stores a request; returns when what was accepted is on disk.
///
/// # Errors
/// [`Refusal`]: nothing is stored.
pub(crate) async fn take(
    app: &Arc<App>,
    body: PackedBody,
    export: Export,
) -> Result<Exported, Refusal> {
    let request = Arc::new(Request {
        export,
        codec: body.codec,
        body: body.bytes,
    });
    drop(body.arriving);
    // A client that goes away must not part the rows that are stored from the series that they change.
    let (app, request) = (app.clone(), request);
    let work = async move {
        match run(&app, request).await {
            Err(Refused::Needs(_)) => {
                let limit = app.bodies.telemetry.limit();
                Err(Refused::Whole(no_memory(NoMemory::TooLarge { limit })))
            }
            outcome => outcome,
        }
    };
    match tokio::spawn(work).await {
        Ok(outcome) => outcome.map_err(Refusal::from),
        Err(error) => {
            tracing::error!(%error, "an OpenTelemetry request failed");
            Err(Refusal::new(500, "The request could not be stored"))
        }
    }
}

struct Request {
    export: Export,
    codec: Codec,
    body: Bytes,
}

async fn run(app: &Arc<App>, request: Arc<Request>) -> Result<Exported, Refused> {
    let directory = app.directory.snapshot().await.map_err(unreachable)?;
    let owner = request.owner(app, &directory);
    let limit = app.settings.ingest_max_decompressed_bytes;
    let expected = expected_memory(request.codec, &request.body, limit);
    with_share(app, owner, expected, request.body.len(), |share| {
        let (app, request, directory) = (app.clone(), request.clone(), directory.clone());
        async move {
            let mapped = map_fresh(&app, request, directory, &share).await?;
            store(&app, mapped, &share).await
        }
    })
    .await
}

/// Maps with the current snapshot and, if a key was unknown, once more if the catalogue has changed since.
async fn map_fresh(
    app: &Arc<App>,
    request: Arc<Request>,
    directory: Arc<Snapshot>,
    share: &Share<Owner>,
) -> Result<Mapped, Refused> {
    let granted = share.bytes();
    let map = |directory: Arc<Snapshot>| {
        let (app, request) = (app.clone(), request.clone());
        decoding(share, move || map(&app, &request, &directory, granted))
    };
    let (mapped, unknown) = split(map(directory.clone()).await);
    if !unknown {
        return mapped;
    }
    let current = app.directory.current().await.map_err(unreachable)?;
    if Arc::ptr_eq(&directory, &current) {
        return mapped;
    }
    drop(mapped);
    map(current).await
}

/// The outcome, and whether a key was unknown.
fn split(mapped: Result<Mapped, Refused>) -> (Result<Mapped, Refused>, bool) {
    let unknown = match &mapped {
        Ok(mapped) => mapped.unknown_key,
        Err(Refused::Whole(verdict)) => verdict
            .errors
            .first()
            .is_some_and(|error| matches!(error.status, 401 | 403)),
        Err(_) => false,
    };
    (mapped, unknown)
}

/// A mapped request.
struct Mapped {
    items: usize,
    rejected: usize,
    message: Option<String>,
    unknown_key: bool,
    rows: Vec<AppBatches>,
    /// The series of the applications of a request with data points, and their changes.
    series: Vec<(AppId, Locked, Changes)>,
}

/// Why a resource has no application.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum NoTaker {
    #[error(
        "No application is named: send an API key (x-api-key), an instrumentation key (x-instrumentation-key, ?ikey=, resource attribute microsoft.instrumentation_key), or set `otlp.application`"
    )]
    None,
    #[error("Invalid instrumentation key")]
    Unknown,
    #[error("The credential has no right to send telemetry to this application")]
    Forbidden,
    #[error("The daily cap of {cap} bytes of the application is spent")]
    CapSpent { cap: u64 },
}

impl NoTaker {
    fn status(&self) -> u16 {
        match self {
            NoTaker::None => 401,
            NoTaker::Unknown | NoTaker::Forbidden => 403,
            NoTaker::CapSpent { .. } => 429,
        }
    }
}

impl Request {
    /// The application whose share of the memory the request uses, as far as it is known before the body is decoded.
    fn owner(&self, app: &App, directory: &Snapshot) -> Owner {
        let mut first = Beginning::of(self.codec, &self.body);
        let key = first_key(first.bytes(BEGINNING));
        let found = self.taker(app, directory, key.as_deref());
        found.ok().map(|record| record.id)
    }

    /// The application of a resource whose attributes name `key`: the first of the ways that names one counts.
    fn taker(
        &self,
        app: &App,
        directory: &Snapshot,
        key: Option<&str>,
    ) -> Result<Arc<AppRecord>, NoTaker> {
        let principal = self.export.principal.as_ref();
        if principal.is_some_and(|principal| !principal.may_somewhere(Right::Ingest)) {
            return Err(NoTaker::Forbidden);
        }
        let only = principal.and_then(|principal| principal.only_app(Right::Ingest));
        let found = if let Some(only) = only {
            directory.app(&only.to_string())
        } else if let Some(key) = self.export.key.as_deref().or(key) {
            directory.by_ikey(key).cloned()
        } else if let Some(name) = &app.settings.otlp_application {
            directory.app(name)
        } else {
            return Err(NoTaker::None);
        };
        // A sender with a credential learns nothing of applications outside of its rights.
        if let Some(principal) = principal {
            let may = match &found {
                Some(record) => principal.may(record.id, Right::Ingest),
                None => principal.may_everywhere(Right::Ingest),
            };
            if !may {
                return Err(NoTaker::Forbidden);
            }
        }
        let record = found.ok_or(NoTaker::Unknown)?;
        match record.daily_cap_bytes {
            Some(cap) if app.daily.bytes(record.id, app.now()) >= cap => {
                Err(NoTaker::CapSpent { cap })
            }
            _ => Ok(record),
        }
    }
}

/// The first instrumentation key that the beginning of a payload names, in either encoding, as a guess of whose telemetry it is.
fn first_key(text: &[u8]) -> Option<String> {
    let place = |name: &[u8]| text.windows(name.len()).position(|part| part == name);
    let at = KEY_NAMES
        .iter()
        .find_map(|name| Some(place(name)? + name.len()))?;
    let rest = text.get(at..)?;
    let keys = rest.windows(KEY).take(2 * KEY).filter_map(|part| {
        let text = std::str::from_utf8(part).ok()?;
        uuid::Uuid::parse_str(text).ok()
    });
    keys.map(|key| key.to_string()).next()
}

/// Maps a request within a memory reservation.
fn map(
    app: &App,
    request: &Request,
    directory: &Snapshot,
    granted: usize,
) -> Result<Mapped, Refused> {
    let Export {
        signal, encoding, ..
    } = request.export;
    let packed = request.body.len();
    let plain = decompress(app, request.codec, &request.body, granted)?;
    let malformed =
        |error: hindsight_otlp::Malformed| Refusal::new(400, error.to_string()).into_refused();
    let payload = hindsight_otlp::decode(signal, encoding, &plain).map_err(malformed)?;
    let most = app.settings.ingest_max_items;
    let resources = hindsight_otlp::outline(signal, &payload, most).map_err(malformed)?;
    let resources = resources.ok_or_else(|| too_many(most))?;
    let rows: usize = resources.iter().map(|resource| resource.rows).sum();
    if rows > most {
        return Err(too_many(most));
    }
    let repeated = |resource: &ResourceOutline<'_>| resource.rows * resource.repeated.min(REPEATED);
    let repeated: usize = resources.iter().map(repeated).sum();
    let json = match encoding {
        Encoding::Json => payload.len(),
        Encoding::Protobuf => 0,
    };
    let needed = memory(packed, plain.len(), rows) + json + repeated;
    if needed > granted {
        return Err(Refused::Needs(needed));
    }
    let budget = granted.saturating_sub(BASE + packed + plain.len() + json + ITEM * rows);
    map_within(app, request, directory, (&payload, &resources), budget).map_err(|error| match error
    {
        Unmapped::Refused(refused) => refused,
        // The texts of rows are repeated more often than was expected.
        Unmapped::Memory => Refused::Needs(
            granted
                .saturating_mul(4)
                .min(app.bodies.telemetry.limit().max(granted + 1)),
        ),
    })
}

fn too_many(most: usize) -> Refused {
    let message = format!("The request has more than {most} items (`ingest.max_items`)");
    Refusal::new(413, message).into_refused()
}

enum Unmapped {
    Refused(Refused),
    Memory,
}

fn map_within(
    app: &App,
    request: &Request,
    directory: &Snapshot,
    (payload, resources): (&[u8], &[ResourceOutline<'_>]),
    budget: usize,
) -> Result<Mapped, Unmapped> {
    let takers: Vec<Result<Arc<AppRecord>, NoTaker>> = resources
        .iter()
        .map(|resource| request.taker(app, directory, resource.key.as_deref()))
        .collect();
    let items: usize = resources.iter().map(|resource| resource.items).sum();
    let refused = || {
        resources
            .iter()
            .zip(&takers)
            .filter(|(resource, _)| resource.items > 0)
    };
    let left_out: usize = refused()
        .filter(|(_, taker)| taker.is_err())
        .map(|(resource, _)| resource.items)
        .sum();
    let first_refusal = refused().find_map(|(_, taker)| taker.as_ref().err());
    if let Some(refusal) = first_refusal.filter(|_| left_out == items) {
        let refusal = Refusal::new(refusal.status(), refusal.to_string());
        return Err(Unmapped::Refused(refusal.into_refused()));
    }
    let owners: Vec<Option<Taker<'_>>> = takers
        .iter()
        .map(|taker| taker.as_ref().ok().map(|record| record.owner()))
        .collect();
    let now = app.now();
    let limits = SeriesLimits {
        most: app.settings.otlp_max_series,
        idle: ticks(app.settings.otlp_series_idle),
    };
    let locked = lock_series(app, request.export.signal, &owners, limits);
    let staged = locked
        .iter()
        .map(|(app, series)| (*app, series.stage(now, limits)))
        .collect();
    let context = Context {
        window: window(&app.settings, now),
        max_item_bytes: app.settings.ingest_max_item_bytes,
        browser: request.export.browser.clone(),
        dimensions: DimensionRules {
            keep_semantic: app.settings.otlp_keep_semantic_attributes,
            resource: app.settings.otlp_resource_dimensions.clone(),
        },
    };
    let mut sink = Sink::new(budget, staged);
    let mapped = hindsight_otlp::map(request.export.signal, payload, &owners, &context, &mut sink);
    mapped.map_err(|error| match error {
        MapError::Memory => Unmapped::Memory,
        MapError::Malformed(error) => {
            Unmapped::Refused(Refusal::new(400, error.to_string()).into_refused())
        }
    })?;
    let (rows, report, staged) = sink.finish();
    check_clock(app, &report).map_err(Unmapped::Refused)?;
    let changes: Vec<Changes> = staged
        .into_iter()
        .map(|(_, staged)| Staged::into_changes(staged))
        .collect();
    if changes.iter().any(|changes| !changes.is_empty()) {
        app.series.mark().map_err(|error| {
            tracing::error!(%error, "the file that marks cumulative series cannot be written");
            let message = "Cumulative metrics cannot be taken: the data folder is not writable";
            Unmapped::Refused(Refusal::new(503, message).into_refused())
        })?;
    }
    let rows = rows.finish().map_err(|error| {
        tracing::error!(%error, "telemetry does not fit its schema");
        let refusal = Refusal::new(500, "The items could not be put into columns");
        Unmapped::Refused(refusal.into_refused())
    })?;
    let rejections = [report.reason, report.warning].into_iter().flatten();
    let message = rejections.map(|rejection| rejection.to_string()).next();
    Ok(Mapped {
        items,
        rejected: left_out + report.rejected,
        message: message.or_else(|| first_refusal.map(NoTaker::to_string)),
        unknown_key: takers
            .iter()
            .any(|taker| matches!(taker, Err(NoTaker::Unknown))),
        rows,
        series: locked
            .into_iter()
            .zip(changes)
            .map(|((app, series), changes)| (app, series, changes))
            .collect(),
    })
}

/// The series of the applications that get data points. All requests lock them in the same order.
fn lock_series(
    app: &App,
    signal: Signal,
    owners: &[Option<Taker<'_>>],
    limits: SeriesLimits,
) -> Vec<(AppId, Locked)> {
    if signal != Signal::Metrics {
        return Vec::new();
    }
    let mut apps: Vec<AppId> = owners.iter().flatten().map(|owner| owner.app).collect();
    apps.sort_unstable();
    apps.dedup();
    apps.into_iter()
        .map(|id| {
            let mut series = app.series.lock(id);
            series.sweep(app.now(), limits);
            (id, series)
        })
        .collect()
}

/// While the clock is not trusted, an item outside of the window may be right: the whole request is to be sent again (`D33`).
fn check_clock(app: &App, report: &Report) -> Result<(), Refused> {
    if report.outside_window && !app.store.clock_trust().is_trusted() {
        let message = "The clock of the server is not trusted at the moment; try again later";
        return Err(Refusal::new(503, message).into_refused());
    }
    Ok(())
}

/// Stores each application's rows, and lets the changes of its series take effect. If nothing can be stored, the request is
/// refused and may be sent again; if only some applications' rows are stored, the items of the others are rejected.
async fn store(app: &Arc<App>, mapped: Mapped, share: &Share<Owner>) -> Result<Exported, Refused> {
    let Mapped {
        items,
        mut rejected,
        mut message,
        rows,
        mut series,
        ..
    } = mapped;
    let (mut stored, mut failed) = (0, None);
    for batches in rows {
        let (id, count) = (batches.app, batches.items.len());
        match append(app, share, batches).await {
            Ok(_) => stored += 1,
            Err(why) => {
                // Its changes are dropped.
                series.retain(|(app, _, _)| *app != id);
                rejected += count;
                failed.get_or_insert(why);
            }
        }
    }
    for (_, mut series, changes) in series {
        series.commit(changes);
    }
    if let Some(why) = failed {
        if stored == 0 {
            return Err(Refusal::new(503, why).into_refused());
        }
        message.get_or_insert(why);
    }
    Ok(Exported {
        rejected,
        accepted: items.saturating_sub(rejected),
        message,
    })
}
