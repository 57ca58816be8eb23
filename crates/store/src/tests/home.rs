//! A data folder with its catalogue, for tests that run over each database.

use std::path::Path;
use std::sync::Arc;

use super::postgres_server::PostgresServer;
use super::quiet;
use crate::objects::memory::MemoryObjects;
use crate::{Catalogue, CataloguePlace, ObjectsConfig, StoreConfig};

/// A new data folder and where its catalogue is.
#[derive(Debug)]
pub(crate) struct Home {
    folder: tempfile::TempDir,
    server: Option<PostgresServer>,
    objects: Option<MemoryObjects>,
}

impl Home {
    /// One with SQLite, and one with PostgreSQL where that is installed.
    pub(crate) fn each() -> Vec<Home> {
        let mut homes = vec![Home::with(None)];
        homes.extend(PostgresServer::start().map(|server| Home::with(Some(server))));
        homes
    }

    /// As [`Home::each`], and once more each with segments in an object store.
    pub(crate) fn each_place() -> Vec<Home> {
        let mut homes = Home::each();
        for mut in_objects in Home::each() {
            in_objects.objects = Some(MemoryObjects::default());
            homes.push(in_objects);
        }
        homes
    }

    /// The folder of the segments' files.
    pub(crate) fn segments(&self) -> std::path::PathBuf {
        let name = match self.objects {
            Some(_) => "segment-cache",
            None => "segments",
        };
        self.path().join(name)
    }

    fn with(server: Option<PostgresServer>) -> Home {
        Home {
            folder: tempfile::tempdir().unwrap(),
            server,
            objects: None,
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
            objects: self
                .objects
                .clone()
                .map(|objects| ObjectsConfig::new(Arc::new(objects))),
            ..quiet(self.path())
        }
    }
}
