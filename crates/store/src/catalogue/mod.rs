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
mod inspect;
mod keys;
mod reserve;
mod retention;
mod saved;
mod segments;
mod trusted_time;
mod usage;
mod users;
mod write;

pub use applications::{Application, NewApplication, Tier};
pub use audit::AuditRecord;
pub use clients::{ClientRecord, SecretRecord};
pub use grants::{GrantRecord, Redeemed, SessionRecord, SigningKeyRecord};
pub use keys::{KeyRecord, NewKey};
pub use retention::RetentionRule;
pub use saved::{Saved, SavedKind};
pub use segments::SegmentRecord;
pub use trusted_time::TimeMark;
pub use users::{RoleRecord, UserRecord};

pub(crate) use generation::path as generation_path;
pub(crate) use reserve::is_disk_full;

use std::path::Path;
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
    path: Arc<Path>,
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
        let failed = |source| failed(&path, source);
        let writer = Writer::connect(options(&path), generation)
            .await
            .map_err(failed)?;
        // Before the catalogue is read: another process may commit meanwhile.
        let committed = writer.generation().read().unwrap_or(0);
        let held = verify(&writer, &path).await?;
        let known = store_id(writer.pool(), &path).await?;
        let store = folder::agree_on_store(&*vfs, data_dir, known)?;
        if held < committed {
            return Err(StoreError::DamagedCatalogue {
                what: lost_transactions(writer.generation(), held, committed),
                path,
            });
        }
        migrate(&writer).await.map_err(failed)?;
        let catalogue = Catalogue::connect(&path, writer).await.map_err(failed)?;
        if !catalogue.has_current_checksums().await.map_err(failed)? {
            catalogue.rebuild_checksums().await.map_err(failed)?;
        }
        catalogue.name_store(store).await?;
        if format_file::read(&*vfs, data_dir)?.and_then(|format| format.store) != Some(store) {
            format_file::write(&*vfs, data_dir, store)?;
        }
        Ok((catalogue, store))
    }

    /// Opens or creates the catalogue of a store in a folder of its own, where a recovery builds it. The checksums of what the file holds
    /// are made anew: it may be a copy, which has other row ids.
    pub(crate) async fn open_at(path: &Path, store: StoreId) -> Result<Catalogue> {
        let vfs: Arc<dyn Vfs> = Arc::new(RealFs);
        keep_private(&*vfs, path).map_err(StoreError::io("create", path))?;
        let generation = Generation::of(vfs, path.parent().unwrap_or(Path::new("")));
        let failed = |source| failed(path, source);
        let writer = Writer::connect(options(path), generation)
            .await
            .map_err(failed)?;
        migrate(&writer).await.map_err(failed)?;
        let catalogue = Catalogue::connect(path, writer).await.map_err(failed)?;
        catalogue.rebuild_checksums().await.map_err(failed)?;
        catalogue.name_store(store).await?;
        Ok(catalogue)
    }

    /// Does some work with SQLite; an error names the catalogue's file.
    async fn named<T>(&self, work: impl Future<Output = sqlx::Result<T>> + Send) -> Result<T> {
        work.await.map_err(|source| self.failed(source))
    }

    fn failed(&self, source: sqlx::Error) -> StoreError {
        failed(&self.path, source)
    }

    /// Notes which store the catalogue is of, where it does not say so yet.
    async fn name_store(&self, store: StoreId) -> Result<()> {
        self.named(async {
            sqlx::query("INSERT INTO store (one, id) VALUES (1, ?) ON CONFLICT DO NOTHING")
                .bind(store.to_string())
                .commit_to(&self.writer)
                .await?;
            Ok(())
        })
        .await
    }

    /// Adds the connections that read. The catalogue is migrated: SQLx does not notice that a table has more columns than its connection
    /// knows.
    async fn connect(path: &Path, writer: Writer) -> sqlx::Result<Catalogue> {
        // A change that went past the checksums would look like damage at the next start.
        let reading = options(path).pragma("query_only", "on");
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
            path: path.into(),
            pool,
            writer,
            watcher,
        })
    }

    /// Whether the checksums were made or kept after the last migration.
    async fn has_current_checksums(&self) -> sqlx::Result<bool> {
        let mut connection = self.writer.pool().acquire().await?;
        checksums::are_current(&mut connection).await
    }

    async fn rebuild_checksums(&self) -> sqlx::Result<()> {
        let mut transaction = self.writer.pool().begin_with("BEGIN IMMEDIATE").await?;
        checksums::rebuild(&mut transaction).await?;
        transaction.commit().await
    }

    /// A number that changes with every committed change of the catalogue, whichever process made it.
    ///
    /// It costs a few microseconds: enough to ask on every request, or every second.
    pub async fn version(&self) -> Result<i64> {
        self.named(async {
            sqlx::query_scalar("PRAGMA data_version")
                .fetch_one(&self.watcher)
                .await
        })
        .await
    }

    /// Closes all connections.
    pub async fn close(&self) {
        self.watcher.close().await;
        self.pool.close().await;
        self.writer.pool().close().await;
    }
}

/// Refuses a catalogue of which a byte is not as it was written; returns how many transactions it holds.
async fn verify(writer: &Writer, path: &Path) -> Result<u64> {
    let connection = writer.pool().acquire().await;
    let mut connection = connection.map_err(|source| failed(path, source))?;
    match checksums::verify(&mut connection).await {
        Ok(transactions) => Ok(transactions),
        Err(CheckError::Damaged(what)) => Err(StoreError::DamagedCatalogue {
            path: path.to_owned(),
            what,
        }),
        Err(CheckError::Failed(source)) => Err(failed(path, source)),
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
fn lost_transactions(generation: &Generation, held: u64, committed: u64) -> String {
    format!(
        "it holds {held} transactions and {committed} were committed: its file '-wal' is damaged, or it is an older copy; \
         to accept an older copy, remove {}",
        generation.path().display()
    )
}

/// An error of SQLite with the file of the catalogue.
fn failed(path: &Path, source: sqlx::Error) -> StoreError {
    StoreError::Catalogue {
        path: path.to_owned(),
        source,
    }
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(Duration::from_secs(10))
}

/// The store that a catalogue says it belongs to; a new one, and one of before stores had identities, says nothing.
async fn store_id(pool: &SqlitePool, path: &Path) -> Result<Option<StoreId>> {
    let id = store_text(pool).await;
    let id = id.map_err(|source| failed(path, source))?;
    let parsed = id.map(|id| id.parse()).transpose();
    parsed.map_err(|_| StoreError::Foreign {
        path: path.to_owned(),
        what: "it does not name the store that it is of".to_owned(),
    })
}

/// The text of [`store_id`].
async fn store_text(pool: &SqlitePool) -> sqlx::Result<Option<String>> {
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

#[cfg(test)]
mod flip_tests;
#[cfg(test)]
mod tests;
