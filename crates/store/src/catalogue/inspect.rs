//! Reading a catalogue without changing it.

use std::path::Path;
use std::sync::Arc;

use super::Catalogue;
use super::checksums::{self, CheckError};
use super::database::{self, Database, SqliteDatabase};
use super::generation::Generation;
use super::sqlite::{file_failed, lost_transactions, store_text};
use crate::database_error::DatabaseError;
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
        let folder = path.parent().unwrap_or(Path::new(""));
        let generation = Generation::of(Arc::new(RealFs), folder);
        let database = SqliteDatabase::open_to_read(path, is_closed, generation)
            .await
            .map_err(|source| file_failed(path, source))?;
        Ok(Catalogue {
            name: path.display().to_string().into(),
            database: Database::Sqlite(database),
        })
    }

    /// The connections to the file.
    fn file(&self) -> database::Result<&SqliteDatabase> {
        match &self.database {
            Database::Sqlite(database) => Ok(database),
            Database::Postgres(_) => Err(DatabaseError::Unreadable(
                "it is no file of SQLite".to_owned(),
            )),
        }
    }

    /// The connections to the file that only read.
    #[cfg(test)]
    pub(super) fn file_pool(&self) -> &sqlx::SqlitePool {
        self.file().expect("a catalogue in a file").pool()
    }

    /// Compares the whole file with what SQLite, its checksums and the number of committed transactions say of it.
    pub(crate) async fn examine(&self) -> Result<Examined> {
        self.named(async {
            let file = self.file()?;
            let mut damage: Vec<String> = sqlx::query_scalar("PRAGMA integrity_check")
                .fetch_all(file.pool())
                .await?;
            damage.retain(|line| line != "ok");
            let broken = sqlx::query("PRAGMA foreign_key_check")
                .fetch_all(file.pool())
                .await?;
            if !broken.is_empty() {
                damage.push(format!(
                    "{} rows refer to rows that are missing",
                    broken.len()
                ));
            }
            let mut lost = None;
            if damage.is_empty() {
                let generation = file.writer().generation();
                // Before the catalogue is read: a server may commit meanwhile.
                let committed = generation.read().unwrap_or(0);
                let mut connection = file.pool().acquire().await?;
                match checksums::verify(&mut connection).await {
                    Ok(held) if held < committed => {
                        lost = Some(lost_transactions(generation, held, committed));
                    }
                    Ok(_) => {}
                    Err(CheckError::Damaged(what)) => damage.push(what),
                    Err(CheckError::Failed(error)) => return Err(error.into()),
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
                .execute(self.file()?.pool())
                .await?;
            Ok(())
        })
        .await
    }

    /// The id of its store as text; `None` in a catalogue of before stores had identities.
    pub(crate) async fn store_text(&self) -> Result<Option<String>> {
        self.named(async { Ok(store_text(self.file()?.pool()).await?) })
            .await
    }
}
