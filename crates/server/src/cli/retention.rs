//! `hindsight retention`.

use anyhow::bail;
use clap::Subcommand;
use hindsight_store::{Clock, SystemClock};
use serde_json::json;

use super::data::{DataFolder, open};
use super::{audit, output};

/// `hindsight retention …`
#[derive(Debug, Subcommand)]
pub(super) enum RetentionCommand {
    /// Show the latest trusted time, the clock, and what expired and is not deleted yet.
    Status {
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Confirm that the clock of this machine is right. Items expire again. Works while a server runs.
    Confirm {
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Bring back what expired and is not deleted yet. The next start serves it.
    Restore {
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
}

impl RetentionCommand {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            RetentionCommand::Status { data, json } => status(&data, json).await,
            RetentionCommand::Confirm { data, json } => confirm(&data, json).await,
            RetentionCommand::Restore { data, json } => restore(&data, json).await,
        }
    }
}

async fn status(data: &DataFolder, json: bool) -> anyhow::Result<()> {
    let (catalogue, _) = open(data).await?;
    let mark = catalogue.time_mark().await?.map(|mark| mark.ticks);
    let (count, bytes) = catalogue.expired_size().await?;
    let (trusted, clock) = (output::date(mark), output::date(Some(now())));
    output::print(&if json {
        let shape = json!({
            "trustedTime": mark.map(|_| trusted),
            "clock": clock,
            "expiredSegments": count,
            "expiredBytes": bytes,
        });
        format!("{shape}\n")
    } else {
        format!(
            "latest trusted time  {trusted}\nclock                {clock}\nexpired, kept        {count} segments, {bytes} bytes\n"
        )
    })
}

async fn confirm(data: &DataFolder, json: bool) -> anyhow::Result<()> {
    let (catalogue, _) = open(data).await?;
    let before = output::date(catalogue.time_mark().await?.map(|mark| mark.ticks));
    let now = now();
    catalogue.confirm_time(now).await?;
    let clock = output::date(Some(now));
    audit::note(
        &catalogue,
        "clock confirmed",
        &format!("{before} to {clock}"),
    )
    .await?;
    output::print(&if json {
        format!("{}\n", json!({ "before": before, "confirmed": clock }))
    } else {
        format!("the latest trusted time was {before} and is {clock} now\n")
    })
}

async fn restore(data: &DataFolder, json: bool) -> anyhow::Result<()> {
    if hindsight_store::is_held(&data.path()?) {
        bail!("a server holds the data folder; stop it first");
    }
    let (catalogue, _) = open(data).await?;
    let count = catalogue.restore_expired().await?;
    audit::note(&catalogue, "expired segments restored", &count.to_string()).await?;
    output::print(&if json {
        format!("{}\n", json!({ "restored": count }))
    } else {
        format!(
            "{count} segments are served from the next start on; those that are past their retention expire again \
             unless 'retention.age' is raised\n"
        )
    })
}

fn now() -> i64 {
    SystemClock::default().now_ticks()
}
