//! `hindsight app`.

use std::fmt::Display;

use anyhow::{Context, bail};
use clap::Subcommand;
use hindsight_store::{Application, Catalogue, Clock, SystemClock, Tier};
use serde_json::{Value, json};

use super::ask::{Listed, unknown};
use super::data::{DataFolder, open};
use super::{audit, output};
use crate::app::{connection_string, create_app, otlp_environment};
use crate::config::bytes;

/// `hindsight app …`
#[derive(Debug, Subcommand)]
pub(super) enum AppCommand {
    /// Create an application.
    Create {
        /// The name of the application.
        name: String,
        /// Create the data folder if it does not exist.
        #[arg(long)]
        create: bool,
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// List all applications.
    List {
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show an application and its connection string.
    Show {
        /// The name or id of the application.
        app: String,
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Change the pricing tier, the daily cap or the retention of an application.
    Set {
        /// The name or id of the application.
        app: String,
        /// The pricing tier: free, basic or enterprise. Queries need at least the tier of the setting `apps.minimum_tier`.
        #[arg(long)]
        tier: Option<String>,
        /// Telemetry that the application may send in a day (UTC), such as 500MB, or `none`. Beyond it, ingestion answers 402.
        #[arg(long, value_name = "BYTES")]
        daily_cap: Option<String>,
        /// Days that telemetry is kept, or `none` for the setting `retention.age`.
        #[arg(long, value_name = "DAYS")]
        retention_days: Option<String>,
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Delete an application with its API keys and its telemetry.
    Delete {
        /// The name or id of the application.
        app: String,
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
}

impl AppCommand {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            AppCommand::Create {
                name,
                create: create_folder,
                data,
                json,
            } => {
                if create_folder {
                    let settings = data.settings()?;
                    let catalogue = settings.catalogue.open_or_create(&settings.data).await?;
                    catalogue.close().await;
                }
                create(&name, &data, json).await
            }
            AppCommand::List { data, json } => list(&data, json).await,
            AppCommand::Show { app, data, json } => {
                let (catalogue, base) = open(&data).await?;
                show(&find(&catalogue, &app).await?, &base, json)
            }
            AppCommand::Set {
                app,
                tier,
                daily_cap,
                retention_days,
                data,
                json,
            } => {
                let changes = Changes {
                    tier: tier.as_deref().map(pricing_tier).transpose()?,
                    daily_cap: daily_cap
                        .as_deref()
                        .map(|cap| limit(cap, bytes))
                        .transpose()?,
                    retention_days: retention_days
                        .as_deref()
                        .map(|days| limit(days, whole_days))
                        .transpose()?,
                };
                set(&app, changes, &data, json).await
            }
            AppCommand::Delete { app, data, json } => delete(&app, &data, json).await,
        }
    }
}

/// The application of this name or id.
pub(super) async fn find(catalogue: &Catalogue, name_or_id: &str) -> anyhow::Result<Application> {
    if let Some(app) = catalogue.app(name_or_id).await? {
        return Ok(app);
    }
    let listed: Vec<Listed> = catalogue
        .apps()
        .await?
        .into_iter()
        .map(Listed::from)
        .collect();
    bail!("{}", unknown(name_or_id, &listed))
}

/// What `hindsight app set` changes; `Some(None)` takes a limit away.
struct Changes {
    tier: Option<Tier>,
    daily_cap: Option<Option<u64>>,
    retention_days: Option<Option<u32>>,
}

fn pricing_tier(name: &str) -> anyhow::Result<Tier> {
    Tier::parse(name)
        .with_context(|| format!("`{name}` is no pricing tier; use free, basic or enterprise"))
}

/// A limit, or `none`.
pub(super) fn limit<T>(
    text: &str,
    parse: impl Fn(&str) -> anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    if text == "none" {
        Ok(None)
    } else {
        parse(text).map(Some)
    }
}

/// A number of days.
pub(super) fn whole_days(text: &str) -> anyhow::Result<u32> {
    text.parse()
        .ok()
        .filter(|days| *days > 0)
        .with_context(|| format!("`{text}` is no number of days; write for example 30"))
}

async fn set(name: &str, changes: Changes, data: &DataFolder, json: bool) -> anyhow::Result<()> {
    let (catalogue, base) = open(data).await?;
    let mut app = find(&catalogue, name).await?;
    let mut changed = Vec::new();
    if let Some(tier) = changes.tier {
        app.tier = tier;
        changed.push(format!("tier {}", tier.name()));
    }
    if let Some(cap) = changes.daily_cap {
        app.daily_cap_bytes = cap;
        changed.push(format!("daily cap {}", or_none(cap)));
    }
    if let Some(days) = changes.retention_days {
        app.retention_days = days;
        changed.push(format!("retention days {}", or_none(days)));
    }
    if changed.is_empty() {
        bail!("nothing to change: use --tier, --daily-cap or --retention-days");
    }
    catalogue
        .set_app_limits(app.id, app.tier, app.daily_cap_bytes, app.retention_days)
        .await?;
    let subject = format!("{}: {}", app.name, changed.join(", "));
    audit::note(&catalogue, "application changed", &subject).await?;
    show(&app, &base, json)
}

/// A limit as it is printed.
pub(super) fn or_none(limit: Option<impl Display>) -> String {
    limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string())
}

fn shape(app: &Application, base: &str) -> Value {
    json!({
        "name": app.name,
        "appId": app.id.to_string(),
        "instrumentationKey": app.instrumentation_key.to_string(),
        "connectionString": connection_string(base, app),
        "openTelemetry": otlp_environment(base, app).into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect::<serde_json::Map<String, Value>>(),
        "tier": app.tier.name(),
        "dailyCapBytes": app.daily_cap_bytes,
        "retentionDays": app.retention_days,
    })
}

fn show(app: &Application, base: &str, json: bool) -> anyhow::Result<()> {
    if json {
        return output::print(&format!("{}\n", shape(app, base)));
    }
    let environment = otlp_environment(base, app);
    let environment = environment.map(|(name, value)| format!("{name}={value}\n"));
    output::print(&format!(
        "name                 {}\napplication id       {}\ninstrumentation key  {}\nconnection string    {}\npricing tier         {}\ndaily cap, bytes     {}\nretention, days      {}\n\nOpenTelemetry:\n{}",
        app.name,
        app.id,
        app.instrumentation_key,
        connection_string(base, app),
        app.tier.name(),
        or_none(app.daily_cap_bytes),
        or_none(app.retention_days),
        environment.concat(),
    ))
}

async fn create(name: &str, data: &DataFolder, json: bool) -> anyhow::Result<()> {
    let (catalogue, base) = open(data).await?;
    let app = create_app(&catalogue, name, SystemClock::default().now_ticks()).await?;
    audit::note(&catalogue, "application created", &app.name).await?;
    show(&app, &base, json)
}

async fn list(data: &DataFolder, json: bool) -> anyhow::Result<()> {
    let (catalogue, base) = open(data).await?;
    let apps = catalogue.apps().await?;
    if json {
        let list: Vec<Value> = apps.iter().map(|app| shape(app, &base)).collect();
        return output::print(&format!("{}\n", Value::from(list)));
    }
    let header = ["NAME", "APPLICATION ID", "INSTRUMENTATION KEY", "CREATED"].map(str::to_owned);
    let rows: Vec<Vec<String>> = apps
        .iter()
        .map(|app| {
            vec![
                app.name.clone(),
                app.id.to_string(),
                app.instrumentation_key.to_string(),
                output::date(Some(app.created)),
            ]
        })
        .collect();
    output::print(&output::table(&header, &rows))
}

async fn delete(name_or_id: &str, data: &DataFolder, json: bool) -> anyhow::Result<()> {
    let (catalogue, _) = open(data).await?;
    let app = find(&catalogue, name_or_id).await?;
    catalogue
        .delete_app(app.id, SystemClock::default().now_ticks())
        .await?;
    audit::note(
        &catalogue,
        "application deleted",
        &format!("{} ({})", app.name, app.id),
    )
    .await?;
    let text = if json {
        json!({ "deleted": app.id.to_string() }).to_string()
    } else {
        format!(
            "deleted application '{}' ({}), its keys and its telemetry",
            app.name, app.id
        )
    };
    output::print(&format!("{text}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn limits_are_changed_one_by_one_and_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        let data = || DataFolder::at(folder.path());
        let catalogue = Catalogue::open_or_create(folder.path()).await.unwrap();
        create_app(&catalogue, "shop", 0).await.unwrap();
        let change = async |tier: Option<&str>, cap: Option<&str>, days: Option<&str>| {
            let command = AppCommand::Set {
                app: "shop".to_owned(),
                tier: tier.map(str::to_owned),
                daily_cap: cap.map(str::to_owned),
                retention_days: days.map(str::to_owned),
                data: data(),
                json: true,
            };
            command.run().await.map_err(|error| error.to_string())
        };
        let limits = async || {
            let app = find(&catalogue, "shop").await.unwrap();
            (app.tier, app.daily_cap_bytes, app.retention_days)
        };
        change(Some("free"), Some("2MB"), None).await.unwrap();
        assert_eq!(limits().await, (Tier::Free, Some(2_000_000), None));
        change(None, None, Some("30")).await.unwrap();
        assert_eq!(limits().await, (Tier::Free, Some(2_000_000), Some(30)));
        change(Some("basic"), Some("none"), Some("none"))
            .await
            .unwrap();
        assert_eq!(limits().await, (Tier::Basic, None, None));
        for (tier, cap, days, message) in [
            (Some("gold"), None, None, "free, basic or enterprise"),
            (None, Some("much"), None, "much"),
            (None, None, Some("0"), "no number of days"),
            (None, None, None, "nothing to change"),
        ] {
            let error = change(tier, cap, days).await.unwrap_err();
            assert!(error.contains(message), "{error}");
        }
        assert_eq!(limits().await, (Tier::Basic, None, None));
        let notes = catalogue.audit(0, 10).await.unwrap();
        let texts: Vec<&str> = notes.iter().map(|note| note.subject.as_str()).collect();
        assert!(
            texts.contains(&"shop: tier free, daily cap 2000000"),
            "{texts:?}"
        );
    }
}
