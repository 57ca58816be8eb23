//! The catalogue in SQLite: changes are transactions that also bring the checksums of the rows that they change up to date.

use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use sqlx::query::Query;
use sqlx::sqlite::{
    SqliteArguments, SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool,
    SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{Sqlite, SqliteTransaction};
use tokio::time::Instant;

use super::super::checksums;
use super::super::generation::Generation;
use super::row::Row;
use super::statement::{Statement, Value};
use crate::database_error::Result;

/// How old the number of the last change may be, as far as other processes change the catalogue. To read it takes two threads and a tenth of
/// a millisecond, and every query needs it.
const FRESH: Duration = Duration::from_millis(100);

/// The number of the last change, as it was read.
#[derive(Debug, Clone, Copy)]
struct ReadVersion {
    number: i64,
    /// The commits of this process before it was read.
    commits: u64,
    at: Instant,
}

/// The commits of this process, whether they succeeded or not.
#[derive(Debug, Clone, Default)]
struct Commits(Arc<AtomicU64>);

impl Commits {
    fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// A commit, which counts when it has ended. It may have ended with an error or been cancelled, and have taken effect.
struct Commit(Commits);

impl Drop for Commit {
    fn drop(&mut self) {
        self.0.0.fetch_add(1, Ordering::AcqRel);
    }
}

/// The rows that the connection for writing changed since the transaction began: table and row id.
#[derive(Debug, Clone, Default)]
struct Changes(Arc<Mutex<BTreeSet<(String, i64)>>>);

impl Changes {
    /// Notes the rows that a connection changes from now on.
    async fn watch(&self, connection: &mut SqliteConnection) -> sqlx::Result<()> {
        let changes = self.0.clone();
        connection
            .lock_handle()
            .await?
            .set_update_hook(move |change| {
                let row = (change.table.to_owned(), change.rowid);
                changes.lock().insert(row);
            });
        Ok(())
    }

    fn take(&self) -> BTreeSet<(String, i64)> {
        std::mem::take(&mut *self.0.lock())
    }
}

/// The one connection that writes.
#[derive(Debug, Clone)]
pub(in crate::catalogue) struct Writer {
    pool: SqlitePool,
    /// What its transaction changed.
    changes: Changes,
    commits: Commits,
    generation: Generation,
}

impl Writer {
    /// Connects to the catalogue.
    pub(in crate::catalogue) async fn connect(
        path: &Path,
        generation: Generation,
    ) -> sqlx::Result<Writer> {
        let changes = Changes::default();
        let watched = changes.clone();
        let pool = connections(1)
            .after_connect(move |connection, _| {
                let changes = watched.clone();
                Box::pin(async move { changes.watch(connection).await })
            })
            .connect_with(options(path))
            .await?;
        Ok(Writer {
            pool,
            changes,
            commits: Commits::default(),
            generation,
        })
    }

    /// The connection, for work that is not followed by its checksums.
    pub(in crate::catalogue) fn pool(&self) -> &SqlitePool {
        &self.pool
    }

    pub(in crate::catalogue) fn generation(&self) -> &Generation {
        &self.generation
    }
}

/// The connections to a catalogue in SQLite.
#[derive(Debug, Clone)]
pub(in crate::catalogue) struct SqliteDatabase {
    /// Connections that only read.
    pool: SqlitePool,
    writer: Writer,
    /// One connection that never writes: `PRAGMA data_version` tells a connection of the commits of all *others*.
    watcher: SqlitePool,
    version: Arc<Mutex<Option<ReadVersion>>>,
}

impl SqliteDatabase {
    /// Adds the connections that read. The catalogue is migrated: SQLx does not notice that a table has more columns than its connection
    /// knows.
    pub(in crate::catalogue) async fn connect(
        path: &Path,
        writer: Writer,
    ) -> sqlx::Result<SqliteDatabase> {
        // A change that went past the checksums would look like damage at the next start.
        let reading = options(path).pragma("query_only", "on");
        let pool = connections(4).connect_with(reading.clone()).await?;
        let watcher = connections(1)
            .min_connections(1)
            .connect_with(reading)
            .await?;
        Ok(SqliteDatabase {
            pool,
            writer,
            watcher,
            version: Arc::default(),
        })
    }

    /// Opens a catalogue that is only read: SQLite refuses each transaction. A file that is `closed` gets no files beside it.
    pub(in crate::catalogue) async fn open_to_read(
        path: &Path,
        is_closed: bool,
        generation: Generation,
    ) -> sqlx::Result<SqliteDatabase> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .read_only(true)
            .immutable(is_closed)
            .busy_timeout(Duration::from_secs(10));
        let pool = connections(1).connect_with(options).await?;
        Ok(SqliteDatabase {
            watcher: pool.clone(),
            writer: Writer {
                pool: pool.clone(),
                changes: Changes::default(),
                commits: Commits::default(),
                generation,
            },
            pool,
            version: Arc::default(),
        })
    }

    /// The connections that read.
    pub(in crate::catalogue) fn pool(&self) -> &SqlitePool {
        &self.pool
    }

    pub(in crate::catalogue) fn writer(&self) -> &Writer {
        &self.writer
    }

    pub(super) async fn fetch(&self, statement: &Statement) -> Result<Vec<Row>> {
        let rows = query(statement).fetch_all(&self.pool).await?;
        Ok(rows.into_iter().map(Row::Sqlite).collect())
    }

    /// Begins a transaction. There is one at a time.
    pub(super) async fn begin(&self) -> Result<SqliteWrite> {
        let transaction = self.writer.pool.begin_with("BEGIN IMMEDIATE").await?;
        self.writer.changes.take();
        Ok(SqliteWrite {
            writer: self.writer.clone(),
            transaction,
        })
    }

    /// A number that changes with every committed change. Without `now`, changes by other processes count after [`FRESH`] at the latest.
    pub(super) async fn version(&self, now: bool) -> Result<i64> {
        let (commits, at) = (self.writer.commits.count(), Instant::now());
        let is_fresh = |last: &ReadVersion| {
            !now && last.commits == commits && at.saturating_duration_since(last.at) < FRESH
        };
        if let Some(last) = self.version.lock().filter(is_fresh) {
            return Ok(last.number);
        }
        let version = sqlx::query_scalar("PRAGMA data_version");
        let number = version.fetch_one(&self.watcher).await?;
        *self.version.lock() = Some(ReadVersion {
            number,
            commits,
            at,
        });
        Ok(number)
    }

    pub(super) async fn close(&self) {
        self.watcher.close().await;
        self.pool.close().await;
        self.writer.pool.close().await;
    }
}

/// A transaction that may write. It is rolled back if it is dropped.
pub(in crate::catalogue) struct SqliteWrite {
    writer: Writer,
    transaction: SqliteTransaction<'static>,
}

impl SqliteWrite {
    pub(super) async fn fetch(&mut self, statement: &Statement) -> Result<Vec<Row>> {
        let rows = query(statement).fetch_all(&mut **self).await?;
        Ok(rows.into_iter().map(Row::Sqlite).collect())
    }

    pub(super) async fn execute(&mut self, statement: &Statement) -> Result<u64> {
        Ok(query(statement).execute(&mut **self).await?.rows_affected())
    }

    /// Makes the changes durable, with their checksums.
    ///
    /// # Errors
    /// An I/O error leaves it open whether the transaction is committed. Reading the catalogue shows it.
    pub(super) async fn commit(mut self) -> Result<()> {
        let changes = self.writer.changes.take();
        if changes.is_empty() {
            return Ok(self.transaction.rollback().await?);
        }
        let generation = checksums::update(&mut self.transaction, &changes).await?;
        self.writer.generation.begin_commit()?;
        let counted = Commit(self.writer.commits.clone());
        self.transaction.commit().await?;
        drop(counted);
        self.writer.generation.end_commit()?;
        self.writer.generation.write(generation);
        Ok(())
    }
}

impl Deref for SqliteWrite {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.transaction
    }
}

impl DerefMut for SqliteWrite {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.transaction
    }
}

fn query(statement: &Statement) -> Query<'_, Sqlite, SqliteArguments> {
    let mut query = sqlx::query(statement.text);
    for value in &statement.values {
        query = match value {
            Value::Integer(value) => query.bind(value),
            Value::Text(value) => query.bind(value),
            Value::Bytes(value) => query.bind(value),
        };
    }
    query
}

/// A pool of at most `most` connections, which live as long as the pool: connections to a file need no renewal.
///
/// With a lifetime or an idle timeout SQLx 0.9.0 runs a task that sweeps the pool. Its count of idle connections can underflow, and the
/// sweep then loops without awaiting: a processor is lost to it, and the runtime does not shut down
/// (<https://github.com/launchbadge/sqlx/issues/3645>).
fn connections(most: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .max_connections(most)
        .idle_timeout(None)
        .max_lifetime(None)
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(Duration::from_secs(10))
}

#[cfg(test)]
mod tests {
    use crate::catalogue::Catalogue;
    use crate::catalogue::database::Database;
    use crate::folder;

    /// SQLx sweeps a pool only if its connections end by age or idleness, and its sweep may never end.
    #[tokio::test]
    async fn no_pool_is_swept() {
        let dir = tempfile::tempdir().unwrap();
        let catalogue = Catalogue::open_or_create(dir.path()).await.unwrap();
        let path = folder::catalogue_path(dir.path());
        let read = Catalogue::open_to_read(&path, true).await.unwrap();
        for catalogue in [&catalogue, &read] {
            let Database::Sqlite(file) = &catalogue.database else {
                panic!("the catalogue is not in a file");
            };
            for pool in [&file.pool, &file.writer.pool, &file.watcher] {
                let options = pool.options();
                let swept = (options.get_idle_timeout(), options.get_max_lifetime());
                assert_eq!(swept, (None, None));
            }
        }
    }
}
