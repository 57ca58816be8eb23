//! A data folder with its catalogue, for tests that run over each database.

use std::path::Path;

use super::postgres_server::PostgresServer;
use super::quiet;
use crate::{Catalogue, CataloguePlace, StoreConfig};

/// A new data folder and where its catalogue is.
#[derive(Debug)]
pub(crate) struct Home {
    folder: tempfile::TempDir,
    server: Option<PostgresServer>,
}

impl Home {
    /// One with SQLite, and one with PostgreSQL where that is installed.
    pub(crate) fn each() -> Vec<Home> {
        let mut homes = vec![Home::with(None)];
        homes.extend(PostgresServer::start().map(|server| Home::with(Some(server))));
        homes
    }

    fn with(server: Option<PostgresServer>) -> Home {
        Home {
            folder: tempfile::tempdir().unwrap(),
            server,
        }
    }

    /// The data folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where the catalogue is.
    pub(crate) fn place(&self) -> CataloguePlace {
        let place = self.server.as_ref().map(PostgresServer::place);
        place.unwrap_or_default()
    }

    /// The catalogue, as a command opens it.
    pub(crate) async fn catalogue(&self) -> Catalogue {
        self.place().open_or_create(self.path()).await.unwrap()
    }

    /// Settings under which nothing happens by itself.
    pub(crate) fn quiet(&self) -> StoreConfig {
        StoreConfig {
            catalogue: self.place(),
            ..quiet(self.path())
        }
    }
}
