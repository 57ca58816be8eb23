//! The data folder that a command works on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use hindsight_objects::Address;
use hindsight_store::{Catalogue, ObjectStorage, ObjectsConfig};

use crate::config::Settings;

/// The default of the setting `data`.
const DEFAULT_FOLDER: &str = "./hindsight-data";

/// The data folder of a command.
#[derive(Debug, Args)]
pub(super) struct DataFolder {
    /// Data folder [env: HINDSIGHT_DATA] [default: ./hindsight-data]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Catalogue in PostgreSQL, `postgres://user@host/database` [env: HINDSIGHT_STORE_CATALOGUE] [default: in the data folder]
    #[arg(long, value_name = "URL")]
    catalogue: Option<String>,
}

impl DataFolder {
    /// This folder.
    #[cfg(test)]
    pub(super) fn at(path: &Path) -> DataFolder {
        DataFolder {
            data: Some(path.to_owned()),
            catalogue: None,
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
        if let Some(catalogue) = &self.catalogue {
            settings.set("store.catalogue", catalogue)?;
        }
        Ok(settings)
    }
}

/// An environment variable.
pub(super) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// The object store at an address, with the credentials of the environment.
pub(super) fn object_store(address: &Address) -> anyhow::Result<Arc<dyn ObjectStorage>> {
    hindsight_objects::open(address, environment).with_context(|| address.to_string())
}

/// How long objects stay after their segments are no longer data, as a multiple of the longest query timeout.
const GRACE_FACTOR: u32 = 2;

/// How the settings have segments kept in an object store, if they name one.
pub(super) fn objects(settings: &Settings) -> anyhow::Result<Option<ObjectsConfig>> {
    let Some(address) = &settings.store_objects else {
        return Ok(None);
    };
    let defaults = ObjectsConfig::new(object_store(address)?);
    Ok(Some(ObjectsConfig {
        cache_bytes: settings.store_segment_cache,
        orphan_age: settings.store_orphan_age,
        // Queries of other nodes end before the objects that they read are deleted.
        grace: defaults
            .grace
            .max(settings.query_max_wait.saturating_mul(GRACE_FACTOR)),
        ..defaults
    }))
}

/// The program as the user has started it, if that was by a path; otherwise its name.
pub(super) fn program() -> String {
    let first = std::env::args().next().filter(|first| first.contains('/'));
    first.map_or_else(|| "hindsight".to_owned(), |first| quoted(&first))
}

/// ` --data DIR` for commands about a folder, in front of which there may be other arguments; nothing for the default folder.
pub(super) fn data_flag(folder: &Path) -> String {
    if folder == Path::new(DEFAULT_FOLDER) {
        return String::new();
    }
    format!(" --data {}", quoted(&folder.display().to_string()))
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
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
    Ok((settings.catalogue.open(&settings.data).await?, base))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_lines_for_a_shell() {
        assert_eq!(data_flag(&Settings::load(None, |_| None).unwrap().data), "");
        assert_eq!(data_flag(Path::new("/var/lib/h")), " --data /var/lib/h");
        assert_eq!(data_flag(Path::new("it's here")), r" --data 'it'\''s here'");
    }
}
