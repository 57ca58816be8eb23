//! `hindsight store`.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Subcommand;
use hindsight_objects::Address;
use hindsight_store::{
    CataloguePlace, CheckReport, Clock, Doubt, Doubts, Finding, PostgresUrl, Recovery,
    RecoveryReport, SegmentMove, SystemClock, check_objects, move_catalogue_from_postgres,
    move_catalogue_to_postgres,
};
use serde_json::{Value, json};

use super::data::{DataFolder, object_store};
use super::output;
use super::progress::Bar;

/// `hindsight store …`
#[derive(Debug, Subcommand)]
pub(super) enum StoreCommand {
    /// Read a data folder whole and report what is damaged. Changes nothing and works while a server runs. Exits with 1 if anything is.
    Check {
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Rebuild a lost or damaged catalogue from the segments and the log. Deletes nothing. Exits with 1 if the result is uncertain.
    Recover {
        #[command(flatten)]
        data: DataFolder,
        /// Accept a doubt that an earlier attempt has named. May be repeated.
        #[arg(long, value_name = "DOUBT", value_parser = doubt)]
        accept: Vec<Doubt>,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Move the catalogue of a data folder to an empty database of PostgreSQL, or its segments to an object store, or either back into the
    /// folder. No server may hold the folder.
    #[command(group(clap::ArgGroup::new("direction").required(true).args(["to", "from"])))]
    Migrate {
        /// Move the catalogue from the folder to this database, `postgres://…`, or the segments to this object store, `s3://…`, `az://…`, `gs://…`
        /// or `file:///…`
        #[arg(long, value_name = "URL")]
        to: Option<String>,
        /// Move them from there into the folder. The database or the objects are left as they are.
        #[arg(long, value_name = "URL")]
        from: Option<String>,
        #[command(flatten)]
        data: DataFolder,
    },
}

fn doubt(text: &str) -> Result<Doubt, String> {
    let found = Doubt::ALL.into_iter().find(|doubt| doubt.name() == text);
    let names = Doubt::ALL.map(Doubt::name).join(", ");
    found.ok_or_else(|| format!("expected one of {names}"))
}

impl StoreCommand {
    pub(super) async fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            StoreCommand::Check { data, json } => check(&data, json).await,
            StoreCommand::Recover { data, accept, json } => recover(&data, &accept, json).await,
            StoreCommand::Migrate { to, from, data } => {
                migrate(to.as_deref(), from.as_deref(), &data).await
            }
        }
    }
}

async fn migrate(
    to: Option<&str>,
    from: Option<&str>,
    folder: &DataFolder,
) -> anyhow::Result<ExitCode> {
    let is_database = |url: &&str| url.trim_start().starts_with("postgres");
    if let Some(url) = to.or(from).filter(|url| !is_database(url)) {
        let address = url.parse().context("expected `postgres://…`, or")?;
        return migrate_segments(&address, to.is_some(), folder).await;
    }
    let data = folder.path()?;
    let text = match (to, from) {
        (Some(url), _) => {
            let url: PostgresUrl = url.parse()?;
            let kept = move_catalogue_to_postgres(&data, &url).await?;
            let kept = kept.map(|path| format!("; the old one is kept at {}", path.display()));
            format!(
                "the catalogue is in {}{}\n",
                url.name(),
                kept.unwrap_or_default()
            )
        }
        (None, Some(url)) => {
            let url: PostgresUrl = url.parse()?;
            move_catalogue_from_postgres(&data, &url).await?;
            format!(
                "the catalogue is in {}; {} is as it was\n",
                data.display(),
                url.name()
            )
        }
        (None, None) => bail!("expected --to or --from"),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Moves the segments of a data folder to an object store or back.
async fn migrate_segments(
    address: &Address,
    is_there: bool,
    folder: &DataFolder,
) -> anyhow::Result<ExitCode> {
    let (settings, storage) = (folder.settings()?, object_store(address)?);
    let data = &settings.data;
    let bar = Bar::new("copying");
    let segments = SegmentMove {
        root: data.clone(),
        catalogue: settings.catalogue.clone(),
        storage,
        clock: Arc::new(SystemClock::default()),
        progress: bar.clone(),
    };
    let moved = if is_there {
        segments.to_objects().await
    } else {
        segments.from_objects().await
    };
    bar.clear();
    let moved = moved?;
    let copied = format!("{} segments, {} bytes", moved.segments, moved.bytes);
    output::print(&if is_there {
        format!(
            "the segments are in {address} ({copied}): start the server with --objects {address}\n"
        )
    } else {
        let data = data.display();
        format!("the segments are in {data} ({copied}); {address} is as it was\n")
    })?;
    Ok(ExitCode::SUCCESS)
}

async fn check(data: &DataFolder, json: bool) -> anyhow::Result<ExitCode> {
    let bar = Bar::new("checking");
    let settings = data.settings()?;
    let (folder, catalogue) = (&settings.data, &settings.catalogue);
    let objects = settings.store_objects.as_ref();
    let checked = match (objects.map(object_store).transpose()?, catalogue) {
        (Some(objects), CataloguePlace::Postgres(_)) => {
            check_objects(folder, catalogue, objects, bar.clone()).await
        }
        (objects, _) => hindsight_store::check(folder, objects, bar.clone()).await,
    };
    bar.clear();
    let report = checked?;
    let text = if json {
        let report = json!({
            "damage": findings(&report.damage),
            "notes": findings(&report.notes),
            "segments": report.segments,
            "logRecords": report.log_records,
            "bytes": report.bytes,
        });
        format!("{report}\n")
    } else {
        check_summary(&report)
    };
    output::print(&text)?;
    Ok(if report.damage.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Findings as JSON.
pub(super) fn findings(list: &[Finding]) -> Value {
    let one = |finding: &Finding| json!({ "path": finding.path, "what": finding.what });
    list.iter().map(one).collect()
}

fn check_summary(report: &CheckReport) -> String {
    let mut text = lines("damaged", &report.damage) + &lines("note", &report.notes);
    let verdict = match report.damage.len() {
        0 => "nothing is damaged".to_owned(),
        1 => "1 thing is damaged".to_owned(),
        count => format!("{count} things are damaged"),
    };
    text += &format!(
        "{verdict}: {} segments and {} records of the log, {} bytes\n",
        report.segments, report.log_records, report.bytes
    );
    text
}

/// A line for each finding.
pub(super) fn lines(kind: &str, list: &[Finding]) -> String {
    let line =
        |finding: &Finding| format!("{kind}  {}: {}\n", finding.path.display(), finding.what);
    list.iter().map(line).collect()
}

async fn recover(data: &DataFolder, accepted: &[Doubt], json: bool) -> anyhow::Result<ExitCode> {
    let bar = Bar::new("reading segments");
    let now = SystemClock::default().now_ticks();
    let recovered = hindsight_store::recover(&data.path()?, accepted, now, bar.clone()).await;
    bar.clear();
    match recovered? {
        Recovery::Refused(doubts) if json => {
            output::print(&format!(
                "{}\n",
                json!({ "refused": doubt_shapes(&doubts) })
            ))?;
            Ok(ExitCode::FAILURE)
        }
        Recovery::Refused(doubts) => bail!("{}", refusal(&doubts)),
        Recovery::Done(report) => {
            output::print(&if json {
                format!("{}\n", shape(&report))
            } else {
                summary(&report)
            })?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn doubt_shapes(doubts: &Doubts) -> Value {
    let files = |doubt: Doubt| -> Value {
        let one =
            |(path, what): &(std::path::PathBuf, String)| json!({ "path": path, "what": what });
        doubts.files(doubt).iter().map(one).collect()
    };
    let one = |doubt: Doubt| json!({ "doubt": doubt.name(), "consequence": doubt.consequence(), "files": files(doubt) });
    doubts.kinds().into_iter().map(one).collect()
}

fn refusal(doubts: &Doubts) -> String {
    let mut text = "the result would not be certain; nothing was changed\n".to_owned();
    for doubt in doubts.kinds() {
        let files = doubts.files(doubt);
        text += &format!("\n  {} ({} files)\n", doubt.name(), files.len());
        for (path, what) in files.iter().take(SHOWN) {
            text += &format!("    {}: {what}\n", path.display());
        }
        let (name, consequence) = (doubt.name(), doubt.consequence());
        text += &format!("    with --accept {name}: {consequence}\n");
    }
    text
}

/// Files of a doubt that are printed.
const SHOWN: usize = 10;

fn shape(report: &RecoveryReport) -> Value {
    let apps = report.apps.iter().map(|app| {
        json!({
            "appId": app.id.to_string(),
            "name": app.name,
            "instrumentationKey": app.instrumentation_key.map(|key| key.to_string()),
        })
    });
    json!({
        "segments": report.segments,
        "rows": report.rows,
        "superseded": report.superseded,
        "leftOut": findings(&report.left_out),
        "damaged": findings(&report.damaged),
        "applications": apps.collect::<Vec<_>>(),
        "keptCatalogue": report.kept,
        "tookOver": report.took_over,
        "accepted": doubt_shapes(&report.doubts),
    })
}

fn summary(report: &RecoveryReport) -> String {
    let mut text = format!(
        "a new catalogue lists {} segments with {} rows\n",
        report.segments, report.rows
    );
    if let Some(kept) = &report.kept {
        text += &format!("the old catalogue is {} now\n", kept.display());
    }
    if !report.superseded.is_empty() {
        text += &format!(
            "{} further files have rows that other segments or the log have too; the next start moves them to the quarantine\n",
            report.superseded.len()
        );
    }
    text += &lines("left out", &report.left_out);
    text += &lines("damaged", &report.damaged);
    for app in &report.apps {
        text += &match app.instrumentation_key {
            Some(key) => format!(
                "application '{}' ({}), instrumentation key {key}\n",
                app.name, app.id
            ),
            None => format!(
                "application '{}' ({}): its name and its instrumentation key are not known; its id stands for the key\n",
                app.name, app.id
            ),
        };
    }
    text += if report.took_over {
        "applications, keys and users are those of the old catalogue\n"
    } else {
        "\nAPI keys, users, clients, roles, limits of applications and the audit log cannot be recovered. Next:\n  \
         1. delete applications that had been deleted before: hindsight app delete NAME\n  \
         2. make new API keys: hindsight key create --app NAME\n  \
         3. make users and clients again: hindsight user create, hindsight client create\n  \
         4. set tiers, daily caps and retention of applications again\n"
    };
    text
}
