//! The data folder that a command works on.

use std::path::PathBuf;

use clap::Args;
use hindsight_store::Catalogue;

use crate::config::Settings;

/// The data folder of a command.
#[derive(Debug, Args)]
pub(super) struct DataFolder {
    /// Data folder [env: HINDSIGHT_DATA] [default: ./hindsight-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl DataFolder {
    /// This folder.
    #[cfg(test)]
    pub(super) fn at(path: &std::path::Path) -> DataFolder {
        DataFolder {
            data: Some(path.to_owned()),
        }
    }

    /// The folder from the flag, the environment or the default.
    pub(super) fn path(&self) -> anyhow::Result<PathBuf> {
        match &self.data {
            Some(path) => Ok(path.clone()),
            None => Ok(Settings::load(None, environment)?.data),
        }
    }

    /// The settings with this folder.
    pub(super) fn settings(&self) -> anyhow::Result<Settings> {
        let mut settings = Settings::load(None, environment)?;
        settings.data = self.path()?;
        Ok(settings)
    }
}

/// An environment variable.
pub(super) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The names of all environment variables.
pub(super) fn variables() -> impl Iterator<Item = String> {
    std::env::vars_os().filter_map(|(name, _)| name.into_string().ok())
}

/// The catalogue of an existing data folder, and the URL of the server that has it open or would open it.
pub(super) async fn open(data: &DataFolder) -> anyhow::Result<(Catalogue, String)> {
    let settings = data.settings()?;
    let base = match hindsight_store::holder(&settings.data) {
        Some(server) => client_url(&settings, &server.url, server.tls_url.as_deref()),
        None => client_url(&settings, &format!("http://{}", settings.listen), None),
    };
    Ok((Catalogue::open(&settings.data).await?, base))
}

/// The base URL that clients are given: the one that is set, or that of TLS, or that of plain HTTP. Several SDKs speak TLS
/// alone.
pub(super) fn client_url(settings: &Settings, url: &str, tls_url: Option<&str>) -> String {
    if settings.public_url.is_empty() {
        tls_url.unwrap_or(url).to_owned()
    } else {
        settings.public_url.clone()
    }
}
