//! `hindsight retention`.

use anyhow::{Context, bail};
use clap::Subcommand;
use hindsight_store::{Clock, RetentionRule, SystemClock, Table};
use serde_json::{Value, json};

use super::app::{find, limit, or_none, whole_days};
use super::data::{DataFolder, open};
use super::{audit, output};
use crate::config::bytes;

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
    /// Set how long the items of an application, or of one of its tables, are kept. A running server follows.
    Set {
        /// The name or id of the application.
        #[arg(long)]
        app: String,
        /// The table, such as traces. Without it the rule is of the whole application.
        #[arg(long)]
        table: Option<String>,
        /// Days that items are kept, or `none`: tables follow their application, and applications the setting `retention.age`.
        #[arg(long)]
        days: Option<String>,
        /// Bytes of segments, such as 10GiB, above which the oldest expire, or `none`.
        #[arg(long, value_name = "BYTES")]
        max_bytes: Option<String>,
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show how long items are kept, by application and table, with the bytes of their segments.
    Show {
        /// The name or id of one application.
        #[arg(long)]
        app: Option<String>,
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
            RetentionCommand::Set {
                app,
                table,
                days,
                max_bytes,
                data,
                json,
            } => {
                let change = Change {
                    table: table.as_deref().map(known_table).transpose()?,
                    days: days
                        .as_deref()
                        .map(|days| limit(days, whole_days))
                        .transpose()?,
                    max_bytes: max_bytes
                        .as_deref()
                        .map(|most| limit(most, bytes))
                        .transpose()?,
                };
                set(&app, change, &data, json).await
            }
            RetentionCommand::Show { app, data, json } => show(app.as_deref(), &data, json).await,
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

/// What `hindsight retention set` changes; `Some(None)` takes a limit away.
struct Change {
    table: Option<Table>,
    days: Option<Option<u32>>,
    max_bytes: Option<Option<u64>>,
}

/// The table of this name, in queries or in its workspace form.
pub(super) fn known_table(name: &str) -> anyhow::Result<Table> {
    let table = Table::from_name(name).or_else(|| Table::from_workspace_table(name));
    table.with_context(|| {
        let names = Table::ALL.map(Table::name).join(", ");
        format!("there is no table '{name}'; the tables are {names}")
    })
}

async fn set(app: &str, change: Change, data: &DataFolder, json: bool) -> anyhow::Result<()> {
    if change.days.is_none() && change.max_bytes.is_none() {
        bail!("nothing to change: use --days or --max-bytes");
    }
    let (catalogue, _) = open(data).await?;
    let app = find(&catalogue, app).await?;
    let known = catalogue.retention_rules().await?;
    let known = known
        .into_iter()
        .find(|rule| (rule.app, rule.table) == (app.id, change.table));
    let rule = RetentionRule {
        app: app.id,
        table: change.table,
        days: change
            .days
            .unwrap_or_else(|| known.and_then(|rule| rule.days)),
        max_bytes: change
            .max_bytes
            .unwrap_or_else(|| known.and_then(|rule| rule.max_bytes)),
    };
    catalogue.set_retention_rule(&rule).await?;
    let subject = format!(
        "{}{}: {} days, {} bytes",
        app.name,
        rule.table
            .map_or(String::new(), |table| format!(".{table}")),
        or_none(rule.days),
        or_none(rule.max_bytes)
    );
    audit::note(&catalogue, "retention changed", &subject).await?;
    show(Some(&app.id.to_string()), data, json).await
}

/// What is kept of an application's table, or of the whole application.
struct Kept {
    app: String,
    table: Option<Table>,
    /// Days and bytes in force.
    days: f64,
    max_bytes: Option<u64>,
    /// What its segments hold.
    rows: u64,
    bytes: u64,
    oldest: Option<i64>,
}

async fn show(app: Option<&str>, data: &DataFolder, json: bool) -> anyhow::Result<()> {
    let settings = data.settings()?;
    let (catalogue, _) = open(data).await?;
    let apps = match app {
        Some(name) => vec![find(&catalogue, name).await?],
        None => catalogue.apps().await?,
    };
    let rules = catalogue.retention_rules().await?;
    let segments = catalogue.segments().await?;
    let mut kept = Vec::new();
    for app in &apps {
        let tables = Table::ALL.into_iter().map(Some);
        for table in std::iter::once(None).chain(tables) {
            let rule = |table| {
                rules
                    .iter()
                    .find(|rule| (rule.app, rule.table) == (app.id, table))
            };
            let own = segments.iter().filter(|segment| {
                segment.app == app.id && table.is_none_or(|table| table == segment.table)
            });
            let (mut rows, mut bytes, mut oldest) = (0, 0, None::<i64>);
            for segment in own {
                rows += segment.rows;
                bytes += segment.bytes;
                oldest = Some(oldest.map_or(segment.min_ts, |at| at.min(segment.min_ts)));
            }
            let is_shown = table.is_none() || rows > 0 || rule(table).is_some();
            if !is_shown {
                continue;
            }
            let days = rule(table).and_then(|rule| rule.days);
            let days = days.or_else(|| rule(None).and_then(|rule| rule.days));
            let most = rule(table).and_then(|rule| rule.max_bytes);
            kept.push(Kept {
                app: app.name.clone(),
                table,
                days: days.map_or(settings.retention.as_secs_f64() / 86_400.0, f64::from),
                max_bytes: most.or(settings.retention_bytes.filter(|_| table.is_none())),
                rows,
                bytes,
                oldest,
            });
        }
    }
    output::print(&if json {
        let one = |kept: &Kept| {
            json!({
                "application": kept.app,
                "table": kept.table.map(Table::name),
                "days": kept.days,
                "maxBytes": kept.max_bytes,
                "rows": kept.rows,
                "bytes": kept.bytes,
                "oldest": kept.oldest.map(|at| output::date(Some(at))),
            })
        };
        format!("{}\n", kept.iter().map(one).collect::<Value>())
    } else {
        summary(&kept)
    })
}

fn summary(kept: &[Kept]) -> String {
    let header = [
        "APPLICATION",
        "TABLE",
        "DAYS",
        "MAX BYTES",
        "ROWS",
        "BYTES",
        "OLDEST",
    ]
    .map(str::to_owned);
    let row = |kept: &Kept| {
        vec![
            kept.app.clone(),
            kept.table.map_or("all", Table::name).to_owned(),
            kept.days.to_string(),
            or_none(kept.max_bytes),
            kept.rows.to_string(),
            kept.bytes.to_string(),
            output::date(kept.oldest),
        ]
    };
    output::table(&header, &kept.iter().map(row).collect::<Vec<_>>())
}

fn now() -> i64 {
    SystemClock::default().now_ticks()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::create_app;

    #[tokio::test]
    async fn rules_are_set_one_by_one_and_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = hindsight_store::Catalogue::open_or_create(folder.path())
            .await
            .unwrap();
        let app = create_app(&catalogue, "shop", 0).await.unwrap();
        let change = async |table: Option<&str>, days: Option<&str>, most: Option<&str>| {
            let command = RetentionCommand::Set {
                app: "shop".to_owned(),
                table: table.map(str::to_owned),
                days: days.map(str::to_owned),
                max_bytes: most.map(str::to_owned),
                data: DataFolder::at(folder.path()),
                json: true,
            };
            command.run().await.map_err(|error| error.to_string())
        };
        let rules = async || {
            let rules = catalogue.retention_rules().await.unwrap();
            let rule = |rule: RetentionRule| {
                assert_eq!(rule.app, app.id);
                (rule.table, rule.days, rule.max_bytes)
            };
            rules.into_iter().map(rule).collect::<Vec<_>>()
        };
        change(Some("traces"), Some("7"), None).await.unwrap();
        change(Some("AppTraces"), None, Some("10GiB"))
            .await
            .unwrap();
        change(None, Some("30"), None).await.unwrap();
        change(None, None, Some("1KB")).await.unwrap();
        let traces = (Some(Table::Traces), Some(7), Some(10 << 30));
        assert_eq!(rules().await, [(None, Some(30), Some(1000)), traces]);
        let record = find(&catalogue, "shop").await.unwrap();
        assert_eq!(record.retention_days, Some(30));
        change(None, Some("none"), Some("none")).await.unwrap();
        change(Some("traces"), Some("none"), None).await.unwrap();
        assert_eq!(rules().await, [(Some(Table::Traces), None, Some(10 << 30))]);
        change(Some("traces"), None, Some("none")).await.unwrap();
        assert_eq!(rules().await, []);
        for (table, days, message) in [
            (Some("trace"), Some("7"), "the tables are requests, traces"),
            (None, Some("0"), "no number of days"),
            (None, None, "nothing to change"),
        ] {
            let error = change(table, days, None).await.unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
