//! `hindsight backup`, `hindsight restore` and `hindsight verify`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use hindsight_store::{BackupReport, Clock, Restored, SystemClock, VerifyReport};
use serde_json::json;

use super::data::DataFolder;
use super::output;
use super::progress::Bar;
use super::store::{findings, lines};

/// Files and folders of the data folder that belong to other parts of the program than the store: the local authority, the mark of
/// cumulative series, and the use of daily caps. Addresses and tokens of a running server are not among them.
const BESIDE: [&str; 3] = ["tls", "otlp-series", "daily-use"];

/// `hindsight backup DEST`
#[derive(Debug, Args)]
pub(super) struct Backup {
    /// The folder to write. An earlier backup in it is brought up to date: segments that it has are not copied again.
    #[arg(value_name = "DEST")]
    destination: PathBuf,
    #[command(flatten)]
    data: DataFolder,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

/// `hindsight restore SRC --data DIR`
#[derive(Debug, Args)]
pub(super) struct Restore {
    /// The folder of the backup.
    #[arg(value_name = "SRC")]
    source: PathBuf,
    #[command(flatten)]
    data: DataFolder,
    /// Restore damaged segments as they are. Queries leave their rows out and say so.
    #[arg(long)]
    accept_damage: bool,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

/// `hindsight verify SRC`
#[derive(Debug, Args)]
pub(super) struct Verify {
    /// The folder of the backup.
    #[arg(value_name = "SRC")]
    source: PathBuf,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl Backup {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let bar = Bar::new("copying");
        let beside = BESIDE.map(PathBuf::from);
        let now = SystemClock::default().now_ticks();
        let root = self.data.path()?;
        let done =
            hindsight_store::create_backup(&root, &self.destination, &beside, now, bar.clone())
                .await;
        bar.clear();
        let report = done?;
        output::print(&if self.json {
            let shape = json!({
                "created": output::date(Some(report.created)),
                "sequence": report.sequence,
                "segments": report.segments,
                "keptSegments": report.kept,
                "bytes": report.bytes,
                "copiedBytes": report.copied,
                "damage": findings(&report.damage),
            });
            format!("{shape}\n")
        } else {
            summary(&report)
        })?;
        Ok(verdict(report.damage.is_empty()))
    }
}

fn summary(report: &BackupReport) -> String {
    let BackupReport {
        segments,
        kept,
        bytes,
        copied,
        ..
    } = report;
    lines("damaged", &report.damage)
        + &format!(
            "the backup has everything up to record {} of the log: {segments} segments ({kept} of an earlier backup), {bytes} bytes, \
             {copied} of them copied now\n",
            report.sequence
        )
}

impl Restore {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let root = self.data.path()?;
        let bar = Bar::new("restoring");
        let done =
            hindsight_store::restore_backup(&self.source, &root, self.accept_damage, bar.clone())
                .await;
        bar.clear();
        match done? {
            Restored::Refused(report) if self.json => {
                output::print(&format!(
                    "{}\n",
                    json!({ "refused": findings(&report.damage) })
                ))?;
                Ok(ExitCode::FAILURE)
            }
            Restored::Refused(report) => bail!(
                "the backup is damaged; nothing was written\n{}`--accept-damage` restores damaged segments as they are; a damaged catalogue or \
                 log cannot be restored",
                lines("damaged", &report.damage)
            ),
            Restored::Done(report) => {
                output::print(&if self.json {
                    let shape = json!({
                        "created": output::date(Some(report.created)),
                        "sequence": report.sequence,
                        "files": report.files,
                        "bytes": report.bytes,
                        "damage": findings(&report.damage),
                    });
                    format!("{shape}\n")
                } else {
                    format!(
                        "{}restored the backup of {}: {} files, {} bytes\nserve it with: hindsight serve --data {}\n",
                        lines("damaged", &report.damage),
                        output::date(Some(report.created)),
                        report.files,
                        report.bytes,
                        root.display()
                    )
                })?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

impl Verify {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        let bar = Bar::new("verifying");
        let done = hindsight_store::verify_backup(&self.source, bar.clone()).await;
        bar.clear();
        let report = done?;
        let VerifyReport { files, bytes, .. } = report;
        let created = output::date(Some(report.created));
        output::print(&if self.json {
            let shape = json!({
                "created": created,
                "sequence": report.sequence,
                "files": files,
                "bytes": bytes,
                "damage": findings(&report.damage),
            });
            format!("{shape}\n")
        } else {
            let verdict = match report.damage.len() {
                0 => "nothing is damaged".to_owned(),
                1 => "1 file is damaged".to_owned(),
                count => format!("{count} files are damaged"),
            };
            lines("damaged", &report.damage)
                + &format!("{verdict}: backup of {created}, {files} files, {bytes} bytes\n")
        })?;
        Ok(verdict(report.damage.is_empty()))
    }
}

fn verdict(is_whole: bool) -> ExitCode {
    if is_whole {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
