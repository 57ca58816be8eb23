//! `hindsight client`: programs that ask the embedded issuer for tokens.

use anyhow::{Context, bail};
use clap::Subcommand;
use hindsight_identity::{issuer, secret};
use hindsight_store::{Catalogue, ClientRecord, Clock, SecretRecord, SystemClock};
use serde_json::{Value, json};

use super::data::{self, DataFolder};
use super::roles::{self, RoleArguments};
use super::{audit, output};
use crate::config::duration;

/// `hindsight client …`
#[derive(Debug, Subcommand)]
pub(super) enum ClientCommand {
    /// Create a client, with a role on each named application. Its secret is shown only once.
    Create {
        /// The name of the client, which the sign-in page shows.
        name: String,
        /// The client id, a UUID [default: generated]
        #[arg(long)]
        id: Option<uuid::Uuid>,
        /// An allowed redirect URI, which must match exactly. May be repeated.
        #[arg(long, value_name = "URL")]
        redirect: Vec<String>,
        /// Make it a public client, which signs users in without a secret: native programs and the device code flow.
        #[arg(long)]
        public: bool,
        /// Create no secret.
        #[arg(long, requires = "public")]
        no_secret: bool,
        /// How long the secret is valid, such as 180d [default: no expiry]
        #[arg(long, value_name = "DURATION")]
        expires: Option<String>,
        #[command(flatten)]
        roles: RoleArguments,
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// List all clients with their roles.
    List {
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Create another secret for a client.
    AddSecret {
        /// The id or name of the client.
        client: String,
        /// How long the secret is valid, such as 180d [default: no expiry]
        #[arg(long, value_name = "DURATION")]
        expires: Option<String>,
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Delete a secret of a client.
    DeleteSecret {
        /// The id or name of the client.
        client: String,
        /// The id of the secret.
        secret_id: String,
        #[command(flatten)]
        data: DataFolder,
    },
    /// Grant a client roles on applications.
    Grant {
        /// The id or name of the client.
        client: String,
        #[command(flatten)]
        roles: RoleArguments,
        #[command(flatten)]
        data: DataFolder,
    },
    /// Revoke roles of a client.
    Revoke {
        /// The id or name of the client.
        client: String,
        #[command(flatten)]
        roles: RoleArguments,
        #[command(flatten)]
        data: DataFolder,
    },
    /// Delete a client. Its tokens are rejected within a second.
    Delete {
        /// The id or name of the client.
        client: String,
        #[command(flatten)]
        data: DataFolder,
    },
}

impl ClientCommand {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            ClientCommand::Create {
                name,
                id,
                redirect,
                public,
                no_secret,
                expires,
                roles,
                data,
                json,
            } => {
                let (record, text) =
                    new_client(name, id, redirect, public, no_secret, expires.as_deref())?;
                create(&record, text, &roles, &data, json).await
            }
            ClientCommand::List { data, json } => list(&data, json).await,
            ClientCommand::AddSecret {
                client,
                expires,
                data,
                json,
            } => {
                let (catalogue, found) = found(&client, &data).await?;
                let (record, text) = new_secret(expires.as_deref())?;
                catalogue.create_secret(&found.id, &record).await?;
                audit::note(&catalogue, "client secret created", &found.name).await?;
                show(&found, Some((record.id, text)), json)
            }
            ClientCommand::DeleteSecret {
                client,
                secret_id,
                data,
            } => {
                let (catalogue, found) = found(&client, &data).await?;
                if !catalogue.delete_secret(&found.id, &secret_id).await? {
                    bail!("the client '{}' has no secret '{secret_id}'", found.name);
                }
                audit::note(&catalogue, "client secret deleted", &found.name).await?;
                output::print(&format!("deleted secret {secret_id}\n"))
            }
            ClientCommand::Grant {
                client,
                roles,
                data,
            } => {
                roles.needed()?;
                let (catalogue, found) = found(&client, &data).await?;
                roles.grant(&catalogue, &found.id, &found.name).await
            }
            ClientCommand::Revoke {
                client,
                roles,
                data,
            } => {
                roles.needed()?;
                let (catalogue, found) = found(&client, &data).await?;
                roles.revoke(&catalogue, &found.id, &found.name).await
            }
            ClientCommand::Delete { client, data } => {
                let (catalogue, found) = found(&client, &data).await?;
                catalogue.delete_client(&found.id).await?;
                audit::note(&catalogue, "client deleted", &found.name).await?;
                output::print(&format!("deleted client '{}' ({})\n", found.name, found.id))
            }
        }
    }
}

async fn found(client: &str, data: &DataFolder) -> anyhow::Result<(Catalogue, ClientRecord)> {
    let (catalogue, _) = data::open(data).await?;
    let found = catalogue.client(client).await?.with_context(|| {
        format!(
            "'{client}' does not name exactly one client; `hindsight client list` shows the ids"
        )
    })?;
    Ok((catalogue, found))
}

fn new_secret(expires: Option<&str>) -> anyhow::Result<(SecretRecord, String)> {
    let now = SystemClock::default().now_ticks();
    let text = secret::random()?;
    let ticks =
        |time: std::time::Duration| i64::try_from(time.as_nanos() / 100).unwrap_or(i64::MAX);
    let lifetime = expires.map(duration).transpose()?.map(ticks);
    let record = SecretRecord {
        id: secret::new_id().to_string(),
        hash: secret::hash(&text),
        created: now,
        expires: lifetime.map(|time| now.saturating_add(time)),
    };
    Ok((record, text))
}

fn new_client(
    name: String,
    id: Option<uuid::Uuid>,
    redirects: Vec<String>,
    public: bool,
    no_secret: bool,
    expires: Option<&str>,
) -> anyhow::Result<(ClientRecord, Option<String>)> {
    if name.is_empty() || name.len() > 128 || name.contains(char::is_control) {
        bail!("a client's name has 1 to 128 characters");
    }
    for redirect in &redirects {
        issuer::check_redirect(redirect).map_err(anyhow::Error::msg)?;
    }
    let secret = if no_secret {
        None
    } else {
        Some(new_secret(expires)?)
    };
    let (secrets, text) = secret.unzip();
    let client = ClientRecord {
        id: id.unwrap_or_else(secret::new_id).to_string(),
        name,
        public,
        created: SystemClock::default().now_ticks(),
        redirects,
        secrets: secrets.into_iter().collect(),
    };
    Ok((client, text))
}

async fn create(
    client: &ClientRecord,
    secret: Option<String>,
    roles: &RoleArguments,
    data: &DataFolder,
    json: bool,
) -> anyhow::Result<()> {
    let (catalogue, _) = data::open(data).await?;
    // Roles are read first: a mistyped application must not leave a client behind.
    roles.records(&catalogue, &client.id).await?;
    catalogue.create_client(client).await?;
    audit::note(&catalogue, "client created", &client.name).await?;
    roles.grant(&catalogue, &client.id, &client.name).await?;
    let kept = client.secrets.first().map(|kept| kept.id.clone());
    show(client, kept.zip(secret), json)
}

fn show(client: &ClientRecord, secret: Option<(String, String)>, json: bool) -> anyhow::Result<()> {
    if json {
        let mut value =
            json!({ "clientId": client.id, "name": client.name, "redirects": client.redirects });
        if let (Some(object), Some((id, text))) = (value.as_object_mut(), secret) {
            object.insert("secretId".to_owned(), id.into());
            object.insert("secret".to_owned(), text.into());
        }
        return output::print(&format!("{value}\n"));
    }
    let mut text = format!("client id  {}\nname       {}\n", client.id, client.name);
    for redirect in &client.redirects {
        text += &format!("redirect   {redirect}\n");
    }
    if let Some((id, secret)) = secret {
        text +=
            &format!("secret id  {id}\nsecret     {secret}\n\nThe secret is not shown again.\n");
    }
    output::print(&text)
}

async fn list(data: &DataFolder, json: bool) -> anyhow::Result<()> {
    let (catalogue, _) = data::open(data).await?;
    let (clients, held) = (catalogue.clients().await?, catalogue.roles().await?);
    if json {
        let list: Vec<Value> = clients
            .iter()
            .map(|client| shape(client, roles::shape(&held, &client.id)))
            .collect();
        return output::print(&format!("{}\n", Value::from(list)));
    }
    let header = [
        "NAME",
        "CLIENT ID",
        "PUBLIC",
        "SECRETS",
        "REDIRECTS",
        "ROLES",
    ]
    .map(str::to_owned);
    let rows: Vec<Vec<String>> = clients
        .iter()
        .map(|client| {
            vec![
                client.name.clone(),
                client.id.clone(),
                if client.public { "yes" } else { "no" }.to_owned(),
                client.secrets.len().to_string(),
                client.redirects.join(" "),
                roles::text(&held, &client.id),
            ]
        })
        .collect();
    output::print(&output::table(&header, &rows))
}

fn shape(client: &ClientRecord, roles: Value) -> Value {
    let secrets: Vec<Value> = client
        .secrets
        .iter()
        .map(|secret| {
            let expires = secret.expires.map(|at| output::date(Some(at)));
            json!({ "id": secret.id, "created": output::date(Some(secret.created)), "expires": expires })
        })
        .collect();
    json!({
        "clientId": client.id,
        "name": client.name,
        "public": client.public,
        "redirects": client.redirects,
        "secrets": secrets,
        "roles": roles,
    })
}
