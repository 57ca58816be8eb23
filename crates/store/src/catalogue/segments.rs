//! Segments and the log's position: what is data, and from where the log must be replayed.

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};

use super::Catalogue;
use super::applications::app_id;
use crate::app_id::AppId;
use crate::error::{Result, StoreError};
use crate::schema::Table;
use crate::segment::Checksums;

/// A sealed file, as the catalogue knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentRecord {
    /// Its id; 0 until it is registered.
    pub id: i64,
    /// The application that it belongs to.
    pub app: AppId,
    /// The table that it belongs to.
    pub table: Table,
    /// Its path below the folder of segments, with `/`.
    pub path: String,
    /// Its rows.
    pub rows: u64,
    /// Its size.
    pub bytes: u64,
    /// The smallest timestamp in it, in ticks.
    pub min_ts: i64,
    /// The largest timestamp in it, in ticks.
    pub max_ts: i64,
    /// The first log sequence that it holds items of.
    pub min_seq: u64,
    /// The last log sequence that it holds items of.
    pub max_seq: u64,
    /// 0: sealed from memory; 1: a merged hour; 2: a merged day.
    pub level: u32,
    /// The promoted columns in it, by their full names.
    pub promoted: Vec<String>,
    /// When it was made, in ticks.
    pub created: i64,
    /// The checksums of its file's blocks; None for a segment of before segments had them.
    pub(crate) checksums: Option<Checksums>,
}

impl Catalogue {
    /// All segments.
    pub async fn segments(&self) -> Result<Vec<SegmentRecord>> {
        let rows = sqlx::query("SELECT * FROM segments ORDER BY id")
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(segment).collect()
    }

    /// The last sequence of the log whose items lie in segments.
    pub async fn log_position(&self) -> Result<u64> {
        let sequence: i64 = sqlx::query_scalar("SELECT sequence FROM log_position")
            .fetch_one(&self.pool)
            .await?;
        Ok(from_sql(sequence))
    }

    /// Registers sealed segments and advances the log's position: both or neither. Fills in the ids.
    pub(crate) async fn register_sealed(
        &self,
        segments: &mut [SegmentRecord],
        position: u64,
    ) -> Result<()> {
        let mut transaction = self.writer.begin().await?;
        insert(&mut transaction, segments).await?;
        sqlx::query("UPDATE log_position SET sequence = ? WHERE sequence <= ?1")
            .bind(to_sql(position))
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Puts merged segments in the place of others. Fills in the ids.
    pub(crate) async fn replace_segments(
        &self,
        gone: &[i64],
        segments: &mut [SegmentRecord],
    ) -> Result<()> {
        let mut transaction = self.writer.begin().await?;
        for id in gone {
            sqlx::query("DELETE FROM segments WHERE id = ?")
                .bind(id)
                .execute(&mut *transaction)
                .await?;
        }
        insert(&mut transaction, segments).await?;
        transaction.commit().await?;
        Ok(())
    }
}

async fn insert(connection: &mut SqliteConnection, segments: &mut [SegmentRecord]) -> Result<()> {
    for segment in segments {
        let done = sqlx::query(
            "INSERT INTO segments (app_id, table_name, path, rows, bytes, min_ts, max_ts, min_seq, max_seq, level, \
             promoted, created, checksums) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(segment.app.to_string())
        .bind(segment.table.name())
        .bind(&segment.path)
        .bind(to_sql(segment.rows))
        .bind(to_sql(segment.bytes))
        .bind(segment.min_ts)
        .bind(segment.max_ts)
        .bind(to_sql(segment.min_seq))
        .bind(to_sql(segment.max_seq))
        .bind(segment.level)
        .bind(serde_json::Value::from(segment.promoted.clone()).to_string())
        .bind(segment.created)
        .bind(segment.checksums.as_ref().map(Checksums::to_bytes))
        .execute(&mut *connection)
        .await?;
        segment.id = done.last_insert_rowid();
    }
    Ok(())
}

fn segment(row: &SqliteRow) -> Result<SegmentRecord> {
    let name: String = row.try_get("table_name")?;
    let table =
        Table::from_name(&name).ok_or_else(|| unreadable(format!("there is no table '{name}'")))?;
    let promoted: String = row.try_get("promoted")?;
    let unsigned = |column: &str| row.try_get::<i64, _>(column).map(from_sql);
    Ok(SegmentRecord {
        id: row.try_get("id")?,
        app: app_id(row.try_get("app_id")?)?,
        table,
        path: row.try_get("path")?,
        rows: unsigned("rows")?,
        bytes: unsigned("bytes")?,
        min_ts: row.try_get("min_ts")?,
        max_ts: row.try_get("max_ts")?,
        min_seq: unsigned("min_seq")?,
        max_seq: unsigned("max_seq")?,
        level: row.try_get("level")?,
        promoted: names(&promoted)?,
        created: row.try_get("created")?,
        checksums: checksums(row.try_get("checksums")?)?,
    })
}

fn checksums(bytes: Option<Vec<u8>>) -> Result<Option<Checksums>> {
    bytes
        .map(|bytes| {
            Checksums::from_bytes(&bytes)
                .ok_or_else(|| unreadable("the checksums of a segment are cut".to_owned()))
        })
        .transpose()
}

fn names(json: &str) -> Result<Vec<String>> {
    let value: serde_json::Value = serde_json::from_str(json)
        .map_err(|error| unreadable(format!("promoted columns: {error}")))?;
    let names = value.as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(names
        .iter()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect())
}

fn unreadable(what: String) -> StoreError {
    sqlx::Error::Decode(what.into()).into()
}

/// SQLite's integers are signed; sequences and sizes stay far below the difference.
fn to_sql(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn from_sql(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}
