//! `hindsight user`: people who sign in at the embedded issuer.

use anyhow::{Context, bail};
use clap::Subcommand;
use hindsight_identity::{Passwords, secret};
use hindsight_store::{Catalogue, Clock, SystemClock, UserRecord};
use serde_json::{Value, json};

use super::data::{self, DataFolder};
use super::roles::{self, RoleArguments};
use super::{audit, output};

/// `hindsight user …`
#[derive(Debug, Subcommand)]
pub(super) enum UserCommand {
    /// Create a user, with a role on each named application.
    Create {
        /// The name that the user signs in with.
        name: String,
        /// Read the password from standard input. Without this flag a password is generated and shown once.
        #[arg(long)]
        password_stdin: bool,
        #[command(flatten)]
        roles: RoleArguments,
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// List all users with their roles.
    List {
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Set a new password. The user's sessions and tokens end.
    Password {
        /// The name of the user.
        name: String,
        /// Read the password from standard input. Without this flag a password is generated and shown once.
        #[arg(long)]
        password_stdin: bool,
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Grant a user roles on applications.
    Grant {
        /// The name of the user.
        name: String,
        #[command(flatten)]
        roles: RoleArguments,
        #[command(flatten)]
        data: DataFolder,
    },
    /// Revoke roles of a user.
    Revoke {
        /// The name of the user.
        name: String,
        #[command(flatten)]
        roles: RoleArguments,
        #[command(flatten)]
        data: DataFolder,
    },
    /// Delete a user. The user's sessions and tokens are rejected within a second.
    Delete {
        /// The name of the user.
        name: String,
        #[command(flatten)]
        data: DataFolder,
    },
}

impl UserCommand {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            UserCommand::Create {
                name,
                password_stdin,
                roles,
                data,
                json,
            } => create(&name, password_stdin, &roles, &data, json).await,
            UserCommand::List { data, json } => list(&data, json).await,
            UserCommand::Password {
                name,
                password_stdin,
                data,
                json,
            } => change(&name, password_stdin, &data, json).await,
            UserCommand::Grant { name, roles, data } => {
                roles.needed()?;
                let (catalogue, user) = found(&name, &data).await?;
                roles.grant(&catalogue, &user.id, &user.name).await
            }
            UserCommand::Revoke { name, roles, data } => {
                roles.needed()?;
                let (catalogue, user) = found(&name, &data).await?;
                roles.revoke(&catalogue, &user.id, &user.name).await
            }
            UserCommand::Delete { name, data } => {
                let (catalogue, user) = found(&name, &data).await?;
                catalogue.delete_user(&user.id).await?;
                audit::note(&catalogue, "user deleted", &user.name).await?;
                output::print(&format!("deleted user '{}'\n", user.name))
            }
        }
    }
}

async fn found(name: &str, data: &DataFolder) -> anyhow::Result<(Catalogue, UserRecord)> {
    let (catalogue, _) = data::open(data).await?;
    let user = catalogue
        .user(name)
        .await?
        .with_context(|| format!("there is no user '{name}'"))?;
    Ok((catalogue, user))
}

/// The password, and whether it was generated and must be shown.
fn password(from_stdin: bool) -> anyhow::Result<(String, bool)> {
    if !from_stdin {
        return Ok((secret::random()?, true));
    }
    let mut line = String::new();
    std::io::stdin()
        .read_line(&mut line)
        .context("cannot read the password")?;
    Ok((line.trim_end_matches(['\r', '\n']).to_owned(), false))
}

async fn create(
    name: &str,
    password_stdin: bool,
    roles: &RoleArguments,
    data: &DataFolder,
    json: bool,
) -> anyhow::Result<()> {
    if name.is_empty() || name.len() > 128 || name.contains(char::is_control) || name.trim() != name
    {
        bail!("a user's name has 1 to 128 characters, and no white space around it");
    }
    let (catalogue, _) = data::open(data).await?;
    let (password, made) = password(password_stdin)?;
    let user = UserRecord {
        id: secret::new_id().to_string(),
        name: name.to_owned(),
        password: Passwords::hash(&password)?,
        created: SystemClock::default().now_ticks(),
    };
    // Roles are read first: a mistyped application must not leave a user behind.
    roles.records(&catalogue, &user.id).await?;
    catalogue.create_user(&user).await?;
    audit::note(&catalogue, "user created", name).await?;
    roles.grant(&catalogue, &user.id, name).await?;
    show(&user, made.then_some(password), json)
}

fn show(user: &UserRecord, password: Option<String>, json: bool) -> anyhow::Result<()> {
    if json {
        let mut value = json!({ "id": user.id, "name": user.name });
        if let (Some(object), Some(password)) = (value.as_object_mut(), password) {
            object.insert("password".to_owned(), password.into());
        }
        return output::print(&format!("{value}\n"));
    }
    let mut text = format!("id        {}\nname      {}\n", user.id, user.name);
    if let Some(password) = password {
        text += &format!("password  {password}\n\nThe password is not shown again.\n");
    }
    output::print(&text)
}

async fn change(
    name: &str,
    password_stdin: bool,
    data: &DataFolder,
    json: bool,
) -> anyhow::Result<()> {
    let (catalogue, user) = found(name, data).await?;
    let (password, made) = password(password_stdin)?;
    let now = SystemClock::default().now_ticks();
    catalogue
        .set_password(&user.id, &Passwords::hash(&password)?, now)
        .await?;
    audit::note(&catalogue, "password changed", &user.name).await?;
    show(&user, made.then_some(password), json)
}

async fn list(data: &DataFolder, json: bool) -> anyhow::Result<()> {
    let (catalogue, _) = data::open(data).await?;
    let (users, held) = (catalogue.users().await?, catalogue.roles().await?);
    if json {
        let list: Vec<Value> = users
            .iter()
            .map(|user| json!({ "id": user.id, "name": user.name, "roles": roles::shape(&held, &user.id) }))
            .collect();
        return output::print(&format!("{}\n", Value::from(list)));
    }
    let header = ["NAME", "ID", "CREATED", "ROLES"].map(str::to_owned);
    let rows: Vec<Vec<String>> = users
        .into_iter()
        .map(|user| {
            let created = output::date(Some(user.created));
            let roles = roles::text(&held, &user.id);
            vec![user.name, user.id, created, roles]
        })
        .collect();
    output::print(&output::table(&header, &rows))
}
