//! The catalogue: applications, API keys, users, clients and what they were granted, the audit, segments and the log's
//! position, in one SQLite file or in a database of PostgreSQL.
//!
//! The file is opened by the server that holds the data folder and, at the same time, by command-line programs: SQLite in WAL
//! mode lets them read and write beside each other. `synchronous=FULL` makes a committed transaction survive a power
//! failure, because the log is cut on its word.

mod applications;
mod audit;
mod checksums;
mod clients;
mod copies;
mod copy;
mod database;
mod generation;
mod grants;
mod inspect;
mod keys;
mod nodes;
mod place;
mod postgres;
mod reserve;
mod retention;
mod saved;
mod segments;
mod sqlite;
mod trusted_time;
mod usage;
mod users;
mod values;

pub use applications::{Application, NewApplication, Tier};
pub use audit::AuditRecord;
pub use clients::{ClientRecord, SecretRecord};
pub use copies::{CopyRecord, Forgotten};
pub use database::{BadUrl, PostgresUrl};
pub use grants::{GrantRecord, Redeemed, SessionRecord, SigningKeyRecord};
pub use keys::{KeyRecord, NewKey};
pub use place::CataloguePlace;
pub use retention::RetentionRule;
pub use saved::{Saved, SavedKind};
pub use segments::SegmentRecord;
pub use trusted_time::TimeMark;
pub use users::{RoleRecord, UserRecord};

pub(crate) use copies::first_generation;
pub(crate) use generation::path as generation_path;
pub(crate) use reserve::is_disk_full;

use std::sync::Arc;

use self::database::{Database, sql};
use crate::database_error::DatabaseError;
use crate::error::{Result, StoreError};
use crate::store_id::StoreId;

/// The catalogue of one data folder. Clones share it.
#[derive(Debug, Clone)]
pub struct Catalogue {
    /// Its file, or its address without the password.
    name: Arc<str>,
    database: Database,
}

impl Catalogue {
    /// Its file, or its address without the password.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Does some work with the database; an error names the catalogue.
    async fn named<T>(&self, work: impl Future<Output = database::Result<T>> + Send) -> Result<T> {
        work.await.map_err(|source| self.failed(source))
    }

    /// The error of a change whose segments were replaced, expired or deleted before it could be committed.
    pub(crate) fn superseded(&self) -> StoreError {
        self.failed(DatabaseError::Superseded)
    }

    fn failed(&self, source: impl Into<DatabaseError>) -> StoreError {
        failed(&self.name, source)
    }

    /// Notes which store the catalogue is of, where it does not say so yet.
    async fn name_store(&self, store: StoreId) -> Result<()> {
        self.named(async {
            sql("INSERT INTO store (one, id) VALUES (1, $1) ON CONFLICT DO NOTHING")
                .bind(store.to_string())
                .commit_to(&self.database)
                .await?;
            Ok(())
        })
        .await
    }

    /// A number that changes with every committed change of the catalogue, whichever process made it.
    ///
    /// It costs next to nothing: cheap enough for every request. A change by another process may be a tenth of a second old; of a
    /// catalogue in PostgreSQL it may be five minutes old while PostgreSQL does not reply.
    pub async fn version(&self) -> Result<i64> {
        self.named(self.database.version(false)).await
    }

    /// The same number as of now: the database is asked. It is as old as that of [`Catalogue::version`] while PostgreSQL does not reply.
    pub async fn latest_version(&self) -> Result<i64> {
        self.named(self.database.version(true)).await
    }

    /// Waits until every change that was begun is committed or undone. A commit whose connection is lost may take effect later.
    pub(crate) async fn settle(&self) -> Result<()> {
        self.named(self.database.settle()).await
    }

    /// Closes all connections.
    pub async fn close(&self) {
        self.database.close().await;
    }
}

/// An error of the database with the name of the catalogue.
fn failed(name: &str, source: impl Into<DatabaseError>) -> StoreError {
    StoreError::Catalogue {
        catalogue: name.to_owned(),
        source: source.into(),
    }
}

/// The store that a catalogue says it is of, from the text in it.
fn parse_store(name: &str, id: Option<String>) -> Result<Option<StoreId>> {
    let parsed = id.map(|id| id.parse()).transpose();
    parsed.map_err(|_| StoreError::Foreign {
        catalogue: name.to_owned(),
        what: "it does not name the store that it is of".to_owned(),
    })
}

#[cfg(test)]
mod flip_tests;
#[cfg(test)]
mod tests;
