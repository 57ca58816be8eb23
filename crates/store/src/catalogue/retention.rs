//! Rules of retention by application and table.

use super::Catalogue;
use super::applications::app_id;
use super::database::{self, Row, sql};
use crate::app_id::AppId;
use crate::database_error::DatabaseError;
use crate::error::Result;
use crate::schema::Table;

/// How long the items of an application or of one of its tables are kept, and how many bytes of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionRule {
    /// The application.
    pub app: AppId,
    /// The table; `None` for all tables of the application together.
    pub table: Option<Table>,
    /// Days that items are kept; `None`: what the application or else the setting says.
    pub days: Option<u32>,
    /// Bytes of segments above which the oldest expire; `None`: no limit of its own.
    pub max_bytes: Option<u64>,
}

impl Catalogue {
    /// The rules of applications that are not deleted, by application, those of whole applications first.
    pub async fn retention_rules(&self) -> Result<Vec<RetentionRule>> {
        self.named(async {
            // The days of a whole application are in its own row.
            let rows = sql(
                "SELECT a.id AS app_id, '' AS table_name, a.retention_days AS days, r.max_bytes FROM applications a \
                 LEFT JOIN retention_rules r ON r.app_id = a.id AND r.table_name = '' WHERE a.deleted IS NULL \
                 UNION ALL SELECT r.app_id, r.table_name, r.days, r.max_bytes FROM retention_rules r \
                 JOIN applications a ON a.id = r.app_id WHERE a.deleted IS NULL AND r.table_name <> '' ORDER BY 1, 2",
            )
            .fetch_all(&self.database)
            .await?;
            let rules = rows.iter().map(rule).collect::<database::Result<Vec<_>>>()?;
            let is_set = |rule: &RetentionRule| rule.days.is_some() || rule.max_bytes.is_some();
            Ok(rules.into_iter().filter(is_set).collect())
        })
        .await
    }

    /// Sets the rule of an application or a table. A rule without days and bytes is removed.
    pub async fn set_retention_rule(&self, rule: &RetentionRule) -> Result<()> {
        self.named(async {
            let table = rule.table.map_or("", Table::name);
            let bytes = rule
                .max_bytes
                .map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
            let mut transaction = self.database.begin().await?;
            if rule.table.is_none() {
                sql("UPDATE applications SET retention_days = $1 WHERE id = $2")
                    .bind(rule.days)
                    .bind(rule.app.to_string())
                    .execute(&mut transaction)
                    .await?;
            }
            let days = rule.days.filter(|_| rule.table.is_some());
            sql("DELETE FROM retention_rules WHERE app_id = $1 AND table_name = $2")
                .bind(rule.app.to_string())
                .bind(table)
                .execute(&mut transaction)
                .await?;
            if days.is_some() || bytes.is_some() {
                sql(
                    "INSERT INTO retention_rules (app_id, table_name, days, max_bytes) VALUES ($1, $2, $3, $4)",
                )
                .bind(rule.app.to_string())
                .bind(table)
                .bind(days)
                .bind(bytes)
                .execute(&mut transaction)
                .await?;
            }
            transaction.commit().await
        })
        .await
    }
}

/// A row. A table that this program does not know is an error: its rule must not be taken for that of the whole application.
fn rule(row: &Row) -> database::Result<RetentionRule> {
    let name: String = row.try_get("table_name")?;
    let table = match name.as_str() {
        "" => None,
        name => Some(Table::from_name(name).ok_or_else(|| {
            DatabaseError::Unreadable(format!("there is no table '{name}' to keep"))
        })?),
    };
    let bytes: Option<i64> = row.try_get("max_bytes")?;
    Ok(RetentionRule {
        app: app_id(&row.try_get::<String>("app_id")?)?,
        table,
        days: row.try_get("days")?,
        max_bytes: bytes.and_then(|bytes| u64::try_from(bytes).ok()),
    })
}
