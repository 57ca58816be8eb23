//! Reading a catalogue without changing it.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

use super::Catalogue;
use crate::error::Result;

impl Catalogue {
    /// Opens a catalogue's file for reading, without migrating it. A server may have it open if `shared` says so; if not, and if the
    /// catalogue was closed, SQLite makes no files beside it.
    pub(crate) async fn open_to_read(path: &Path, shared: bool) -> Result<Catalogue> {
        let mut wal = path.as_os_str().to_owned();
        wal.push("-wal");
        let is_closed = !shared && !Path::new(&wal).exists();
        let options = SqliteConnectOptions::new()
            .filename(path)
            .read_only(true)
            .immutable(is_closed)
            .busy_timeout(Duration::from_secs(10));
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options)
            .await?;
        Ok(Catalogue {
            watcher: pool.clone(),
            pool,
        })
    }

    /// What SQLite finds wrong with the file.
    pub(crate) async fn problems(&self) -> Result<Vec<String>> {
        let mut found: Vec<String> = sqlx::query_scalar("PRAGMA integrity_check")
            .fetch_all(&self.pool)
            .await?;
        found.retain(|line| line != "ok");
        let broken = sqlx::query("PRAGMA foreign_key_check")
            .fetch_all(&self.pool)
            .await?;
        if !broken.is_empty() {
            found.push(format!(
                "{} rows refer to rows that are missing",
                broken.len()
            ));
        }
        Ok(found)
    }

    /// Copies the catalogue to a new file.
    pub(crate) async fn copy_to(&self, path: &Path) -> Result<()> {
        sqlx::query("VACUUM INTO ?")
            .bind(path.display().to_string())
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// The id of its store as text; `None` in a catalogue of before stores had identities.
    pub(crate) async fn store_text(&self) -> Result<Option<String>> {
        super::store_text(&self.pool).await
    }
}
