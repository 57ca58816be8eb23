//! The catalogue: applications, API keys, users, clients and what they were granted, the audit, segments and the log's
//! position, in one SQLite file.
//!
//! It is opened by the server that holds the data folder and, at the same time, by command-line programs: SQLite in WAL
//! mode lets them read and write beside each other. `synchronous=FULL` makes a committed transaction survive a power
//! failure, because the log is cut on its word.

mod applications;
mod audit;
mod clients;
mod grants;
mod keys;
mod segments;
mod users;

pub use applications::{Application, NewApplication, Tier};
pub use audit::AuditRecord;
pub use clients::{ClientRecord, SecretRecord};
pub use grants::{GrantRecord, Redeemed, SessionRecord, SigningKeyRecord};
pub use keys::{KeyRecord, NewKey};
pub use segments::SegmentRecord;
pub use users::{RoleRecord, UserRecord};

use crate::error::Result;
use crate::folder;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use std::path::Path;
use std::time::Duration;

/// The catalogue of one data folder. Clones share it.
#[derive(Debug, Clone)]
pub struct Catalogue {
    pool: SqlitePool,
    /// One connection that never writes: `PRAGMA data_version` tells a connection of the commits of all *others*.
    watcher: SqlitePool,
}

impl Catalogue {
    /// Opens the catalogue of a data folder, creating or migrating it. Another process may hold the folder.
    ///
    /// # Errors
    /// [`crate::StoreError::NewerFormat`] if a newer program wrote the folder; what SQLite says otherwise.
    pub async fn open(data_dir: &Path) -> Result<Catalogue> {
        folder::check_format(data_dir)?;
        std::fs::create_dir_all(data_dir).map_err(crate::StoreError::io("create", data_dir))?;
        let path = folder::catalogue_path(data_dir);
        keep_private(&path).map_err(crate::StoreError::io("create", &path))?;
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(10));
        let pool = SqlitePoolOptions::new()
            .max_connections(4)
            .connect_with(options.clone())
            .await?;
        sqlx::migrate!("./migrations").run(&pool).await?;
        let watcher = SqlitePoolOptions::new()
            .max_connections(1)
            .min_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_with(options)
            .await?;
        Ok(Catalogue { pool, watcher })
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
    }
}

/// Makes the file where there is none, and readable by this user only: it holds the keys that sign tokens. SQLite gives the
/// files beside it the same permissions.
fn keep_private(path: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    drop(file);
    Ok(())
}

#[cfg(test)]
mod tests;
