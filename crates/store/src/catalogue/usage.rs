//! How much was sealed, by application, table and hour of ingestion.

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};

use super::Catalogue;
use super::applications::app_id;
use super::segments::{from_sql, to_sql, unreadable};
use super::write::Commit;
use crate::clock::{TICKS_PER_HOUR, hour_of};
use crate::error::Result;
use crate::schema::Table;
use crate::usage::{Usage, UsageRecord};

impl Catalogue {
    /// What was sealed.
    pub(crate) async fn usage(&self) -> Result<Usage> {
        self.named(async {
            let rows =
                sqlx::query("SELECT app_id, table_name, hour, items, bytes, last FROM usage")
                    .fetch_all(&self.pool)
                    .await?;
            let records = rows.iter().map(record).collect::<sqlx::Result<Vec<_>>>()?;
            Ok(Usage::of_records(records))
        })
        .await
    }

    /// Forgets hours that began before `start`, in ticks.
    pub(crate) async fn forget_usage_before(&self, start: i64) -> Result<()> {
        self.named(async {
            sqlx::query("DELETE FROM usage WHERE hour < ?")
                .bind(hour_of(start))
                .commit_to(&self.writer)
                .await?;
            Ok(())
        })
        .await
    }
}

/// Adds counts to those of the catalogue.
pub(super) async fn add(connection: &mut SqliteConnection, usage: &Usage) -> sqlx::Result<()> {
    for record in usage.records() {
        sqlx::query(
            "INSERT INTO usage (app_id, table_name, hour, items, bytes, last) VALUES (?, ?, ?, ?, ?, ?) \
             ON CONFLICT (app_id, table_name, hour) DO UPDATE SET items = usage.items + excluded.items, \
             bytes = usage.bytes + excluded.bytes, last = max(usage.last, excluded.last)",
        )
        .bind(record.app.to_string())
        .bind(record.table.name())
        .bind(hour_of(record.start))
        .bind(to_sql(record.items))
        .bind(to_sql(record.bytes))
        .bind(record.last)
        .execute(&mut *connection)
        .await?;
    }
    Ok(())
}

fn record(row: &SqliteRow) -> sqlx::Result<UsageRecord> {
    let name: String = row.try_get("table_name")?;
    let table =
        Table::from_name(&name).ok_or_else(|| unreadable(format!("there is no table '{name}'")))?;
    let hour: i64 = row.try_get("hour")?;
    Ok(UsageRecord {
        app: app_id(row.try_get("app_id")?)?,
        table,
        start: hour.saturating_mul(TICKS_PER_HOUR),
        items: from_sql(row.try_get("items")?),
        bytes: from_sql(row.try_get("bytes")?),
        last: row.try_get("last")?,
    })
}
