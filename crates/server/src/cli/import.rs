//! `hindsight import`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use hindsight_store::{Clock, SystemClock, TICKS_PER_HOUR, Table};
use indicatif::{ProgressBar, ProgressStyle};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use serde_json::value::RawValue;

use super::data::{self, DataFolder};
use super::export::{bar, time};
use super::import_state::ImportState;
use super::item_reader::ItemReader;
use super::pages::{Api, Interval, Pages};
use super::retention::known_table;
use super::target::Target;
use super::{app, output};
use crate::import::{Identities, Ignored, Line, QueryReply, lines};

/// Most bytes of one request.
const BATCH_BYTES: usize = 2 << 20;
/// Most items of one request.
const BATCH_ITEMS: usize = 5_000;
/// Refused items that are printed. Further ones are only counted.
const SHOWN: usize = 10;
/// An hour is read again by the next import if it ended less than this long ago: its last items may not have arrived yet.
const SETTLED: i64 = TICKS_PER_HOUR;

/// `hindsight import PATH … | --from-api URL`
#[derive(Debug, Args)]
pub(super) struct Import {
    /// Files, or folders of them: blobs of continuous export or of diagnostic settings, replies of the query API, lines that `hindsight
    /// export` wrote; plain or gzip.
    #[arg(
        value_name = "PATH",
        required_unless_present = "from_api",
        conflicts_with = "from_api"
    )]
    paths: Vec<PathBuf>,
    /// The name or id of the application that the items become part of.
    #[arg(long)]
    app: String,
    /// Read the items through the query API at this URL, such as https://api.applicationinsights.io.
    #[arg(long, value_name = "URL", requires = "app_id")]
    from_api: Option<String>,
    /// The id of the application at `--from-api`.
    #[arg(long, value_name = "ID", requires = "from_api")]
    app_id: Option<String>,
    /// A file with an API key for `--from-api`.
    #[arg(
        long,
        value_name = "FILE",
        requires = "from_api",
        conflicts_with = "token_file"
    )]
    key_file: Option<PathBuf>,
    /// A file with an access token for `--from-api`.
    #[arg(long, value_name = "FILE", requires = "from_api")]
    token_file: Option<PathBuf>,
    /// Tables to read from `--from-api`, separated by commas [default: all]
    #[arg(long, value_delimiter = ',', requires = "from_api")]
    tables: Vec<String>,
    /// Read items from this time on, such as 2026-11-01 [default: the first]
    #[arg(long, value_name = "TIME", value_parser = time, requires = "from_api")]
    from: Option<i64>,
    /// Read items before this time [default: now]
    #[arg(long, value_name = "TIME", value_parser = time, requires = "from_api")]
    to: Option<i64>,
    /// Import items without this property or column, which the tables of Hindsight do not have. May be repeated.
    #[arg(long, value_name = "NAME")]
    ignore: Vec<String>,
    /// Read files and hours again that an earlier import has finished. Items that are there already are not stored again.
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    data: DataFolder,
}

impl Import {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let (catalogue, _) = data::open(&self.data).await?;
        let record = app::find(&catalogue, &self.app).await?;
        let target = Target::folder(&self.data).await?;
        let folder = self.data.path()?.join("imports");
        let id = record.id.to_string();
        let mut state = ImportState::open(&folder, &id)?;
        if self.again {
            state.forget();
        }
        let mut importer = Importer {
            api: Api { target },
            path: format!(
                "/v1/apps/{}/import",
                utf8_percent_encode(&id, NON_ALPHANUMERIC)
            ),
            ignored: Ignored(self.ignore.clone()),
            batch: Batch::default(),
            tally: Tally::default(),
        };
        let work = async {
            match &self.from_api {
                Some(url) => self.pull(url, &mut importer, &mut state).await,
                None => files(&self.paths, &mut importer, &mut state).await,
            }
        };
        let outcome = tokio::select! {
            outcome = work => outcome,
            _ = tokio::signal::ctrl_c() => Err(anyhow::anyhow!(
                "interrupted; what was imported stays, and the same command goes on with the rest"
            )),
        };
        importer.api.target.close().await?;
        let tally = importer.tally;
        for message in &tally.messages {
            output::complain(message);
        }
        output::print(&tally.summary())?;
        outcome?;
        Ok(if tally.refused == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    /// Reads tables through the query API.
    async fn pull(
        &self,
        url: &str,
        importer: &mut Importer,
        state: &mut ImportState,
    ) -> anyhow::Result<()> {
        let read = |path: &Path| {
            let text = std::fs::read_to_string(path);
            text.with_context(|| format!("cannot read {}", path.display()))
        };
        let target = match (&self.key_file, &self.token_file) {
            (Some(path), _) => Target::at(url, Some(read(path)?.trim()))?,
            (None, Some(path)) => Target::with_token(url, read(path)?.trim())?,
            (None, None) => Target::at(url, None)?,
        };
        let pages = Pages {
            api: Api { target },
            app: self.app_id.clone().unwrap_or_default(),
        };
        let tables: Vec<Table> = if self.tables.is_empty() {
            Table::ALL.to_vec()
        } else {
            let tables = self.tables.iter().map(|name| known_table(name));
            tables.collect::<anyhow::Result<_>>()?
        };
        let now = SystemClock::default().now_ticks();
        let bounds = Interval {
            from: self.from.unwrap_or(0),
            to: self.to.unwrap_or(now),
        };
        if bounds.from >= bounds.to {
            bail!("--from is not before --to");
        }
        for table in tables {
            let source = format!("{} {} {table}", url.trim_end_matches('/'), pages.app);
            pull_table(&pages, table, bounds, &source, now, importer, state)
                .await
                .with_context(|| format!("{table} of {url}"))?;
        }
        Ok(())
    }
}

/// Reads a table by the hour, and skips hours that an earlier import has finished.
async fn pull_table(
    pages: &Pages,
    table: Table,
    bounds: Interval,
    source: &str,
    now: i64,
    importer: &mut Importer,
    state: &mut ImportState,
) -> anyhow::Result<()> {
    let Some((extent, count)) = pages.extent(table, Some(bounds)).await? else {
        return Ok(());
    };
    let bar = bar(table, count);
    for hours in state.open_hours(source, extent) {
        let interval = Interval {
            from: hours.from.max(bounds.from),
            to: hours.to.min(bounds.to),
        };
        let mut reading = pages.read(table, interval);
        let mut finished = interval.from;
        let mut refused = importer.tally.refused;
        while let Some(page) = reading.next().await? {
            if let Some(rows) = page.table {
                bar.inc(rows.rows.len() as u64);
                let reply = QueryReply {
                    tables: vec![rows],
                    error: None,
                };
                let lines = crate::import::reply_lines(&reply, &importer.ignored);
                // Pages differ from import to import, so they cannot give identities.
                importer.add(lines, None, source).await?;
            }
            importer.send().await?;
            if importer.tally.refused > refused {
                // The hour stays open: the import that follows tries its items again.
                refused = importer.tally.refused;
                finished = page.done;
                continue;
            }
            let settled = page.done.min(now.saturating_sub(SETTLED));
            state.finish_hours(
                source,
                Interval {
                    from: finished,
                    to: settled,
                },
            )?;
            finished = finished.max(page.done / TICKS_PER_HOUR * TICKS_PER_HOUR);
        }
    }
    bar.finish_and_clear();
    Ok(())
}

/// Reads files and the files of folders.
async fn files(
    paths: &[PathBuf],
    importer: &mut Importer,
    state: &mut ImportState,
) -> anyhow::Result<()> {
    let mut list = Vec::new();
    for path in paths {
        collect(path, &mut list)?;
    }
    for path in list {
        let Some(identity) = state.identity(&path)? else {
            importer.tally.skipped += 1;
            continue;
        };
        let refused = importer.tally.refused;
        file(&path, importer)
            .await
            .with_context(|| path.display().to_string())?;
        importer.tally.files += 1;
        if importer.tally.refused == refused {
            state.finish_file(&identity)?;
        }
    }
    Ok(())
}

/// The files of a folder and of those in it, in order. Names that begin with a dot are left out.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let cannot = || format!("cannot read {}", path.display());
    if !std::fs::metadata(path).with_context(cannot)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(path).with_context(cannot)? {
        entries.push(entry?.path());
    }
    entries.sort();
    for entry in entries {
        let name = entry.file_name().unwrap_or_default().to_string_lossy();
        if !name.starts_with('.') {
            collect(&entry, files)?;
        }
    }
    Ok(())
}

async fn file(path: &Path, importer: &mut Importer) -> anyhow::Result<()> {
    // It draws on a terminal alone.
    let bar = ProgressBar::no_length().with_message(path.display().to_string());
    let form = "{msg} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}";
    if let Ok(style) = ProgressStyle::with_template(form) {
        bar.set_style(style);
    }
    let mut items = ItemReader::open(path, &bar)?;
    let mut identities = Identities::default();
    let place = path.display().to_string();
    let mut is_empty = true;
    while let Some(item) = items.next()? {
        is_empty = false;
        let parsed = item.text.map_err(str::to_owned).and_then(|text| {
            serde_json::from_slice::<&RawValue>(text).map_err(|error| error.to_string())
        });
        let lines = parsed.and_then(|record| lines(record, &importer.ignored));
        importer.add(lines, Some(&mut identities), &place).await?;
    }
    if is_empty && std::fs::metadata(path)?.len() > 0 {
        bail!("it holds no items");
    }
    importer.send().await?;
    bar.finish_and_clear();
    Ok(())
}

/// Sends items to the store.
struct Importer {
    api: Api,
    path: String,
    ignored: Ignored,
    batch: Batch,
    tally: Tally,
}

/// Items on their way.
#[derive(Default)]
struct Batch {
    body: String,
    items: usize,
    place: String,
}

/// The numbers of items, and why some were refused.
#[derive(Default)]
struct Tally {
    stored: u64,
    duplicates: u64,
    refused: u64,
    files: u64,
    skipped: u64,
    messages: Vec<String>,
}

impl Importer {
    /// Adds the items of a record. Those without an identity get one of `identities`, or are refused by the server.
    async fn add(
        &mut self,
        lines: Result<Vec<Result<Line, String>>, String>,
        mut identities: Option<&mut Identities>,
        place: &str,
    ) -> anyhow::Result<()> {
        let lines = match lines {
            Ok(lines) => lines,
            Err(message) => vec![Err(message)],
        };
        if self.batch.place != place {
            self.send().await?;
            self.batch.place = place.to_owned();
        }
        for line in lines {
            match line {
                Ok(mut line) => {
                    if let Some(identities) = &mut identities {
                        identities.complete(&mut line);
                    }
                    line.write(&mut self.batch.body);
                    self.batch.items += 1;
                }
                Err(message) => self.tally.refuse(1, place, &message),
            }
            if self.batch.items >= BATCH_ITEMS || self.batch.body.len() >= BATCH_BYTES {
                self.send().await?;
            }
        }
        Ok(())
    }

    async fn send(&mut self) -> anyhow::Result<()> {
        if self.batch.items == 0 {
            return Ok(());
        }
        let body = std::mem::take(&mut self.batch.body);
        self.batch.items = 0;
        let reply = self
            .api
            .post(&self.path, "application/x-ndjson", body.as_bytes())
            .await?;
        let value: Value = serde_json::from_slice(&reply.body)
            .with_context(|| format!("status {} without a JSON body", reply.status))?;
        if reply.status != 200 {
            bail!("status {}: {value}", reply.status);
        }
        let number = |name: &str| value.get(name).and_then(Value::as_u64).unwrap_or(0);
        self.tally.stored += number("stored");
        self.tally.duplicates += number("duplicates");
        let errors = value.get("errors").and_then(Value::as_array);
        let mut named = 0;
        for error in errors.into_iter().flatten() {
            let message = error.get("message").and_then(Value::as_str);
            let message = message.unwrap_or("no reason given");
            self.tally.refuse(1, &self.batch.place, message);
            named += 1;
        }
        self.tally.refused += number("refused").saturating_sub(named);
        Ok(())
    }
}

impl Tally {
    fn refuse(&mut self, count: u64, place: &str, message: &str) {
        self.refused += count;
        let message = format!("{place}: {message}");
        if self.messages.len() < SHOWN && !self.messages.contains(&message) {
            self.messages.push(message);
        }
    }

    fn summary(&self) -> String {
        let mut text = format!(
            "{} items imported, {} were there already, {} refused\n",
            self.stored, self.duplicates, self.refused
        );
        if self.skipped > 0 {
            text += &format!(
                "{} files were skipped, because an earlier import has finished them (--again reads them again)\n",
                self.skipped
            );
        }
        text
    }
}
