//! Queries that people keep for an application.

use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::Catalogue;
use super::applications::app_id;
use super::write::Commit;
use crate::app_id::AppId;
use crate::error::Result;

/// A saved query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedQuery {
    /// The application that it belongs to.
    pub app: AppId,
    /// Its name, which no other saved query of the application has.
    pub name: String,
    /// The text of the query.
    pub text: String,
    /// The time range that it is shown with, in the caller's words.
    pub range: Option<String>,
    /// Counts its changes, from 1.
    pub version: u32,
    /// Who changed it last.
    pub author: String,
    /// When it was changed last, in ticks.
    pub changed: i64,
}

impl Catalogue {
    /// The saved queries of an application, by name.
    pub async fn saved_queries(&self, app: AppId) -> Result<Vec<SavedQuery>> {
        self.named(async {
            let rows = sqlx::query("SELECT * FROM saved_queries WHERE app_id = ? ORDER BY name")
                .bind(app.to_string())
                .fetch_all(&self.pool)
                .await?;
            rows.iter().map(record).collect()
        })
        .await
    }

    /// Keeps a new query, or the next version of a known one: `query.version` is the version that it gets, and the kept one must have
    /// the version before it. False if it has another one.
    pub async fn save_query(&self, query: &SavedQuery) -> Result<bool> {
        self.named(async {
            let statement = if query.version == 1 {
                sqlx::query(
                    "INSERT OR IGNORE INTO saved_queries (text, range, version, author, changed, app_id, name) VALUES (?, ?, ?, ?, ?, ?, ?)",
                )
            } else {
                sqlx::query(
                    "UPDATE saved_queries SET text = ?1, range = ?2, version = ?3, author = ?4, changed = ?5 \
                     WHERE app_id = ?6 AND name = ?7 AND version = ?3 - 1",
                )
            };
            let changed = statement
                .bind(&query.text)
                .bind(&query.range)
                .bind(query.version)
                .bind(&query.author)
                .bind(query.changed)
                .bind(query.app.to_string())
                .bind(&query.name)
                .commit_to(&self.writer)
                .await?;
            Ok(changed.rows_affected() > 0)
        })
        .await
    }

    /// Deletes a saved query of this version; false if there is none.
    pub async fn delete_saved_query(&self, app: AppId, name: &str, version: u32) -> Result<bool> {
        self.named(async {
            let deleted = sqlx::query(
                "DELETE FROM saved_queries WHERE app_id = ? AND name = ? AND version = ?",
            )
            .bind(app.to_string())
            .bind(name)
            .bind(version)
            .commit_to(&self.writer)
            .await?;
            Ok(deleted.rows_affected() > 0)
        })
        .await
    }
}

fn record(row: &SqliteRow) -> sqlx::Result<SavedQuery> {
    Ok(SavedQuery {
        app: app_id(row.try_get("app_id")?)?,
        name: row.try_get("name")?,
        text: row.try_get("text")?,
        range: row.try_get("range")?,
        version: row.try_get("version")?,
        author: row.try_get("author")?,
        changed: row.try_get("changed")?,
    })
}
