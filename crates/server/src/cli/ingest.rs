//! `hindsight ingest`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use super::data::{self, DataFolder};
use super::item_reader::{ItemReader, Piece};
use super::target::Target;
use super::{app, output};

/// Maximum bytes of one request.
const BATCH_BYTES: usize = 4 << 20;
/// Maximum items of one request.
const BATCH_ITEMS: usize = 5_000;
/// The exit code of a process that Ctrl-C has ended.
const INTERRUPTED: u8 = 130;
/// Maximum reasons for refusals that are printed. Items that are refused for further ones are only counted.
const SHOWN: usize = 10;

/// `hindsight ingest FILE|- …`
#[derive(Debug, Args)]
pub(super) struct Ingest {
    /// Files of envelopes: a JSON array or one envelope per line, plain or gzip. `-` reads standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The name or id of the application, or its instrumentation key if `--url` is a server on another machine.
    #[arg(long)]
    app: String,
    #[command(flatten)]
    data: DataFolder,
    /// Send to the server at this URL instead of the data folder.
    #[arg(long)]
    url: Option<String>,
}

/// Whether two URLs name one server of this machine.
fn same_server(one: &str, other: &str) -> bool {
    let plain = |url: &str| {
        url.trim_end_matches('/')
            .replace("://localhost", "://127.0.0.1")
            .replace("://0.0.0.0", "://127.0.0.1")
    };
    plain(one) == plain(other)
}

/// The numbers of received and accepted items, and why the others were refused.
#[derive(Default)]
struct Tally {
    received: u64,
    accepted: u64,
    reasons: Vec<Reason>,
    /// Refused items whose reasons are not kept.
    others: u64,
}

/// Why items were refused.
struct Reason {
    message: String,
    /// The file and the line of the first of them.
    place: String,
    items: u64,
}

/// Ctrl-C: the first one stops the reading of files, and the second one ends the process.
#[derive(Clone, Default)]
struct Interruption(Arc<AtomicBool>);

impl Interruption {
    fn watch(&self) {
        let pressed = Arc::clone(&self.0);
        tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                pressed.store(true, Ordering::Relaxed);
                output::note("stopping after the request on its way; Ctrl-C again ends at once");
            }
            if tokio::signal::ctrl_c().await.is_ok() {
                std::process::exit(INTERRUPTED.into());
            }
        });
    }

    fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Ingest {
    /// The instrumentation key for the server at `url`: as it was given or, where that server holds the data folder, of
    /// the application with this name or id.
    async fn key_at(&self, url: &str) -> anyhow::Result<String> {
        let held = hindsight_store::holder(&self.data.path()?);
        if held.is_some_and(|server| same_server(&server.url, url)) {
            let (catalogue, _) = data::open(&self.data).await?;
            if let Ok(found) = app::find(&catalogue, &self.app).await {
                return Ok(found.instrumentation_key.to_string());
            }
        }
        match uuid::Uuid::parse_str(&self.app) {
            Ok(key) => Ok(key.to_string()),
            Err(_) => bail!(
                "the server at {url} does not hold the data folder; --app must be the application's instrumentation key"
            ),
        }
    }

    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let (target, ikey) = match &self.url {
            Some(url) => (Target::at(url, None)?, self.key_at(url).await?),
            None => {
                let target = Target::folder(&self.data).await?;
                let (catalogue, _) = data::open(&self.data).await?;
                let app = app::find(&catalogue, &self.app).await?;
                (target, app.instrumentation_key.to_string())
            }
        };
        let interruption = Interruption::default();
        interruption.watch();
        let mut tally = Tally::default();
        let mut outcome = Ok(Sent::Whole);
        for file in &self.files {
            outcome = send_file(file, &ikey, &target, &mut tally, &interruption)
                .await
                .with_context(|| file.display().to_string());
            if !matches!(outcome, Ok(Sent::Whole)) {
                break;
            }
        }
        target.close().await?;
        tally.complain();
        let counted = format!(
            "{} items accepted, {} refused",
            tally.accepted,
            tally.received - tally.accepted
        );
        match outcome {
            Ok(Sent::Whole) => output::print(&format!("{counted}\n"))?,
            Ok(Sent::Interrupted(place)) => {
                output::complain(&format!(
                    "interrupted before {place}: {counted}; accepted items are stored"
                ));
                return Ok(ExitCode::from(INTERRUPTED));
            }
            Err(error) => {
                return Err(error.context(format!("{counted}; accepted items are stored")));
            }
        }
        Ok(if tally.accepted == tally.received {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

/// How much of a file was sent.
enum Sent {
    Whole,
    /// All before this place.
    Interrupted(String),
}

async fn send_file(
    path: &Path,
    ikey: &str,
    target: &Target,
    tally: &mut Tally,
    interruption: &Interruption,
) -> anyhow::Result<Sent> {
    // It draws on a terminal only.
    let bar = ProgressBar::no_length().with_message(path.display().to_string());
    if let Ok(style) =
        ProgressStyle::with_template("{msg} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}")
    {
        bar.set_style(style);
    }
    let mut batch = Batch::of(path);
    let mut items = ItemReader::open(path, &bar)?;
    let mut sent = Sent::Whole;
    while let Some(item) = items.next()? {
        if interruption.is_asked() {
            sent = Sent::Interrupted(batch.place(item.line));
            break;
        }
        batch.add(&item, ikey, tally);
        if batch.lines.len() >= BATCH_ITEMS || batch.body.len() >= BATCH_BYTES {
            batch.send(target, tally).await?;
        }
    }
    batch.send(target, tally).await?;
    bar.finish_and_clear();
    Ok(sent)
}

/// Envelopes on their way.
struct Batch<'f> {
    file: &'f Path,
    body: Vec<u8>,
    /// The line of each.
    lines: Vec<u64>,
}

impl Batch<'_> {
    fn of(file: &Path) -> Batch<'_> {
        Batch {
            file,
            body: Vec::new(),
            lines: Vec::new(),
        }
    }

    /// A line of the file.
    fn place(&self, line: u64) -> String {
        format!("{}:{line}", self.file.display())
    }

    /// Adds an envelope with the application's instrumentation key in place of its own.
    fn add(&mut self, piece: &Piece<'_>, ikey: &str, tally: &mut Tally) {
        let place = || self.place(piece.line);
        let parsed = piece.text.map_err(str::to_owned).and_then(|text| {
            serde_json::from_slice::<Value>(text).map_err(|error| error.to_string())
        });
        match parsed {
            Ok(Value::Object(mut envelope)) => {
                envelope.insert("iKey".to_owned(), ikey.into());
                self.body
                    .extend_from_slice(Value::Object(envelope).to_string().as_bytes());
                self.body.push(b'\n');
                self.lines.push(piece.line);
            }
            Ok(_) => tally.refuse("an item is not a JSON object", place),
            Err(message) => tally.refuse(&message, place),
        }
    }

    async fn send(&mut self, target: &Target, tally: &mut Tally) -> anyhow::Result<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let (body, lines) = (
            std::mem::take(&mut self.body),
            std::mem::take(&mut self.lines),
        );
        let reply = target
            .post("/v2.1/track", "application/x-json-stream", body)
            .await?;
        let verdict: Value = serde_json::from_slice(&reply.body)
            .with_context(|| format!("status {} without a JSON body", reply.status))?;
        let accepted = verdict
            .get("itemsAccepted")
            .and_then(Value::as_u64)
            .with_context(|| format!("status {}: {verdict}", reply.status))?;
        tally.received += lines.len() as u64;
        tally.accepted += accepted;
        for error in verdict
            .get("errors")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let message = error
                .get("message")
                .and_then(Value::as_str)
                .unwrap_or("no reason given");
            let index = error.get("index").and_then(Value::as_u64);
            let index = index.and_then(|index| usize::try_from(index).ok());
            let line = index.and_then(|index| lines.get(index)).copied();
            tally.note(message, || self.place(line.unwrap_or_default()));
        }
        Ok(())
    }
}

impl Tally {
    fn refuse(&mut self, message: &str, place: impl FnOnce() -> String) {
        self.received += 1;
        self.note(message, place);
    }

    fn note(&mut self, message: &str, place: impl FnOnce() -> String) {
        if let Some(known) = self
            .reasons
            .iter_mut()
            .find(|known| known.message == message)
        {
            known.items += 1;
        } else if self.reasons.len() < SHOWN {
            self.reasons.push(Reason {
                message: message.to_owned(),
                place: place(),
                items: 1,
            });
        } else {
            self.others += 1;
        }
    }

    /// Says why items were refused, with the place of the first one of each reason.
    fn complain(&self) {
        for reason in &self.reasons {
            let further = match reason.items {
                1 => String::new(),
                items => format!(" (and {} further items)", items - 1),
            };
            output::complain(&format!("{}: {}{further}", reason.place, reason.message));
        }
        if self.others > 0 {
            output::complain(&format!(
                "{} items were refused for further reasons",
                self.others
            ));
        }
    }
}
