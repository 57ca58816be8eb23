//! Moving the catalogue of a data folder between SQLite and PostgreSQL.
//!
//! The catalogue that was copied stays where it is, under another name if it is a file. A move that is interrupted leaves the folder with the
//! old catalogue or with the new one: until the end a start with the database of PostgreSQL succeeds or one without it does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::blocking::blocking;
use crate::catalogue::{Catalogue, PostgresUrl};
use crate::error::{Result, StoreError};
use crate::folder::Folder;
use crate::format_file::{self, CatalogueKind};
use crate::recover::{prepare, put_in_place, set_aside};
use crate::vfs::RealFs;

/// Moves the catalogue of a data folder to an empty database of PostgreSQL. Returns where the old one is kept.
///
/// # Errors
/// [`StoreError::Locked`] if a server holds the folder, [`StoreError::NoStore`] if there is none, [`StoreError::Foreign`] if the database
/// holds the catalogue of a store, [`StoreError::CatalogueElsewhere`] if that of the folder is in PostgreSQL already.
pub async fn move_catalogue_to_postgres(root: &Path, url: &PostgresUrl) -> Result<Option<PathBuf>> {
    let folder = take(root, CatalogueKind::File).await?;
    let (source, store) = Catalogue::open_in(&folder).await?;
    let (target, known) = Catalogue::take_postgres(url).await?;
    if let Some(known) = known {
        return Err(StoreError::Foreign {
            catalogue: target.name().to_owned(),
            what: format!("it is of store {known}, and an empty database is needed"),
        });
    }
    source.copy_rows_to(&target, store).await?;
    source.close().await;
    target.close().await;
    // The lock is held to the end.
    let root = folder.root().to_owned();
    blocking(move || {
        let kept = set_aside(&root)?;
        format_file::write(&RealFs, &root, store, CatalogueKind::Postgres)?;
        Ok(kept)
    })
    .await
}

/// Moves the catalogue of a data folder from PostgreSQL into the folder. The database is left as it is.
///
/// # Errors
/// [`StoreError::Locked`] and [`crate::DatabaseError::Held`] if a server uses them, [`StoreError::NoStore`] if there is no folder,
/// [`StoreError::Foreign`] if the database is not that of the folder, [`StoreError::NotWithNodes`] if it has several nodes.
pub async fn move_catalogue_from_postgres(root: &Path, url: &PostgresUrl) -> Result<()> {
    let _folder = take(root, CatalogueKind::Postgres).await?;
    let (source, known) = Catalogue::take_postgres(url).await?;
    if !source.has_one_folder().await? {
        return Err(StoreError::NotWithNodes {
            what: "A move of the catalogue into a data folder",
        });
    }
    let format = format_file::read(&RealFs, root)?;
    let offolder = format.and_then(|format| format.store);
    let Some(store) = known.filter(|_| known == offolder) else {
        return Err(StoreError::Foreign {
            catalogue: source.name().to_owned(),
            what: "it is not the catalogue of the folder's store".to_owned(),
        });
    };
    let building = root.join("recovering");
    let new = building.join("catalogue.db");
    let (prepared, fresh) = (building.clone(), new.clone());
    blocking(move || prepare(&prepared, &fresh)).await?;
    let target = Catalogue::open_at(&new, store).await?;
    source.copy_rows_to(&target, store).await?;
    target.close().await;
    source.close().await;
    let root = root.to_owned();
    blocking(move || {
        format_file::write(&RealFs, &root, store, CatalogueKind::File)?;
        put_in_place(&root, &building)?;
        Ok(())
    })
    .await
}

async fn take(root: &Path, kind: CatalogueKind) -> Result<Folder> {
    let root = root.to_owned();
    blocking(move || Folder::take(Arc::new(RealFs), &root, false, kind)).await
}
