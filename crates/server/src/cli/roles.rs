//! Roles of users and clients: which application, and what.

use anyhow::Context;
use clap::Args;
use hindsight_identity::Right;
use hindsight_store::{AppId, Catalogue, RoleRecord};
use serde_json::{Value, json};

use super::{app, audit};

/// Roles on applications.
#[derive(Debug, Args)]
pub(super) struct RoleArguments {
    /// The name or id of the application; `*` is every application. May be repeated.
    #[arg(long)]
    app: Vec<String>,
    /// The role: `read`, `ingest` or `admin`. May be repeated.
    #[arg(long, default_value = "read", value_parser = right)]
    role: Vec<Right>,
}

/// A right by its name.
pub(super) fn right(name: &str) -> Result<Right, String> {
    Right::parse(name).ok_or_else(|| "expected read, ingest or admin".to_owned())
}

impl RoleArguments {
    /// Each role with each application.
    pub(super) async fn records(
        &self,
        catalogue: &Catalogue,
        holder: &str,
    ) -> anyhow::Result<Vec<RoleRecord>> {
        let mut records = Vec::new();
        for name in &self.app {
            let app: Option<AppId> = match name.as_str() {
                "*" => None,
                name => Some(app::find(catalogue, name).await?.id),
            };
            records.extend(self.role.iter().map(|role| RoleRecord {
                holder: holder.to_owned(),
                app,
                role: role.name().to_owned(),
            }));
        }
        Ok(records)
    }

    /// Grants the roles.
    pub(super) async fn grant(
        &self,
        catalogue: &Catalogue,
        holder: &str,
        name: &str,
    ) -> anyhow::Result<()> {
        for record in self.records(catalogue, holder).await? {
            catalogue.grant_role(&record).await?;
            audit::note(catalogue, "role given", &described(name, &record)).await?;
        }
        Ok(())
    }

    /// Revokes the roles.
    pub(super) async fn revoke(
        &self,
        catalogue: &Catalogue,
        holder: &str,
        name: &str,
    ) -> anyhow::Result<()> {
        for record in self.records(catalogue, holder).await? {
            let held = catalogue.revoke_role(&record).await?;
            held.then_some(())
                .with_context(|| format!("{} is not held", described(name, &record)))?;
            audit::note(catalogue, "role taken away", &described(name, &record)).await?;
        }
        Ok(())
    }

    /// Refuses a command that names no application.
    pub(super) fn needed(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            !self.app.is_empty(),
            "say which application: --app NAME, or --app '*' for every one"
        );
        Ok(())
    }
}

fn described(name: &str, record: &RoleRecord) -> String {
    let app = record
        .app
        .map_or_else(|| "*".to_owned(), |app| app.to_string());
    format!("{name}: {} on {app}", record.role)
}

/// A holder's roles for JSON.
pub(super) fn shape(roles: &[RoleRecord], holder: &str) -> Value {
    let held = roles.iter().filter(|role| role.holder == holder);
    held.map(|role| {
        let app = role
            .app
            .map_or_else(|| "*".to_owned(), |app| app.to_string());
        json!({ "app": app, "role": role.role })
    })
    .collect::<Vec<_>>()
    .into()
}

/// A holder's roles for a table.
pub(super) fn text(roles: &[RoleRecord], holder: &str) -> String {
    let held = roles.iter().filter(|role| role.holder == holder);
    let texts = held.map(|role| {
        let app = role
            .app
            .map_or_else(|| "*".to_owned(), |app| app.to_string());
        format!("{} on {app}", role.role)
    });
    texts.collect::<Vec<_>>().join("; ")
}
