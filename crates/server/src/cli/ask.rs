//! Where a command sends queries: the application, and the server or folder that holds its telemetry.

use anyhow::bail;
use clap::Args;
use hindsight_store::Application;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::data::{self, DataFolder};
use super::place;
use super::target::{Header, Reply, Target};

/// The application of a command, and where it is.
#[derive(Debug, Args)]
pub(super) struct AppArguments {
    /// The name or id of the application. Without it: the only one that there is.
    #[arg(long, env = "HINDSIGHT_APP")]
    app: Option<String>,
    #[command(flatten)]
    data: DataFolder,
    /// Ask the server at this URL instead of the data folder.
    #[arg(long, conflicts_with = "data")]
    url: Option<String>,
    /// API key for `--url`.
    #[arg(long, requires = "url", env = "HINDSIGHT_KEY", hide_env_values = true)]
    key: Option<String>,
}

/// An application as commands list it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    /// Its name.
    pub(super) name: String,
    /// Its id.
    pub(super) id: String,
}

impl From<Application> for Listed {
    fn from(app: Application) -> Listed {
        Listed {
            name: app.name,
            id: app.id.to_string(),
        }
    }
}

impl AppArguments {
    /// The server or the folder.
    pub(super) async fn target(&self) -> anyhow::Result<Target> {
        match &self.url {
            Some(url) => Target::at(url, self.key.as_deref()),
            None => Target::folder(&self.data).await,
        }
    }

    /// The name or id of the application: the given one or, without it, the only one.
    pub(super) async fn app(&self, target: &Target) -> anyhow::Result<String> {
        if let Some(app) = &self.app {
            return Ok(app.clone());
        }
        let listed = self.apps(target).await?;
        match listed.as_slice() {
            [only] => Ok(only.id.clone()),
            [] => bail!("there is no application; `hindsight app create NAME` creates one"),
            several => bail!("--app is missing; the applications are {}", names(several)),
        }
    }

    /// The applications that may be queried.
    pub(super) async fn apps(&self, target: &Target) -> anyhow::Result<Vec<Listed>> {
        if self.url.is_none() {
            let (catalogue, _) = data::open(&self.data).await?;
            let listed = catalogue.apps().await?.into_iter().map(Listed::from);
            return Ok(listed.collect());
        }
        let reply = target.get("/portal/api/apps").await?;
        if reply.status != 200 {
            bail!(
                "--app is missing, and the server lists no applications (status {}); `hindsight app list` lists them on its machine",
                reply.status
            );
        }
        let value: Value = serde_json::from_slice(&reply.body)?;
        let list = value.get("applications").and_then(Value::as_array);
        let text = |app: &Value, key: &str| app.get(key).and_then(Value::as_str).map(str::to_owned);
        let listed = list.into_iter().flatten().filter_map(|app| {
            Some(Listed {
                name: text(app, "name")?,
                id: text(app, "id")?,
            })
        });
        Ok(listed.collect())
    }

    /// A running server: the one at the URL, or the one that holds the data folder. `None` if no server holds it.
    pub(super) fn server(&self) -> anyhow::Result<Option<Target>> {
        match &self.url {
            Some(url) => Target::at(url, self.key.as_deref()).map(Some),
            None => Target::holder(&self.data),
        }
    }

    /// The data folder.
    pub(super) fn folder(&self) -> &DataFolder {
        &self.data
    }

    /// The error of a query, with every place of it, and what to do about it.
    pub(super) async fn failure(
        &self,
        target: &Target,
        app: &str,
        reply: &Reply,
        query: &str,
    ) -> anyhow::Error {
        let message = match serde_json::from_slice::<Value>(&reply.body) {
            Ok(value) => place::failure(reply.status, &value, query),
            Err(_) => format!("status {} without a JSON body", reply.status),
        };
        match self.advice(target, app, reply.status).await {
            Some(advice) => anyhow::anyhow!("{message}\n{advice}"),
            None => anyhow::anyhow!(message),
        }
    }

    /// What helps against a status.
    async fn advice(&self, target: &Target, app: &str, status: u16) -> Option<String> {
        let remote = self.url.is_some();
        match status {
            401 | 403 if remote && self.key.is_none() => Some(
                "--key (or the variable HINDSIGHT_KEY) is missing: `hindsight key create --app NAME` creates an API key on the server's machine".to_owned(),
            ),
            401 | 403 if remote => Some(format!(
                "the API key is not valid for the application '{app}': `hindsight key list --app NAME` lists its keys on the server's machine"
            )),
            403 | 404 => {
                let listed = self.apps(target).await.ok()?;
                if listed.iter().any(|one| one.id == app || one.name == app) {
                    return None;
                }
                Some(unknown(app, &listed))
            }
            _ => None,
        }
    }
}

/// The names of applications, in quotation marks.
pub(super) fn names(listed: &[Listed]) -> String {
    let quoted = listed.iter().map(|app| format!("'{}'", app.name));
    quoted.collect::<Vec<_>>().join(", ")
}

/// A sentence about a name or id that no application has.
pub(super) fn unknown(name_or_id: &str, listed: &[Listed]) -> String {
    if listed.is_empty() {
        return format!(
            "there is no application '{name_or_id}', and no other one; `hindsight app create NAME` creates one"
        );
    }
    format!(
        "there is no application '{name_or_id}'; the applications are {}",
        names(listed)
    )
}

/// A query as it is sent.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Question<'q> {
    /// The KQL text.
    pub(super) kql: &'q str,
    /// An ISO 8601 duration or interval.
    pub(super) timespan: Option<&'q str>,
    /// Ask for the visualization and the statistics.
    pub(super) extras: bool,
    /// Whether the reply may come from the cache.
    pub(super) cached: bool,
}

/// Sends a query.
pub(super) async fn ask(
    target: &Target,
    app: &str,
    question: &Question<'_>,
) -> anyhow::Result<Reply> {
    let path = format!(
        "/v1/apps/{}/query",
        utf8_percent_encode(app, NON_ALPHANUMERIC)
    );
    let mut body = json!({ "query": question.kql });
    if let (Some(timespan), Some(object)) = (question.timespan, body.as_object_mut()) {
        object.insert("timespan".to_owned(), timespan.into());
    }
    let mut headers: Vec<Header> = vec![("content-type", "application/json")];
    if question.extras {
        headers.push(("prefer", "include-render=true, include-statistics=true"));
    }
    if !question.cached {
        headers.push(("cache-control", "no-cache"));
    }
    target
        .send("POST", &path, &headers, body.to_string().into_bytes())
        .await
}
