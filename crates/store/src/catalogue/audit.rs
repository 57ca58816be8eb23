//! Who did what.

use super::Catalogue;
use super::database::{self, Row, sql};
use crate::error::Result;

/// One thing that somebody did. It never holds a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// When, in ticks.
    pub at: i64,
    /// Who: a user's or client's name, a key's id, or `command line`.
    pub actor: String,
    /// What, such as `sign-in` or `key created`.
    pub action: String,
    /// To what: an application, a key's id, a client.
    pub subject: String,
    /// From which network address; empty for the command line.
    pub address: String,
}

impl Catalogue {
    /// Notes that somebody did something.
    pub async fn note(&self, record: &AuditRecord) -> Result<()> {
        self.named(async {
            sql(
                "INSERT INTO audit (at, actor, action, subject, address) VALUES ($1, $2, $3, $4, $5)",
            )
            .bind(record.at)
            .bind(&record.actor)
            .bind(&record.action)
            .bind(&record.subject)
            .bind(&record.address)
            .commit_to(&self.database)
            .await?;
            Ok(())
        })
        .await
    }

    /// Notes something that anybody can cause, and forgets all but the latest `keep` notes of this action.
    pub async fn note_bounded(&self, record: &AuditRecord, keep: u32) -> Result<()> {
        self.note(record).await?;
        self.named(async {
            sql("DELETE FROM audit WHERE action = $1 AND id <= \
                 (SELECT id FROM audit WHERE action = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)")
            .bind(&record.action)
            .bind(keep)
            .commit_to(&self.database)
            .await?;
            Ok(())
        })
        .await
    }

    /// All notes of an action, the oldest first.
    pub async fn notes_of(&self, action: &str) -> Result<Vec<AuditRecord>> {
        self.named(async {
            let rows = sql("SELECT * FROM audit WHERE action = $1 ORDER BY id")
                .bind(action)
                .fetch_all(&self.database)
                .await?;
            rows.iter().map(record).collect()
        })
        .await
    }

    /// The latest `limit` notes at or after `since`, the newest first.
    pub async fn audit(&self, since: i64, limit: u32) -> Result<Vec<AuditRecord>> {
        self.named(async {
            let rows = sql("SELECT * FROM audit WHERE at >= $1 ORDER BY id DESC LIMIT $2")
                .bind(since)
                .bind(limit)
                .fetch_all(&self.database)
                .await?;
            rows.iter().map(record).collect()
        })
        .await
    }
}

fn record(row: &Row) -> database::Result<AuditRecord> {
    Ok(AuditRecord {
        at: row.try_get("at")?,
        actor: row.try_get("actor")?,
        action: row.try_get("action")?,
        subject: row.try_get("subject")?,
        address: row.try_get("address")?,
    })
}
