//! Where the catalogue of a data folder is.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use super::Catalogue;
use super::database::{BadUrl, PostgresUrl};
use crate::error::Result;
use crate::folder::Folder;
use crate::format_file::CatalogueKind;
use crate::node::NodeConfig;
use crate::store_id::StoreId;

/// Where the catalogue of a data folder is.
#[derive(Debug, Clone, Default)]
pub enum CataloguePlace {
    /// In the folder, in a file of SQLite.
    #[default]
    DataFolder,
    /// In a database of PostgreSQL.
    Postgres(Arc<PostgresUrl>),
}

impl CataloguePlace {
    /// Opens the catalogue of a data folder for administration. A server may have it open.
    ///
    /// # Errors
    /// As [`Catalogue::open`].
    pub async fn open(&self, data_dir: &Path) -> Result<Catalogue> {
        match self {
            CataloguePlace::DataFolder => Catalogue::open(data_dir).await,
            CataloguePlace::Postgres(url) => {
                Box::pin(Catalogue::open_postgres(url, data_dir)).await
            }
        }
    }

    /// Opens the catalogue of a data folder for administration, making folder and catalogue where there is nothing.
    ///
    /// # Errors
    /// As [`Catalogue::open_or_create`].
    pub async fn open_or_create(&self, data_dir: &Path) -> Result<Catalogue> {
        match self {
            CataloguePlace::DataFolder => Catalogue::open_or_create(data_dir).await,
            CataloguePlace::Postgres(url) => {
                Box::pin(Catalogue::found_postgres(url, data_dir)).await
            }
        }
    }

    /// Opens or creates the catalogue of a folder that this process holds as a store. `shared`: segments are where all nodes
    /// reach them. `now` is in ticks.
    pub(crate) async fn own(
        &self,
        folder: &Folder,
        node: &NodeConfig,
        shared: bool,
        now: i64,
    ) -> Result<(Catalogue, StoreId)> {
        match self {
            CataloguePlace::DataFolder => Catalogue::open_in(folder).await,
            CataloguePlace::Postgres(url) => {
                Box::pin(Catalogue::own_postgres(url, folder, node, shared, now)).await
            }
        }
    }

    pub(crate) fn kind(&self) -> CatalogueKind {
        match self {
            CataloguePlace::DataFolder => CatalogueKind::File,
            CataloguePlace::Postgres(_) => CatalogueKind::Postgres,
        }
    }
}

impl FromStr for CataloguePlace {
    type Err = BadUrl;

    /// Reads `postgres://user:password@host:port/database`; an empty text is the data folder.
    fn from_str(text: &str) -> Result<CataloguePlace, BadUrl> {
        match text.trim() {
            "" => Ok(CataloguePlace::DataFolder),
            url => Ok(CataloguePlace::Postgres(Arc::new(url.parse()?))),
        }
    }
}
