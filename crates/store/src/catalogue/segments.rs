//! Segments and the log's position: what is data, and from where the log must be replayed.

use std::ops::RangeInclusive;

use super::Catalogue;
use super::applications::app_id;
use super::database::{self, Row, Transaction, sql};
use super::usage;
use super::values::{from_sql, to_sql, unreadable};
use crate::app_id::AppId;
use crate::database_error::DatabaseError;
use crate::error::Result;
use crate::schema::Table;
use crate::segment::Checksums;
use crate::usage::Usage;

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
    /// 0: sealed from memory; 1: merged within a day that was not closed; 2: a merged day.
    pub level: u32,
    /// The promoted columns in it, by their full names.
    pub promoted: Vec<String>,
    /// When it was made, in ticks.
    pub created: i64,
    /// The checksums of its file's blocks; None for a segment of before segments had them.
    pub(crate) checksums: Option<Checksums>,
    /// Why its file cannot be read; `None` if it can.
    pub damage: Option<String>,
    /// When retention took it out of service, in ticks; `None` for data.
    pub expired: Option<i64>,
}

impl Catalogue {
    /// All segments that are data, damaged ones included.
    pub async fn segments(&self) -> Result<Vec<SegmentRecord>> {
        self.named(async {
            let rows = sql("SELECT * FROM segments WHERE expired IS NULL ORDER BY id")
                .fetch_all(&self.database)
                .await?;
            rows.iter().map(segment).collect()
        })
        .await
    }

    /// The segments that retention took out of service and whose files are not deleted yet.
    pub async fn expired_segments(&self) -> Result<Vec<SegmentRecord>> {
        self.named(async {
            let rows = sql("SELECT * FROM segments WHERE expired IS NOT NULL ORDER BY id")
                .fetch_all(&self.database)
                .await?;
            rows.iter().map(segment).collect()
        })
        .await
    }

    /// How many expired segments there are, and the bytes of their files.
    pub async fn expired_size(&self) -> Result<(u64, u64)> {
        self.named(async {
            let row = sql(
                "SELECT count(*) AS files, CAST(coalesce(sum(bytes), 0) AS BIGINT) AS bytes FROM segments WHERE expired IS NOT NULL",
            )
            .fetch_one(&self.database)
            .await?;
            let unsigned = |column: &str| row.try_get::<i64>(column).map(from_sql);
            Ok((unsigned("files")?, unsigned("bytes")?))
        })
        .await
    }

    /// All segments, expired ones included.
    pub(crate) async fn all_segments(&self) -> Result<Vec<SegmentRecord>> {
        self.named(async {
            let rows = sql("SELECT * FROM segments ORDER BY id")
                .fetch_all(&self.database)
                .await?;
            rows.iter().map(segment).collect()
        })
        .await
    }

    /// Takes segments out of service at `now`, in ticks; their files are kept for a while.
    pub(crate) async fn expire_segments(&self, ids: &[i64], now: i64) -> Result<()> {
        self.named(async {
            let mut transaction = self.database.begin().await?;
            transaction.changes_segments();
            for id in ids {
                sql("UPDATE segments SET expired = $1 WHERE id = $2 AND expired IS NULL")
                    .bind(now)
                    .bind(id)
                    .execute(&mut transaction)
                    .await?;
            }
            transaction.commit().await?;
            Ok(())
        })
        .await
    }

    /// Makes all expired segments data again; says how many. The next opening of the store moves their files back.
    pub async fn restore_expired(&self) -> Result<u64> {
        self.named(async {
            let mut transaction = self.database.begin().await?;
            transaction.changes_segments();
            let done = sql("UPDATE segments SET expired = NULL WHERE expired IS NOT NULL")
                .execute(&mut transaction)
                .await?;
            transaction.commit().await?;
            Ok(done)
        })
        .await
    }

    /// Notes why files of segments cannot be read, or (`None`) that they can be read again.
    pub(crate) async fn set_damage(&self, found: &[(i64, Option<String>)]) -> Result<()> {
        self.named(async {
            let mut transaction = self.database.begin().await?;
            transaction.changes_segments();
            for (id, damage) in found {
                sql("UPDATE segments SET damage = $1 WHERE id = $2")
                    .bind(damage)
                    .bind(id)
                    .execute(&mut transaction)
                    .await?;
            }
            transaction.commit().await?;
            Ok(())
        })
        .await
    }

    /// Whether a segment with this path is listed.
    pub(crate) async fn lists_segment(&self, path: &str) -> Result<bool> {
        self.named(async {
            let count: i64 = sql("SELECT count(*) FROM segments WHERE path = $1")
                .bind(path)
                .value(&self.database)
                .await?;
            Ok(count > 0)
        })
        .await
    }

    /// The last sequence of the log of this process whose items lie in segments. Of a catalogue that has nodes and for a process that is none it is
    /// that of the first node.
    pub async fn log_position(&self) -> Result<u64> {
        self.named(async {
            let own = match (self.node(), self.database.postgres()) {
                (Some(node), _) => {
                    Some(sql("SELECT log_position FROM nodes WHERE id = $1").bind(node.to_string()))
                }
                (None, Some(_)) => Some(sql("SELECT log_position FROM nodes WHERE number = 0")),
                (None, None) => None,
            };
            let own = match own {
                Some(own) => own.fetch_optional(&self.database).await?,
                None => None,
            };
            let sequence: i64 = match own {
                Some(row) => row.try_get("log_position")?,
                None => {
                    sql("SELECT sequence FROM log_position")
                        .value(&self.database)
                        .await?
                }
            };
            Ok(from_sql(sequence))
        })
        .await
    }

    /// Registers sealed segments, adds their items to the usage and advances the log's position from the start of `log` to its end: all or nothing. Fills in
    /// the ids. `collections`: what [`Catalogue::collections`] returned before the segments were written.
    ///
    /// # Errors
    /// [`DatabaseError::SealedMeanwhile`] if the log's position is another one, so that the requests may be in segments already.
    /// [`DatabaseError::Collected`] if unlisted objects have been collected since.
    pub(crate) async fn register_sealed(
        &self,
        segments: &mut [SegmentRecord],
        sealed: &Usage,
        log: RangeInclusive<u64>,
        collections: i64,
    ) -> Result<()> {
        self.named(async {
            let mut transaction = self.database.begin().await?;
            self.refuse_collected(&mut transaction, collections).await?;
            insert(&mut transaction, segments).await?;
            usage::add(&mut transaction, sealed).await?;
            // The list of segments and the position change together for nodes that follow them.
            transaction.changes_segments();
            let advance = match self.node() {
                Some(node) => {
                    sql("UPDATE nodes SET log_position = $1 WHERE log_position = $2 AND id = $3")
                        .bind(to_sql(*log.end()))
                        .bind(to_sql(*log.start()))
                        .bind(node.to_string())
                }
                None => sql("UPDATE log_position SET sequence = $1 WHERE sequence = $2")
                    .bind(to_sql(*log.end()))
                    .bind(to_sql(*log.start())),
            };
            if advance.execute(&mut transaction).await? != 1 {
                return Err(DatabaseError::SealedMeanwhile);
            }
            transaction.commit().await?;
            Ok(())
        })
        .await
    }

    /// Lists these segments, and sets the log's position, in place of whatever the catalogue says.
    pub(crate) async fn rebuild_segments(
        &self,
        segments: &mut [SegmentRecord],
        position: u64,
    ) -> Result<()> {
        self.named(async {
            let mut transaction = self.database.begin().await?;
            // Without a condition SQLite would not tell which rows it deletes, and their checksums would stay.
            sql("DELETE FROM segments WHERE id IS NOT NULL")
                .execute(&mut transaction)
                .await?;
            insert(&mut transaction, segments).await?;
            set_position(&mut transaction, position).await?;
            transaction.commit().await?;
            Ok(())
        })
        .await
    }

    /// Puts merged segments in the place of others. Fills in the ids. `collections` as for [`Catalogue::register_sealed`].
    ///
    /// # Errors
    /// [`DatabaseError::Superseded`] if one of the others is not listed as data any more: another node has merged or expired it.
    /// [`DatabaseError::Collected`] as for [`Catalogue::register_sealed`].
    pub(crate) async fn merge_segments(
        &self,
        gone: &[i64],
        merged: &mut [SegmentRecord],
        collections: i64,
    ) -> Result<()> {
        self.named(async {
            let mut transaction = self.database.begin().await?;
            self.refuse_collected(&mut transaction, collections).await?;
            transaction.changes_segments();
            for id in gone {
                let deleted = sql("DELETE FROM segments WHERE id = $1 AND expired IS NULL")
                    .bind(id)
                    .execute(&mut transaction)
                    .await?;
                if deleted != 1 {
                    return Err(DatabaseError::Superseded);
                }
            }
            insert(&mut transaction, merged).await?;
            transaction.commit().await?;
            Ok(())
        })
        .await
    }

    /// Puts segments in the place of others. Fills in the ids.
    pub(crate) async fn replace_segments(
        &self,
        gone: &[i64],
        segments: &mut [SegmentRecord],
    ) -> Result<()> {
        self.named(async {
            let mut transaction = self.database.begin().await?;
            transaction.changes_segments();
            for id in gone {
                sql("DELETE FROM segments WHERE id = $1")
                    .bind(id)
                    .execute(&mut transaction)
                    .await?;
            }
            insert(&mut transaction, segments).await?;
            transaction.commit().await?;
            Ok(())
        })
        .await
    }
}

/// Sets the log's position, whatever it was.
pub(super) async fn set_position(
    transaction: &mut Transaction,
    position: u64,
) -> database::Result<()> {
    sql("UPDATE log_position SET sequence = $1")
        .bind(to_sql(position))
        .execute(transaction)
        .await?;
    Ok(())
}

/// Registers segments. Fills in the ids.
pub(super) async fn insert(
    transaction: &mut Transaction,
    segments: &mut [SegmentRecord],
) -> database::Result<()> {
    for segment in segments {
        segment.id = sql(
            "INSERT INTO segments (app_id, table_name, path, rows, bytes, min_ts, max_ts, min_seq, max_seq, level, \
             promoted, created, checksums, damage, expired) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) RETURNING id",
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
        .bind(&segment.damage)
        .bind(segment.expired)
        .value(&mut *transaction)
        .await?;
    }
    Ok(())
}

pub(super) fn segment(row: &Row) -> database::Result<SegmentRecord> {
    let name: String = row.try_get("table_name")?;
    let table =
        Table::from_name(&name).ok_or_else(|| unreadable(format!("there is no table '{name}'")))?;
    let promoted: String = row.try_get("promoted")?;
    let unsigned = |column: &str| row.try_get::<i64>(column).map(from_sql);
    Ok(SegmentRecord {
        id: row.try_get("id")?,
        app: app_id(&row.try_get::<String>("app_id")?)?,
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
        checksums: checksums(row.added("checksums")?)?,
        damage: row.added("damage")?,
        expired: row.added("expired")?,
    })
}

fn checksums(bytes: Option<Vec<u8>>) -> database::Result<Option<Checksums>> {
    bytes
        .map(|bytes| {
            Checksums::from_bytes(&bytes)
                .ok_or_else(|| unreadable("the checksums of a segment are cut".to_owned()))
        })
        .transpose()
}

fn names(json: &str) -> database::Result<Vec<String>> {
    let value: serde_json::Value = serde_json::from_str(json)
        .map_err(|error| unreadable(format!("promoted columns: {error}")))?;
    let names = value.as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(names
        .iter()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect())
}
