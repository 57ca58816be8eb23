//! Opening a catalogue in PostgreSQL.

use std::path::Path;
use std::sync::Arc;

use super::database::{Claim, Database, NodeClaim, PostgresDatabase, PostgresUrl, Role, sql};
use super::{Catalogue, failed, parse_store};
use crate::error::{Result, StoreError};
use crate::folder::{self, Folder};
use crate::format_file::{self, CatalogueKind};
use crate::node::{NodeConfig, NodeId};
use crate::store_id::StoreId;
use crate::vfs::{RealFs, Vfs};

impl Catalogue {
    /// Opens a catalogue for administration. The data folder may be on another machine; one that is here must be that of the catalogue.
    pub(super) async fn open_postgres(url: &PostgresUrl, data_dir: &Path) -> Result<Catalogue> {
        folder::refuse_other_kind(&RealFs, data_dir, CatalogueKind::Postgres)?;
        let format = format_file::read(&RealFs, data_dir)?;
        let catalogue = Catalogue::connect(url, Role::Administration).await?;
        let of_catalogue = catalogue.store_id().await?;
        let of_folder = format.and_then(|format| format.store);
        if of_folder.is_some() && of_folder != of_catalogue {
            folder::agree_on_store(&RealFs, data_dir, &catalogue.name, of_catalogue)?;
        }
        Ok(catalogue)
    }

    /// Opens a catalogue for administration, and creates it and the data folder where there are none.
    pub(super) async fn found_postgres(url: &PostgresUrl, data_dir: &Path) -> Result<Catalogue> {
        if format_file::read(&RealFs, data_dir)?.is_some() {
            return Catalogue::open_postgres(url, data_dir).await;
        }
        let kind = CatalogueKind::Postgres;
        let folder = Folder::take(Arc::new(RealFs), data_dir, true, kind)?;
        let catalogue = Catalogue::connect(url, Role::Founder).await?;
        catalogue.join(folder.vfs(), data_dir, false).await?;
        Ok(catalogue)
    }

    /// Takes or creates the catalogue of a store whose folder this process holds, as a node.
    pub(super) async fn own_postgres(
        url: &PostgresUrl,
        folder: &Folder,
        node: &NodeConfig,
        shared: bool,
        now: i64,
    ) -> Result<(Catalogue, StoreId)> {
        let founder = Catalogue::connect(url, Role::Founder).await?;
        let store = founder.join(folder.vfs(), folder.root(), shared).await?;
        founder.close().await;
        let format = format_file::read(folder.vfs(), folder.root())?;
        let has_objects = format.is_some_and(|format| format.has_objects);
        let id = match format.and_then(|format| format.node) {
            Some(id) => id,
            None => {
                // Before the catalogue knows it: a folder whose node is known to the catalogue must say so.
                let id = NodeId::new(now);
                format_file::write_node(folder.vfs(), folder.root(), store, id)?;
                id
            }
        };
        let claim = NodeClaim {
            id,
            config: node.clone(),
            shared,
            has_objects,
            has_log: folder.has_log()?,
        };
        let catalogue = Catalogue::connect(url, Role::Owner(Claim::Node(claim))).await?;
        Ok((catalogue, store))
    }

    /// Takes a database for a move of a catalogue, and creates the tables where there are none. Returns the store that it is of.
    pub(crate) async fn take_postgres(url: &PostgresUrl) -> Result<(Catalogue, Option<StoreId>)> {
        let catalogue = Box::pin(Catalogue::connect(url, Role::Owner(Claim::Whole))).await?;
        let store = catalogue.store_id().await?;
        Ok((catalogue, store))
    }

    async fn connect(url: &PostgresUrl, role: Role) -> Result<Catalogue> {
        let name = url.name().clone();
        let database = PostgresDatabase::connect(url, role).await;
        Ok(Catalogue {
            database: Database::Postgres(database.map_err(|source| failed(&name, source))?),
            name,
        })
    }

    /// Compares the identity of the folder's store with that of the catalogue. A folder and a catalogue that are both new get one; the
    /// folder first, because a folder without an identity is not that of a catalogue which has one. Where segments are shared, a new folder
    /// takes the identity of the catalogue: it becomes that of another node.
    async fn join(&self, vfs: &dyn Vfs, data_dir: &Path, shared: bool) -> Result<StoreId> {
        let known = self.store_id().await?;
        let format = format_file::read(vfs, data_dir)?;
        let of_folder = format.and_then(|format| format.store);
        if let (Some(theirs), None, false) = (known, of_folder, shared) {
            return Err(StoreError::Foreign {
                catalogue: self.name.to_string(),
                what: format!(
                    "it is of store {theirs}, and the folder {} is of none",
                    data_dir.display()
                ),
            });
        }
        let store = folder::agree_on_store(vfs, data_dir, &self.name, known)?;
        // A move of the catalogue may have been interrupted before it noted the new place.
        let kind = format.map(|format| format.catalogue);
        if of_folder.is_none() || kind != Some(CatalogueKind::Postgres) {
            format_file::write(vfs, data_dir, store, CatalogueKind::Postgres)?;
        }
        if known.is_some() {
            return Ok(store);
        }
        self.name_store(store).await?;
        match self.store_id().await? {
            Some(theirs) if theirs != store => {
                // Another process has created the catalogue at the same time. This folder is new.
                let theirs = folder::agree_on_store_of_new(vfs, data_dir, &self.name, theirs)?;
                format_file::write(vfs, data_dir, theirs, CatalogueKind::Postgres)?;
                Ok(theirs)
            }
            _ => Ok(store),
        }
    }

    async fn store_id(&self) -> Result<Option<StoreId>> {
        let id = self.named(async {
            let row = sql("SELECT id FROM store").fetch_optional(&self.database);
            row.await?.map(|row| row.try_get("id")).transpose()
        });
        parse_store(&self.name, id.await?)
    }
}
