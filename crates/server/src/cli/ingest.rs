//! `hindsight ingest`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use super::data::{self, DataFolder};
use super::item_reader::ItemReader;
use super::target::Target;
use super::{app, output};

/// Maximum bytes of one request.
const BATCH_BYTES: usize = 4 << 20;
/// Maximum items of one request.
const BATCH_ITEMS: usize = 5_000;
/// Maximum refused items that are printed. Further ones are only counted.
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
    messages: Vec<String>,
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
        let mut tally = Tally::default();
        let mut outcome = Ok(());
        for file in &self.files {
            outcome = send_file(file, &ikey, &target, &mut tally)
                .await
                .with_context(|| file.display().to_string());
            if outcome.is_err() {
                break;
            }
        }
        target.close().await?;
        for message in &tally.messages {
            output::complain(message);
        }
        outcome?;
        output::print(&format!(
            "{} items accepted, {} refused\n",
            tally.accepted,
            tally.received - tally.accepted
        ))?;
        Ok(if tally.accepted == tally.received {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }
}

async fn send_file(
    path: &Path,
    ikey: &str,
    target: &Target,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    // It draws on a terminal only.
    let bar = ProgressBar::no_length().with_message(path.display().to_string());
    if let Ok(style) =
        ProgressStyle::with_template("{msg} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}")
    {
        bar.set_style(style);
    }
    let mut batch = Batch::default();
    let mut items = ItemReader::open(path, &bar)?;
    while let Some(item) = items.next()? {
        batch.add(item, ikey, tally);
        if batch.items >= BATCH_ITEMS || batch.body.len() >= BATCH_BYTES {
            batch.send(target, tally).await?;
        }
    }
    batch.send(target, tally).await?;
    bar.finish_and_clear();
    Ok(())
}

/// Envelopes on their way.
#[derive(Default)]
struct Batch {
    body: Vec<u8>,
    items: usize,
}

impl Batch {
    /// Adds an envelope with the application's instrumentation key in place of its own.
    fn add(&mut self, piece: Result<&[u8], &str>, ikey: &str, tally: &mut Tally) {
        let parsed = piece.map_err(str::to_owned).and_then(|text| {
            serde_json::from_slice::<Value>(text).map_err(|error| error.to_string())
        });
        match parsed {
            Ok(Value::Object(mut envelope)) => {
                envelope.insert("iKey".to_owned(), ikey.into());
                self.body
                    .extend_from_slice(Value::Object(envelope).to_string().as_bytes());
                self.body.push(b'\n');
                self.items += 1;
            }
            Ok(_) => tally.refuse("an item is not a JSON object".to_owned()),
            Err(message) => tally.refuse(message),
        }
    }

    async fn send(&mut self, target: &Target, tally: &mut Tally) -> anyhow::Result<()> {
        if self.items == 0 {
            return Ok(());
        }
        let Batch { body, items } = std::mem::take(self);
        let reply = target
            .post("/v2.1/track", "application/x-json-stream", body)
            .await?;
        let verdict: Value = serde_json::from_slice(&reply.body)
            .with_context(|| format!("status {} without a JSON body", reply.status))?;
        let accepted = verdict
            .get("itemsAccepted")
            .and_then(Value::as_u64)
            .with_context(|| format!("status {}: {verdict}", reply.status))?;
        tally.received += items as u64;
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
            tally.note(message.to_owned());
        }
        Ok(())
    }
}

impl Tally {
    fn refuse(&mut self, message: String) {
        self.received += 1;
        self.note(message);
    }

    fn note(&mut self, message: String) {
        if self.messages.len() < SHOWN && !self.messages.contains(&message) {
            self.messages.push(message);
        }
    }
}
