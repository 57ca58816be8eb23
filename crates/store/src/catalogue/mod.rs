//! The catalogue: applications, API keys, users, clients and what they were granted, the audit, segments and the log's
//! position, in one SQLite file.
//!
//! It is opened by the server that holds the data folder and, at the same time, by command-line programs: SQLite in WAL
//! mode lets them read and write beside each other. `synchronous=FULL` makes a committed transaction survive a power
//! failure, because the log is cut on its word.

mod applications;
mod audit;
mod checksums;
mod clients;
mod generation;
mod grants;
mod keys;
mod reserve;
mod segments;
mod users;
mod write;

pub use applications::{Application, NewApplication, Tier};
pub use audit::AuditRecord;
pub use clients::{ClientRecord, SecretRecord};
pub use grants::{GrantRecord, Redeemed, SessionRecord, SigningKeyRecord};
pub use keys::{KeyRecord, NewKey};
pub use segments::SegmentRecord;
pub use users::{RoleRecord, UserRecord};

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sqlx::Connection;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

use self::checksums::CheckError;
use self::generation::Generation;
use self::write::{Commit, Writer};
use crate::error::{Result, StoreError};
use crate::folder::{self, Folder};
use crate::format_file;
use crate::store_id::StoreId;
use crate::vfs::{self, RealFs, Vfs};

/// The catalogue of one data folder. Clones share it.
#[derive(Debug, Clone)]
pub struct Catalogue {
    /// Connections that only read.
    pool: SqlitePool,
    writer: Writer,
    /// One connection that never writes: `PRAGMA data_version` tells a connection of the commits of all *others*.
    watcher: SqlitePool,
}

impl Catalogue {
    /// Opens the catalogue of a data folder that has one, migrating it. Another process may hold the folder.
    ///
    /// # Errors
    /// [`crate::StoreError::NoStore`] if there is none, [`crate::StoreError::NewerFormat`] if a newer program wrote the
    /// folder, [`crate::StoreError::Foreign`] if it is not the one of this folder; what SQLite says otherwise.
    pub async fn open(data_dir: &Path) -> Result<Catalogue> {
        format_file::read(&RealFs, data_dir)?;
        folder::require_catalogue(&RealFs, data_dir)?;
        Ok(Catalogue::open_file(Arc::new(RealFs), data_dir).await?.0)
    }

    /// Opens the catalogue of a data folder, making folder and catalogue where there is nothing.
    ///
    /// # Errors
    /// As [`Catalogue::open`], and [`crate::StoreError::Missing`] if there is telemetry without a catalogue.
    pub async fn open_or_create(data_dir: &Path) -> Result<Catalogue> {
        if folder::require_catalogue(&RealFs, data_dir).is_ok() {
            return Catalogue::open(data_dir).await;
        }
        let folder = Folder::take(Arc::new(RealFs), data_dir, true)?;
        Ok(Catalogue::open_in(&folder).await?.0)
    }

    /// Opens or creates the catalogue of a folder that this process holds.
    pub(crate) async fn open_in(folder: &Folder) -> Result<(Catalogue, StoreId)> {
        Catalogue::open_file(folder.shared_vfs(), folder.root()).await
    }

    /// Opens the file, on a full disk with the space that is kept for that.
    async fn open_file(vfs: Arc<dyn Vfs>, data_dir: &Path) -> Result<(Catalogue, StoreId)> {
        let opened = match Catalogue::open_verified(vfs.clone(), data_dir).await {
            Err(error) if reserve::is_needed(&error) && reserve::release(&*vfs, data_dir) => {
                Catalogue::open_verified(vfs.clone(), data_dir).await
            }
            opened => opened,
        };
        let opened = opened.map_err(|error| match error {
            StoreError::Catalogue(source) => unusable(data_dir, source),
            other => other,
        })?;
        reserve::keep(&*vfs, data_dir);
        Ok(opened)
    }

    /// Opens the file, once it is known to be as it was written and to belong to the folder.
    async fn open_verified(vfs: Arc<dyn Vfs>, data_dir: &Path) -> Result<(Catalogue, StoreId)> {
        let path = folder::catalogue_path(data_dir);
        keep_private(&*vfs, &path).map_err(StoreError::io("create", &path))?;
        let generation = Generation::of(vfs.clone(), data_dir);
        let catalogue = Catalogue::connect(&path, generation).await?;
        // Before the catalogue is read: another process may commit meanwhile.
        let committed = catalogue.writer.generation().read().unwrap_or(0);
        let held = catalogue.verify(&path).await?;
        let known = store_id(catalogue.writer.pool(), data_dir).await?;
        let store = folder::agree_on_store(&*vfs, data_dir, known)?;
        if held < committed {
            return Err(lost_transactions(
                path,
                catalogue.writer.generation(),
                held,
                committed,
            ));
        }
        catalogue.migrate().await?;
        sqlx::query("INSERT INTO store (one, id) VALUES (1, ?) ON CONFLICT DO NOTHING")
            .bind(store.to_string())
            .commit_to(&catalogue.writer)
            .await?;
        if format_file::read(&*vfs, data_dir)?.and_then(|format| format.store) != Some(store) {
            format_file::write(&*vfs, data_dir, store)?;
        }
        Ok((catalogue, store))
    }

    async fn connect(path: &Path, generation: Generation) -> sqlx::Result<Catalogue> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(10));
        let writer = Writer::connect(options.clone(), generation).await?;
        // A change that went past the checksums would look like damage at the next start.
        let reading = options.pragma("query_only", "on");
        let pool = SqlitePoolOptions::new()
            .max_connections(4)
            .connect_with(reading.clone())
            .await?;
        let watcher = SqlitePoolOptions::new()
            .max_connections(1)
            .min_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_with(reading)
            .await?;
        Ok(Catalogue {
            pool,
            writer,
            watcher,
        })
    }

    /// Refuses a catalogue of which a byte is not as it was written; returns how many transactions it holds.
    async fn verify(&self, path: &Path) -> Result<u64> {
        let mut connection = self.writer.pool().acquire().await?;
        match checksums::verify(&mut connection).await {
            Ok(transactions) => Ok(transactions),
            Err(CheckError::Damaged(what)) => Err(StoreError::DamagedCatalogue {
                path: path.to_owned(),
                what,
            }),
            Err(CheckError::Failed(error)) => Err(error.into()),
        }
    }

    /// Runs the migrations. The checksums are made anew if there were any.
    async fn migrate(&self) -> Result<()> {
        sqlx::migrate!("./migrations")
            .run(self.writer.pool())
            .await
            .map_err(|error| sqlx::Error::Migrate(Box::new(error)))?;
        let mut connection = self.writer.pool().acquire().await?;
        if !checksums::are_current(&mut connection).await? {
            let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
            checksums::rebuild(&mut transaction).await?;
            transaction.commit().await?;
        }
        Ok(())
    }

    /// A number that changes with every committed change of the catalogue, whichever process made it.
    ///
    /// It costs a few microseconds: enough to ask on every request, or every second.
    pub async fn version(&self) -> Result<i64> {
        Ok(sqlx::query_scalar("PRAGMA data_version")
            .fetch_one(&self.watcher)
            .await?)
    }

    /// Closes all connections.
    pub async fn close(&self) {
        self.watcher.close().await;
        self.pool.close().await;
        self.writer.pool().close().await;
    }
}

fn lost_transactions(
    path: PathBuf,
    generation: &Generation,
    held: u64,
    committed: u64,
) -> StoreError {
    StoreError::DamagedCatalogue {
        path,
        what: format!(
            "it holds {held} transactions and {committed} were committed: its file '-wal' is damaged, or it is an older \
             copy; to accept an older copy, remove {}",
            generation.path().display()
        ),
    }
}

/// What SQLite says when a catalogue is opened, with its file.
fn unusable(data_dir: &Path, source: sqlx::Error) -> StoreError {
    StoreError::UnusableCatalogue {
        path: folder::catalogue_path(data_dir),
        source,
    }
}

/// The store that a catalogue says it belongs to; a new one, and one of before stores had identities, says nothing.
async fn store_id(pool: &SqlitePool, data_dir: &Path) -> Result<Option<StoreId>> {
    let known: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'store'",
    )
    .fetch_one(pool)
    .await?;
    if known == 0 {
        return Ok(None);
    }
    let id: Option<String> = sqlx::query_scalar("SELECT id FROM store")
        .fetch_optional(pool)
        .await?;
    let parsed = id.map(|id| id.parse()).transpose();
    parsed.map_err(|_| StoreError::Foreign {
        path: folder::catalogue_path(data_dir),
        what: "it does not name the store that it is of".to_owned(),
    })
}

/// Makes the file where there is none, and readable by this user only: it holds the keys that sign tokens. SQLite gives the
/// files beside it the same permissions.
fn keep_private(vfs: &dyn Vfs, path: &Path) -> std::io::Result<()> {
    if !vfs::exists(vfs, path)? {
        drop(vfs.create(path)?);
    }
    vfs.restrict(path)
}

#[cfg(test)]
mod flip_tests;
#[cfg(test)]
mod tests;
