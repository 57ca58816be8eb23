//! Reading a catalogue without changing it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

use super::checksums::{self, CheckError};
use super::generation::Generation;
use super::write::Writer;
use super::{Catalogue, failed, lost_transactions};
use crate::error::Result;
use crate::vfs::{self, RealFs};

/// What is wrong with a catalogue's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Examined {
    /// Where it is not as it was written.
    pub(crate) damage: Vec<String>,
    /// That it lacks transactions that were committed: it is an older copy, or its write-ahead file is damaged.
    pub(crate) lost: Option<String>,
}

impl Catalogue {
    /// Opens a catalogue's file for reading, without migrating it. A server may have it open if `shared` says so; if not, and if the
    /// catalogue was closed, SQLite makes no files beside it.
    pub(crate) async fn open_to_read(path: &Path, shared: bool) -> Result<Catalogue> {
        let mut wal = path.as_os_str().to_owned();
        wal.push("-wal");
        let is_closed = !shared && !vfs::exists(&RealFs, Path::new(&wal)).unwrap_or(true);
        let options = SqliteConnectOptions::new()
            .filename(path)
            .read_only(true)
            .immutable(is_closed)
            .busy_timeout(Duration::from_secs(10));
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options)
            .await
            .map_err(|source| failed(path, source))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Ok(Catalogue {
            path: path.into(),
            watcher: pool.clone(),
            writer: Writer::refused(pool.clone(), Generation::of(Arc::new(RealFs), folder)),
            pool,
        })
    }

    /// Compares the whole file with what SQLite, its checksums and the number of committed transactions say of it.
    pub(crate) async fn examine(&self) -> Result<Examined> {
        self.named(async {
            let mut damage: Vec<String> = sqlx::query_scalar("PRAGMA integrity_check")
                .fetch_all(&self.pool)
                .await?;
            damage.retain(|line| line != "ok");
            let broken = sqlx::query("PRAGMA foreign_key_check")
                .fetch_all(&self.pool)
                .await?;
            if !broken.is_empty() {
                damage.push(format!(
                    "{} rows refer to rows that are missing",
                    broken.len()
                ));
            }
            let mut lost = None;
            if damage.is_empty() {
                let generation = self.writer.generation();
                // Before the catalogue is read: a server may commit meanwhile.
                let committed = generation.read().unwrap_or(0);
                let mut connection = self.pool.acquire().await?;
                match checksums::verify(&mut connection).await {
                    Ok(held) if held < committed => {
                        lost = Some(lost_transactions(generation, held, committed));
                    }
                    Ok(_) => {}
                    Err(CheckError::Damaged(what)) => damage.push(what),
                    Err(CheckError::Failed(error)) => return Err(error),
                }
            }
            Ok(Examined { damage, lost })
        })
        .await
    }

    /// Copies the catalogue to a new file.
    pub(crate) async fn copy_to(&self, path: &Path) -> Result<()> {
        self.named(async {
            sqlx::query("VACUUM INTO ?")
                .bind(path.display().to_string())
                .execute(&self.pool)
                .await?;
            Ok(())
        })
        .await
    }

    /// The id of its store as text; `None` in a catalogue of before stores had identities.
    pub(crate) async fn store_text(&self) -> Result<Option<String>> {
        self.named(async { super::store_text(&self.pool).await })
            .await
    }
}
