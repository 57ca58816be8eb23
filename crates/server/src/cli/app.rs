//! `hindsight app`.

use anyhow::Context;
use clap::Subcommand;
use hindsight_store::{Application, Catalogue, Clock, SystemClock};
use serde_json::{Value, json};

use super::data::{DataFolder, open};
use super::{audit, output};
use crate::app::{connection_string, create_app};

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
                    Catalogue::open_or_create(&data.path()?)
                        .await?
                        .close()
                        .await;
                }
                create(&name, &data, json).await
            }
            AppCommand::List { data, json } => list(&data, json).await,
            AppCommand::Show { app, data, json } => {
                let (catalogue, base) = open(&data).await?;
                show(&find(&catalogue, &app).await?, &base, json)
            }
            AppCommand::Delete { app, data, json } => delete(&app, &data, json).await,
        }
    }
}

/// The application of this name or id.
pub(super) async fn find(catalogue: &Catalogue, name_or_id: &str) -> anyhow::Result<Application> {
    catalogue
        .app(name_or_id)
        .await?
        .with_context(|| format!("there is no application '{name_or_id}'"))
}

fn shape(app: &Application, base: &str) -> Value {
    json!({
        "name": app.name,
        "appId": app.id.to_string(),
        "instrumentationKey": app.instrumentation_key.to_string(),
        "connectionString": connection_string(base, app),
    })
}

fn show(app: &Application, base: &str, json: bool) -> anyhow::Result<()> {
    if json {
        return output::print(&format!("{}\n", shape(app, base)));
    }
    output::print(&format!(
        "name                 {}\napplication id       {}\ninstrumentation key  {}\nconnection string    {}\n",
        app.name,
        app.id,
        app.instrumentation_key,
        connection_string(base, app)
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
