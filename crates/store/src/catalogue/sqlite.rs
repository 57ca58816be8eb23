//! Opening a catalogue in a file of SQLite.

use std::path::Path;
use std::sync::Arc;

use sqlx::Connection;
use sqlx::sqlite::SqlitePool;

use super::checksums::{self, CheckError};
use super::database::{Database, SqliteDatabase, Writer};
use super::generation::Generation;
use super::reserve::{self, is_disk_full};
use super::{Catalogue, failed, parse_store};
use crate::error::{Result, StoreError};
use crate::folder::{self, Folder};
use crate::format_file::{self, CatalogueKind};
use crate::store_id::StoreId;
use crate::vfs::{self, RealFs, Vfs};

impl Catalogue {
    /// Opens the catalogue in a data folder that has one, migrating it. Another process may hold the folder.
    ///
    /// # Errors
    /// [`crate::StoreError::NoStore`] if there is none, [`crate::StoreError::NewerFormat`] if a newer program wrote the
    /// folder, [`crate::StoreError::Foreign`] if it is not the one of this folder; what SQLite says otherwise.
    pub async fn open(data_dir: &Path) -> Result<Catalogue> {
        format_file::read(&RealFs, data_dir)?;
        folder::require_catalogue(&RealFs, data_dir)?;
        Ok(Catalogue::open_file(Arc::new(RealFs), data_dir).await?.0)
    }

    /// Opens the catalogue in a data folder, making folder and catalogue where there is nothing.
    ///
    /// # Errors
    /// As [`Catalogue::open`], and [`crate::StoreError::Missing`] if there is telemetry without a catalogue.
    pub async fn open_or_create(data_dir: &Path) -> Result<Catalogue> {
        if folder::require_catalogue(&RealFs, data_dir).is_ok() {
            return Catalogue::open(data_dir).await;
        }
        let folder = Folder::take(Arc::new(RealFs), data_dir, true, CatalogueKind::File)?;
        Ok(Catalogue::open_in(&folder).await?.0)
    }

    /// Opens or creates the catalogue in a folder that this process holds.
    pub(crate) async fn open_in(folder: &Folder) -> Result<(Catalogue, StoreId)> {
        Catalogue::open_file(folder.shared_vfs(), folder.root()).await
    }

    /// Opens the file, on a full disk with the space that is kept for that.
    async fn open_file(vfs: Arc<dyn Vfs>, data_dir: &Path) -> Result<(Catalogue, StoreId)> {
        let opened = match Catalogue::open_verified(vfs.clone(), data_dir).await {
            Err(error) if is_disk_full(&error) && reserve::release(&*vfs, data_dir) => {
                Catalogue::open_verified(vfs.clone(), data_dir).await
            }
            opened => opened,
        };
        let opened = opened?;
        reserve::keep(&*vfs, data_dir);
        Ok(opened)
    }

    /// Opens the file, once it is known to be as it was written and to belong to the folder.
    async fn open_verified(vfs: Arc<dyn Vfs>, data_dir: &Path) -> Result<(Catalogue, StoreId)> {
        let path = folder::catalogue_path(data_dir);
        keep_private(&*vfs, &path).map_err(StoreError::io("create", &path))?;
        let generation = Generation::of(vfs.clone(), data_dir);
        let failed = |source| file_failed(&path, source);
        let writer = Writer::connect(&path, generation).await.map_err(failed)?;
        // Before the catalogue is read: another process may commit meanwhile.
        let committed = writer.generation().read().unwrap_or(0);
        let held = verify(&writer, &path).await?;
        let known = store_id(writer.pool(), &path).await?;
        let store = folder::agree_on_store(&*vfs, data_dir, &path.display().to_string(), known)?;
        if held < committed {
            return Err(StoreError::DamagedCatalogue {
                what: lost_transactions(writer.generation(), held, committed),
                path,
            });
        }
        migrate(&writer).await.map_err(failed)?;
        let catalogue = Catalogue::of_file(&path, writer.clone()).await?;
        keep_checksums(&writer).await.map_err(failed)?;
        catalogue.name_store(store).await?;
        if format_file::read(&*vfs, data_dir)?.and_then(|format| format.store) != Some(store) {
            format_file::write(&*vfs, data_dir, store, CatalogueKind::File)?;
        }
        Ok((catalogue, store))
    }

    /// Opens or creates the catalogue of a store in a folder of its own, where a recovery builds it. The checksums of what the file holds
    /// are made anew: it may be a copy, which has other row ids.
    pub(crate) async fn open_at(path: &Path, store: StoreId) -> Result<Catalogue> {
        let vfs: Arc<dyn Vfs> = Arc::new(RealFs);
        keep_private(&*vfs, path).map_err(StoreError::io("create", path))?;
        let generation = Generation::of(vfs, path.parent().unwrap_or(Path::new("")));
        let failed = |source| file_failed(path, source);
        let writer = Writer::connect(path, generation).await.map_err(failed)?;
        migrate(&writer).await.map_err(failed)?;
        let catalogue = Catalogue::of_file(path, writer.clone()).await?;
        rebuild_checksums(&writer).await.map_err(failed)?;
        catalogue.name_store(store).await?;
        Ok(catalogue)
    }

    /// Adds the connections that read.
    async fn of_file(path: &Path, writer: Writer) -> Result<Catalogue> {
        let database = SqliteDatabase::connect(path, writer).await;
        let database = database.map_err(|source| file_failed(path, source))?;
        Ok(Catalogue {
            name: path.display().to_string().into(),
            database: Database::Sqlite(database),
        })
    }
}

/// An error of SQLite with the file of the catalogue.
pub(super) fn file_failed(path: &Path, source: sqlx::Error) -> StoreError {
    failed(&path.display().to_string(), source)
}

/// Makes the checksums anew unless they were made or kept after the last migration.
async fn keep_checksums(writer: &Writer) -> sqlx::Result<()> {
    let mut connection = writer.pool().acquire().await?;
    let are_current = checksums::are_current(&mut connection).await?;
    drop(connection);
    if !are_current {
        rebuild_checksums(writer).await?;
    }
    Ok(())
}

async fn rebuild_checksums(writer: &Writer) -> sqlx::Result<()> {
    let mut transaction = writer.pool().begin_with("BEGIN IMMEDIATE").await?;
    checksums::rebuild(&mut transaction).await?;
    transaction.commit().await
}

/// Refuses a catalogue of which a byte is not as it was written; returns how many transactions it holds.
async fn verify(writer: &Writer, path: &Path) -> Result<u64> {
    let connection = writer.pool().acquire().await;
    let mut connection = connection.map_err(|source| file_failed(path, source))?;
    match checksums::verify(&mut connection).await {
        Ok(transactions) => Ok(transactions),
        Err(CheckError::Damaged(what)) => Err(StoreError::DamagedCatalogue {
            path: path.to_owned(),
            what,
        }),
        Err(CheckError::Failed(source)) => Err(file_failed(path, source)),
    }
}

/// Runs the migrations.
async fn migrate(writer: &Writer) -> sqlx::Result<()> {
    let mut connection = writer.pool().acquire().await?;
    sqlx::migrate!("./migrations")
        .run(&mut *connection)
        .await
        .map_err(|error| sqlx::Error::Migrate(Box::new(error)))?;
    // Statements that were prepared before have the columns of before.
    connection.clear_cached_statements().await
}

/// What is wrong with a catalogue that holds fewer transactions than were committed.
pub(super) fn lost_transactions(generation: &Generation, held: u64, committed: u64) -> String {
    format!(
        "it holds {held} transactions and {committed} were committed: its file '-wal' is damaged, or it is an older copy; \
         to accept an older copy, remove {}",
        generation.path().display()
    )
}

/// The store that a catalogue says it belongs to; a new one, and one of before stores had identities, says nothing.
async fn store_id(pool: &SqlitePool, path: &Path) -> Result<Option<StoreId>> {
    let id = store_text(pool).await;
    let id = id.map_err(|source| file_failed(path, source))?;
    parse_store(&path.display().to_string(), id)
}

/// The text of [`store_id`].
pub(super) async fn store_text(pool: &SqlitePool) -> sqlx::Result<Option<String>> {
    let known: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'store'",
    )
    .fetch_one(pool)
    .await?;
    if known == 0 {
        return Ok(None);
    }
    sqlx::query_scalar("SELECT id FROM store")
        .fetch_optional(pool)
        .await
}

/// Makes the file where there is none, and readable by this user only: it holds the keys that sign tokens. SQLite gives the
/// files beside it the same permissions.
fn keep_private(vfs: &dyn Vfs, path: &Path) -> std::io::Result<()> {
    if !vfs::exists(vfs, path)? {
        drop(vfs.create(path)?);
    }
    vfs.restrict(path)
}
