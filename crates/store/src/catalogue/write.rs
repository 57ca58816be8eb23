//! Changes of the catalogue: each is one transaction that also brings the checksums of the rows that it changed up to date.

use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use parking_lot::Mutex;
use sqlx::query::Query;
use sqlx::sqlite::{
    SqliteArguments, SqliteConnectOptions, SqliteConnection, SqlitePool, SqlitePoolOptions,
    SqliteQueryResult,
};
use sqlx::{Sqlite, Transaction};

use super::checksums;
use super::generation::Generation;

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
pub(super) struct Writer {
    pool: SqlitePool,
    /// What its transaction changed.
    changes: Changes,
    generation: Generation,
}

/// A transaction that may write. It is rolled back if it is dropped.
pub(super) struct WriteTransaction<'w> {
    writer: &'w Writer,
    transaction: Transaction<'static, Sqlite>,
}

impl Writer {
    /// Connects to the catalogue.
    pub(super) async fn connect(
        options: SqliteConnectOptions,
        generation: Generation,
    ) -> sqlx::Result<Writer> {
        let changes = Changes::default();
        let watched = changes.clone();
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .after_connect(move |connection, _| {
                let changes = watched.clone();
                Box::pin(async move { changes.watch(connection).await })
            })
            .connect_with(options)
            .await?;
        Ok(Writer {
            pool,
            changes,
            generation,
        })
    }

    /// The connection of a catalogue that is only read: SQLite refuses each transaction.
    pub(super) fn refused(pool: SqlitePool, generation: Generation) -> Writer {
        Writer {
            pool,
            changes: Changes::default(),
            generation,
        }
    }

    /// The connection, for work that is not followed by its checksums.
    pub(super) fn pool(&self) -> &SqlitePool {
        &self.pool
    }

    pub(super) fn generation(&self) -> &Generation {
        &self.generation
    }

    /// Begins a transaction. There is one at a time.
    pub(super) async fn begin(&self) -> sqlx::Result<WriteTransaction<'_>> {
        let transaction = self.pool.begin_with("BEGIN IMMEDIATE").await?;
        self.changes.take();
        Ok(WriteTransaction {
            writer: self,
            transaction,
        })
    }
}

impl WriteTransaction<'_> {
    /// Makes the changes durable, with their checksums.
    ///
    /// # Errors
    /// An I/O error leaves it open whether the transaction is committed. Reading the catalogue tells it.
    pub(super) async fn commit(mut self) -> sqlx::Result<()> {
        let changes = self.writer.changes.take();
        if changes.is_empty() {
            return self.transaction.rollback().await;
        }
        let generation = checksums::update(&mut self.transaction, &changes).await?;
        self.writer.generation.begin_commit()?;
        self.transaction.commit().await?;
        self.writer.generation.end_commit()?;
        self.writer.generation.write(generation);
        Ok(())
    }
}

impl Deref for WriteTransaction<'_> {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.transaction
    }
}

impl DerefMut for WriteTransaction<'_> {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.transaction
    }
}

/// A statement that is a transaction by itself.
pub(super) trait Commit {
    /// Executes it and makes its changes durable.
    async fn commit_to(self, writer: &Writer) -> sqlx::Result<SqliteQueryResult>;
}

impl Commit for Query<'_, Sqlite, SqliteArguments> {
    async fn commit_to(self, writer: &Writer) -> sqlx::Result<SqliteQueryResult> {
        let mut transaction = writer.begin().await?;
        let done = self.execute(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(done)
    }
}
