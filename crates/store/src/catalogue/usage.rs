//! How much was sealed, by application, table and hour of ingestion.

use super::Catalogue;
use super::applications::app_id;
use super::database::{self, Row, Transaction, sql};
use super::values::{from_sql, to_sql, unreadable};
use crate::clock::{TICKS_PER_HOUR, hour_of};
use crate::error::Result;
use crate::schema::Table;
use crate::usage::{Usage, UsageRecord};

impl Catalogue {
    /// What was sealed.
    pub(crate) async fn usage(&self) -> Result<Usage> {
        self.named(async {
            let rows = sql("SELECT app_id, table_name, hour, items, bytes, last FROM usage")
                .fetch_all(&self.database)
                .await?;
            let records = rows
                .iter()
                .map(record)
                .collect::<database::Result<Vec<_>>>()?;
            Ok(Usage::of_records(records))
        })
        .await
    }

    /// Forgets hours that began before `start`, in ticks.
    pub(crate) async fn forget_usage_before(&self, start: i64) -> Result<()> {
        self.named(async {
            sql("DELETE FROM usage WHERE hour < $1")
                .bind(hour_of(start))
                .commit_to(&self.database)
                .await?;
            Ok(())
        })
        .await
    }
}

/// Adds counts to those of the catalogue.
pub(super) async fn add(transaction: &mut Transaction, usage: &Usage) -> database::Result<()> {
    for record in usage.records() {
        sql(
            "INSERT INTO usage (app_id, table_name, hour, items, bytes, last) VALUES ($1, $2, $3, $4, $5, $6) \
             ON CONFLICT (app_id, table_name, hour) DO UPDATE SET items = usage.items + excluded.items, \
             bytes = usage.bytes + excluded.bytes, \
             last = CASE WHEN excluded.last > usage.last THEN excluded.last ELSE usage.last END",
        )
        .bind(record.app.to_string())
        .bind(record.table.name())
        .bind(hour_of(record.start))
        .bind(to_sql(record.items))
        .bind(to_sql(record.bytes))
        .bind(record.last)
        .execute(&mut *transaction)
        .await?;
    }
    Ok(())
}

fn record(row: &Row) -> database::Result<UsageRecord> {
    let name: String = row.try_get("table_name")?;
    let table =
        Table::from_name(&name).ok_or_else(|| unreadable(format!("there is no table '{name}'")))?;
    let hour: i64 = row.try_get("hour")?;
    Ok(UsageRecord {
        app: app_id(&row.try_get::<String>("app_id")?)?,
        table,
        start: hour.saturating_mul(TICKS_PER_HOUR),
        items: from_sql(row.try_get("items")?),
        bytes: from_sql(row.try_get("bytes")?),
        last: row.try_get("last")?,
    })
}
