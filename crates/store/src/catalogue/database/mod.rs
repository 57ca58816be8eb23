//! The database of a catalogue: SQLite, or PostgreSQL. The statements of the catalogue are the same for both.
//!
//! The futures of PostgreSQL are boxed: the types of futures that hold them would be too deep for the compiler.

mod postgres;
mod row;
mod sqlite;
mod statement;

pub(super) use crate::database_error::Result;
pub use postgres::{BadUrl, PostgresUrl};
pub(super) use postgres::{Claim, NodeClaim, PostgresDatabase, PostgresRead, Role};
pub(super) use row::Row;
pub(super) use sqlite::{SqliteDatabase, Writer};
pub(super) use statement::{Statement, Value, sql};

use self::postgres::PostgresWrite;
use self::row::Column;
use self::sqlite::SqliteWrite;
use crate::database_error::DatabaseError;

/// The connections to a catalogue. Clones share them.
#[derive(Debug, Clone)]
pub(super) enum Database {
    Sqlite(SqliteDatabase),
    Postgres(PostgresDatabase),
}

impl Database {
    /// Begins a transaction that writes. There is one at a time: another one waits, also that of another process.
    pub(super) async fn begin(&self) -> Result<Transaction> {
        Ok(match self {
            Database::Sqlite(database) => Transaction::Sqlite(database.begin().await?),
            Database::Postgres(database) => {
                Transaction::Postgres(Box::pin(database.begin()).await?)
            }
        })
    }

    /// Waits until every transaction that was begun is committed or rolled back, so that what is read afterwards is what became of them.
    /// A commit whose connection is lost may take effect later.
    pub(super) async fn settle(&self) -> Result<()> {
        match self {
            // SQLite commits in this process: a commit that returned has taken effect or never will.
            Database::Sqlite(_) => Ok(()),
            Database::Postgres(database) => Box::pin(database.settle()).await,
        }
    }

    /// A number that changes with every committed change of the catalogue, whichever process made it. `now` reads it from the database;
    /// without it a change by another process may be a tenth of a second old.
    pub(super) async fn version(&self, now: bool) -> Result<i64> {
        match self {
            Database::Sqlite(database) => database.version(now).await,
            Database::Postgres(database) => Box::pin(database.version(now)).await,
        }
    }

    /// Begins to read the catalogue as it is at one moment. Only nodes that share a catalogue need it.
    pub(super) async fn begin_read(&self) -> Result<PostgresRead> {
        match self {
            Database::Sqlite(_) => Err(DatabaseError::Refused(
                "a catalogue in the data folder has one node".to_owned(),
            )),
            Database::Postgres(database) => Box::pin(database.begin_read()).await,
        }
    }

    /// The database of PostgreSQL, if it is one.
    pub(super) fn postgres(&self) -> Option<&PostgresDatabase> {
        match self {
            Database::Sqlite(_) => None,
            Database::Postgres(database) => Some(database),
        }
    }

    /// Closes all connections.
    pub(super) async fn close(&self) {
        match self {
            Database::Sqlite(database) => database.close().await,
            Database::Postgres(database) => Box::pin(database.close()).await,
        }
    }
}

/// A transaction that may write. It is rolled back if it is dropped.
pub(super) enum Transaction {
    Sqlite(SqliteWrite),
    Postgres(PostgresWrite),
}

impl Transaction {
    /// Notes that the transaction changes the list of segments, which other nodes follow.
    pub(super) fn changes_segments(&mut self) {
        match self {
            Transaction::Sqlite(_) => {}
            Transaction::Postgres(transaction) => transaction.changes_segments(),
        }
    }

    /// Makes the changes durable. A transaction without changes leaves no trace.
    ///
    /// # Errors
    /// An error of the connection leaves it open whether the transaction is committed. Reading the catalogue after [`Database::settle`]
    /// shows it.
    pub(super) async fn commit(self) -> Result<()> {
        match self {
            Transaction::Sqlite(transaction) => transaction.commit().await,
            Transaction::Postgres(transaction) => Box::pin(transaction.commit()).await,
        }
    }
}

/// Where a statement reads.
pub(super) enum Source<'a> {
    Database(&'a Database),
    Transaction(&'a mut Transaction),
    Read(&'a PostgresRead),
}

impl<'a> From<&'a PostgresRead> for Source<'a> {
    fn from(read: &'a PostgresRead) -> Source<'a> {
        Source::Read(read)
    }
}

impl<'a> From<&'a Database> for Source<'a> {
    fn from(database: &'a Database) -> Source<'a> {
        Source::Database(database)
    }
}

impl<'a> From<&'a mut Transaction> for Source<'a> {
    fn from(transaction: &'a mut Transaction) -> Source<'a> {
        Source::Transaction(transaction)
    }
}

impl Statement {
    /// All rows.
    pub(super) async fn fetch_all(self, source: impl Into<Source<'_>>) -> Result<Vec<Row>> {
        match source.into() {
            Source::Database(Database::Sqlite(database)) => database.fetch(&self).await,
            Source::Database(Database::Postgres(database)) => Box::pin(database.fetch(&self)).await,
            Source::Transaction(Transaction::Sqlite(transaction)) => transaction.fetch(&self).await,
            Source::Transaction(Transaction::Postgres(transaction)) => {
                Box::pin(transaction.fetch(&self)).await
            }
            Source::Read(read) => Box::pin(read.fetch(&self)).await,
        }
    }

    /// The first row, if there is one.
    pub(super) async fn fetch_optional(self, source: impl Into<Source<'_>>) -> Result<Option<Row>> {
        Ok(self.fetch_all(source).await?.into_iter().next())
    }

    /// The first row.
    pub(super) async fn fetch_one(self, source: impl Into<Source<'_>>) -> Result<Row> {
        let row = self.fetch_optional(source).await?;
        row.ok_or_else(|| DatabaseError::Unreadable("a row is missing".to_owned()))
    }

    /// The values of the first column.
    pub(super) async fn values<T: Column>(self, source: impl Into<Source<'_>>) -> Result<Vec<T>> {
        self.fetch_all(source)
            .await?
            .iter()
            .map(Row::first)
            .collect()
    }

    /// The first column of the first row.
    pub(super) async fn value<T: Column>(self, source: impl Into<Source<'_>>) -> Result<T> {
        self.fetch_one(source).await?.first()
    }

    /// Executes the statement; says how many rows it changed.
    pub(super) async fn execute(self, transaction: &mut Transaction) -> Result<u64> {
        match transaction {
            Transaction::Sqlite(transaction) => transaction.execute(&self).await,
            Transaction::Postgres(transaction) => Box::pin(transaction.execute(&self)).await,
        }
    }

    /// Executes the statement as a transaction of its own; says how many rows it changed.
    pub(super) async fn commit_to(self, database: &Database) -> Result<u64> {
        let mut transaction = database.begin().await?;
        let changed = self.execute(&mut transaction).await?;
        transaction.commit().await?;
        Ok(changed)
    }
}
