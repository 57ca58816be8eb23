//! `POST /portal/api/apps/{appId}/tail`: items as they arrive, one line of JSON each.
//!
//! Items are found as [`crate::arriving`] says.

use std::collections::{HashSet, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::stream::unfold;
use hindsight_engine::{Checked, EngineError, Part, QueryOptions, QueryRequest, QueryStream};
use hindsight_kql_types::datetime;
use hindsight_store::{TICKS_PER_SECOND, Table};
use serde::Deserialize;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::app::App;
use crate::arriving::{EVERY, OVERLAP, TABLES};
use crate::auth::guard::{Standing, admit};
use crate::error::ApiError;
use crate::origin::Head;
use crate::reply::Reads;
use crate::routes::access::Access;
use crate::routes::asked::Asked;
use crate::wire::portal as wire;
use crate::wire::query::{Extras, Form, Writer};

/// The most items that a look sends: the newest ones. The others are counted.
const MOST: usize = 200;
/// The most items that a look reads.
const READ: usize = 2_000;
/// How long before the stream begins its first items have arrived, in ticks.
const BEFORE: i64 = 60 * TICKS_PER_SECOND;
/// Items whose `timestamp` is older than this before now are not shown, in ticks: a look reads no more than that.
const SPAN: i64 = 3600 * TICKS_PER_SECOND;
/// How far `timestamp` may lie in the future, in ticks.
const AHEAD: i64 = 24 * 3600 * TICKS_PER_SECOND;
/// Looks without an item after which a line says that the stream lives.
const QUIET: u32 = 15;
/// The column with the time of arrival.
const ARRIVED: &str = "$arrived";

/// What is shown.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Wanted {
    /// A predicate of KQL; nothing shows all items.
    filter: Option<String>,
    /// Names of tables; none shows those that people read.
    tables: Vec<String>,
}

/// Begins the stream.
pub(super) async fn tail(
    State(app): State<Arc<App>>,
    access: Access,
    head: Head,
    Asked(wanted): Asked<Wanted>,
) -> Result<Response, ApiError> {
    let tables = tables(&wanted.tables)?;
    let names: Vec<&str> = tables.iter().map(|table| table.name()).collect();
    let filter = wanted.filter.filter(|filter| !filter.trim().is_empty());
    let tail = Tail {
        standing: Standing::of(&head, &access.app_text),
        arrivals: app.replies.arrivals().subscribe(),
        reads: Reads::tables(access.app.id, tables.iter().copied()),
        source: names.join(", "),
        filter: filter.map_or(String::new(), |filter| format!("| where {filter}\n")),
        cursor: app.now() - BEFORE + OVERLAP,
        begun: app.now() - BEFORE,
        sent: Sent::default(),
        next: Instant::now(),
        looked: None,
        quiet: 0,
        ended: false,
        app,
        access,
    };
    let checked = tail.app.engine.check(tail.request()).await?;
    if let Checked::Invalid(diagnostics) = checked {
        let text = tail.text();
        return Err(EngineError::Query { text, diagnostics }.into());
    }
    let lines = unfold(tail, |mut tail| async move {
        let text = tail.lines().await?;
        Some((Ok::<_, Infallible>(Bytes::from(text)), tail))
    });
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/x-ndjson"),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, Body::from_stream(lines)).into_response())
}

fn tables(names: &[String]) -> Result<Vec<Table>, ApiError> {
    let known = |name: &String| {
        Table::from_name(name).ok_or_else(|| ApiError::bad(format!("There is no table '{name}'")))
    };
    if names.is_empty() {
        return Ok(TABLES.to_vec());
    }
    names.iter().map(known).collect()
}

/// The ids of items that were sent, of the time in which they may be read again.
#[derive(Debug, Default)]
struct Sent {
    ids: HashSet<String>,
    /// With the time of arrival, oldest first.
    order: VecDeque<(i64, String)>,
}

impl Sent {
    /// Notes an item; false if it was sent before.
    fn note(&mut self, arrived: i64, id: &str) -> bool {
        if !self.ids.insert(id.to_owned()) {
            return false;
        }
        self.order.push_back((arrived, id.to_owned()));
        true
    }

    /// Forgets the items that arrived before a time: they are not read again.
    fn forget_until(&mut self, time: i64) {
        while let Some((_, id)) = self.order.pop_front_if(|(arrived, _)| *arrived < time) {
            self.ids.remove(&id);
        }
    }
}

/// A stream of items on its way to a watcher.
struct Tail {
    app: Arc<App>,
    access: Access,
    standing: Standing,
    arrivals: watch::Receiver<u64>,
    reads: Reads,
    source: String,
    filter: String,
    /// The time of arrival of the latest item that was sent, or the beginning.
    cursor: i64,
    begun: i64,
    sent: Sent,
    /// When the next look may be.
    next: Instant,
    /// The number of the arrival that the last look has seen.
    looked: Option<u64>,
    quiet: u32,
    ended: bool,
}

impl Tail {
    /// The next lines; `None` at the end.
    async fn lines(&mut self) -> Option<String> {
        while !self.ended {
            if let Err(error) = self.wait().await {
                return self.end_with(&error);
            }
            let seen = self.app.replies.arrivals().count();
            let arrived = self
                .looked
                .is_none_or(|looked| self.app.replies.arrivals().any_since(&self.reads, looked));
            self.looked = Some(seen);
            let text = if arrived {
                match self.look().await {
                    Ok(text) => text,
                    Err(error) => return self.end_with(&error),
                }
            } else {
                String::new()
            };
            self.quiet += 1;
            if !text.is_empty() || self.quiet >= QUIET {
                self.quiet = 0;
                // An empty line says that the stream lives.
                return Some(if text.is_empty() {
                    "\n".to_owned()
                } else {
                    text
                });
            }
        }
        None
    }

    /// Waits for the next look, and checks that the watcher may still look.
    async fn wait(&mut self) -> Result<(), ApiError> {
        let app = Arc::clone(&self.app);
        let pause = async {
            sleep_until(self.next).await;
            // Without an arrival it is looked once a second whether the watcher may still look.
            let _ = tokio::time::timeout(EVERY, self.arrivals.changed()).await;
            Ok(())
        };
        app.shutdown.or_stopping(pause).await?;
        self.next = Instant::now() + EVERY;
        admit(&self.app, &self.standing).await?;
        Ok(())
    }

    fn end_with(&mut self, error: &ApiError) -> Option<String> {
        self.ended = true;
        Some(wire::tail_error(&error.to_string()))
    }

    /// The lines of the items that have arrived since the last look.
    async fn look(&mut self) -> Result<String, ApiError> {
        let permit = self.access.permit(&self.app).await?;
        let prepared = self.app.engine.prepare(self.request()).await?;
        let mut text = String::new();
        let stream = self.app.engine.start(&prepared).await?;
        write(stream, &mut text).await?;
        drop(permit);
        let mut rows = wire::tail_rows(&text, ARRIVED)
            .ok_or_else(|| ApiError::Internal("the rows of a tail cannot be read".to_owned()))?;
        let read = rows.len();
        // Oldest first.
        rows.reverse();
        rows.retain(|row| self.sent.note(row.arrived, &row.id));
        let omitted = rows.len().saturating_sub(MOST);
        let latest = rows.iter().map(|row| row.arrived).max();
        self.cursor = latest.map_or(self.cursor, |latest| latest.max(self.cursor));
        if read >= READ {
            // There may be more items than were read: what came before the latest one is left out.
            self.begun = self.cursor;
        }
        self.sent.forget_until(self.from());
        let lines = rows.iter().skip(omitted).map(|row| row.line.as_str());
        let mut out: String = lines.collect();
        if omitted > 0 || read >= READ {
            out += &wire::tail_omitted(omitted, read >= READ);
        }
        Ok(out)
    }

    /// The time of arrival after which items are looked for.
    fn from(&self) -> i64 {
        (self.cursor - OVERLAP).max(self.begun)
    }

    fn text(&self) -> String {
        let mut from = String::new();
        // Writing into a text cannot fail.
        let _ = datetime::write_full(self.from(), &mut from);
        let (source, filter) = (&self.source, &self.filter);
        format!(
            "union {source}\n{filter}| extend ['{ARRIVED}'] = ingestion_time()\n| where ['{ARRIVED}'] >= datetime({from})\n\
             | top {READ} by ['{ARRIVED}'] desc"
        )
    }

    fn request(&self) -> QueryRequest {
        let mut timespan = String::new();
        let now = self.app.now();
        let _ = datetime::write_full(now - SPAN, &mut timespan);
        timespan.push('/');
        let _ = datetime::write_full(now + AHEAD, &mut timespan);
        QueryRequest {
            caller: self.access.caller(),
            query: self.text().into(),
            timespans: vec![timespan],
            applications: Vec::new(),
            workspace_names: false,
            options: QueryOptions::default(),
        }
    }
}

/// Writes the rows of a query as a reply has them.
async fn write(mut stream: QueryStream, out: &mut String) -> Result<(), ApiError> {
    let mut writer = Writer::begin(Form::Thin(Extras::default()), out);
    while let Some(part) = stream.next().await? {
        match part {
            Part::Table { name, columns } => writer.table(&name, columns, out),
            Part::Rows(batch) => {
                writer.rows(&batch, 0, usize::MAX, out);
            }
        }
    }
    writer.end(&stream.summary(), None, out);
    Ok(())
}
