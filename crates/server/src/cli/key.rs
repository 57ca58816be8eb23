//! `hindsight key`.

use anyhow::bail;
use clap::Subcommand;
use hindsight_identity::{Right, Rights};
use hindsight_store::{Clock, KeyRecord, SystemClock};
use serde_json::{Value, json};

use super::data::{self, DataFolder};
use super::roles::right;
use super::{app, audit, output};
use crate::app::create_key_with;
use crate::config::duration;

/// `hindsight key …`
#[derive(Debug, Subcommand)]
pub(super) enum KeyCommand {
    /// Create an API key. It is shown only once.
    Create {
        /// The name or id of the application.
        #[arg(long)]
        app: String,
        /// A name for the key.
        #[arg(long, value_name = "TEXT", default_value = "")]
        name: String,
        /// How long the key is valid, such as 30d [default: no expiry]
        #[arg(long, value_name = "DURATION")]
        expires: Option<String>,
        /// A right of the key: `read`, `ingest` or `admin`. May be repeated.
        #[arg(long, default_value = "read", value_parser = right)]
        scope: Vec<Right>,
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the API keys of an application.
    List {
        /// The name or id of the application.
        #[arg(long)]
        app: String,
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Delete an API key. It is rejected within a second.
    Delete {
        /// The id of the key.
        key_id: String,
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
}

impl KeyCommand {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            KeyCommand::Create {
                app,
                name,
                expires,
                scope,
                data,
                json,
            } => create(&app, &name, expires.as_deref(), &scope, &data, json).await,
            KeyCommand::List { app, data, json } => list(&app, &data, json).await,
            KeyCommand::Delete { key_id, data, json } => delete(&key_id, &data, json).await,
        }
    }
}

async fn create(
    app: &str,
    name: &str,
    expires: Option<&str>,
    scope: &[Right],
    data: &DataFolder,
    json: bool,
) -> anyhow::Result<()> {
    let (catalogue, _) = data::open(data).await?;
    let app = app::find(&catalogue, app).await?;
    let now = SystemClock::default().now_ticks();
    let lifetime = expires.map(duration).transpose()?;
    let expires = lifetime
        .map(|time| now.saturating_add(i64::try_from(time.as_nanos() / 100).unwrap_or(i64::MAX)));
    let rights = scope
        .iter()
        .fold(Rights::NONE, |rights, right| rights.with(*right));
    let (id, key) = create_key_with(&catalogue, app.id, name, rights, now, expires).await?;
    audit::note(
        &catalogue,
        "key created",
        &format!("{id} ({}) of {}", rights.text(), app.name),
    )
    .await?;
    if json {
        return output::print(&format!(
            "{}\n",
            json!({ "id": id, "name": name, "scopes": rights.text(), "key": key })
        ));
    }
    output::print(&format!(
        "id   {id}\nname {name}\nkey  {key}\n\nThe key is not shown again.\n"
    ))
}

async fn list(app: &str, data: &DataFolder, json: bool) -> anyhow::Result<()> {
    let (catalogue, _) = data::open(data).await?;
    let app = app::find(&catalogue, app).await?;
    let keys = catalogue.keys(app.id).await?;
    if json {
        let list: Vec<Value> = keys.iter().map(shape).collect();
        return output::print(&format!("{}\n", Value::from(list)));
    }
    let header = ["ID", "NAME", "SCOPES", "CREATED", "EXPIRES", "LAST USED"].map(str::to_owned);
    let rows: Vec<Vec<String>> = keys
        .iter()
        .map(|key| {
            vec![
                key.id.clone(),
                key.name.clone(),
                key.scopes.clone(),
                output::date(Some(key.created)),
                output::date(key.expires),
                output::date(key.last_used),
            ]
        })
        .collect();
    output::print(&output::table(&header, &rows))
}

fn shape(key: &KeyRecord) -> Value {
    json!({
        "id": key.id,
        "name": key.name,
        "scopes": key.scopes,
        "created": output::date(Some(key.created)),
        "expires": key.expires.map(|at| output::date(Some(at))),
        "lastUsed": key.last_used.map(|at| output::date(Some(at))),
    })
}

async fn delete(id: &str, data: &DataFolder, json: bool) -> anyhow::Result<()> {
    let (catalogue, _) = data::open(data).await?;
    if !catalogue.delete_key(id).await? {
        bail!("there is no key '{id}'");
    }
    audit::note(&catalogue, "key deleted", id).await?;
    let text = if json {
        json!({ "deleted": id }).to_string()
    } else {
        format!("deleted key {id}")
    };
    output::print(&format!("{text}\n"))
}
