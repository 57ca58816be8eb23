//! Queries and workbooks that people keep for an application.

use super::Catalogue;
use super::applications::app_id;
use super::database::{self, Row, sql};
use crate::app_id::AppId;
use crate::error::Result;

/// What is saved. Each kind has a table of its own, with the same columns, and names of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SavedKind {
    /// The text of a query.
    Query,
    /// The JSON document of a workbook.
    Workbook,
}

/// The statements over the table of a kind.
struct Statements {
    list: &'static str,
    one: &'static str,
    insert: &'static str,
    update: &'static str,
    delete: &'static str,
}

macro_rules! statements {
    ($table:literal) => {
        Statements {
            list: concat!("SELECT * FROM ", $table, " WHERE app_id = $1 ORDER BY name"),
            one: concat!("SELECT * FROM ", $table, " WHERE app_id = $1 AND name = $2"),
            insert: concat!(
                "INSERT INTO ",
                $table,
                " (text, range, version, author, changed, app_id, name) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING"
            ),
            update: concat!(
                "UPDATE ",
                $table,
                " SET text = $1, range = $2, version = $3, author = $4, changed = $5 \
                 WHERE app_id = $6 AND name = $7 AND version = $3 - 1"
            ),
            delete: concat!(
                "DELETE FROM ",
                $table,
                " WHERE app_id = $1 AND name = $2 AND version = $3"
            ),
        }
    };
}

impl SavedKind {
    const fn statements(self) -> Statements {
        match self {
            SavedKind::Query => statements!("saved_queries"),
            SavedKind::Workbook => statements!("workbooks"),
        }
    }
}

/// A saved query or workbook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// The application that it belongs to.
    pub app: AppId,
    /// Its name, which nothing else of its kind has in the application.
    pub name: String,
    /// The text of the query, or the document of the workbook.
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
    /// What is saved of a kind for an application, by name.
    pub async fn saved(&self, kind: SavedKind, app: AppId) -> Result<Vec<Saved>> {
        self.named(async {
            let rows = sql(kind.statements().list)
                .bind(app.to_string())
                .fetch_all(&self.database)
                .await?;
            rows.iter().map(record).collect()
        })
        .await
    }

    /// The saved query or workbook of a name.
    pub async fn saved_one(
        &self,
        kind: SavedKind,
        app: AppId,
        name: &str,
    ) -> Result<Option<Saved>> {
        self.named(async {
            let row = sql(kind.statements().one)
                .bind(app.to_string())
                .bind(name)
                .fetch_optional(&self.database)
                .await?;
            row.as_ref().map(record).transpose()
        })
        .await
    }

    /// Keeps a new query or workbook, or the next version of a known one: `saved.version` is the version that it gets, and the kept
    /// one must have the version before it. False if it has another one.
    pub async fn save(&self, kind: SavedKind, saved: &Saved) -> Result<bool> {
        self.named(async {
            let statements = kind.statements();
            let statement = if saved.version == 1 {
                sql(statements.insert)
            } else {
                sql(statements.update)
            };
            let changed = statement
                .bind(&saved.text)
                .bind(&saved.range)
                .bind(saved.version)
                .bind(&saved.author)
                .bind(saved.changed)
                .bind(saved.app.to_string())
                .bind(&saved.name)
                .commit_to(&self.database)
                .await?;
            Ok(changed > 0)
        })
        .await
    }

    /// Deletes this version of a saved query or workbook; false if there is none.
    pub async fn delete_saved(
        &self,
        kind: SavedKind,
        app: AppId,
        name: &str,
        version: u32,
    ) -> Result<bool> {
        self.named(async {
            let deleted = sql(kind.statements().delete)
                .bind(app.to_string())
                .bind(name)
                .bind(version)
                .commit_to(&self.database)
                .await?;
            Ok(deleted > 0)
        })
        .await
    }
}

fn record(row: &Row) -> database::Result<Saved> {
    Ok(Saved {
        app: app_id(&row.try_get::<String>("app_id")?)?,
        name: row.try_get("name")?,
        text: row.try_get("text")?,
        range: row.try_get("range")?,
        version: row.try_get("version")?,
        author: row.try_get("author")?,
        changed: row.try_get("changed")?,
    })
}
