//! Checksums of the catalogue: SQLite has none for its pages, so every row has one beside it (FORMAT.md, "The catalogue").

use std::collections::{BTreeMap, BTreeSet};

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{AssertSqlSafe, Column, Connection, Row, TypeInfo, ValueRef};

/// Tables of which rows have no checksum: SQLite's own, the migrations, which have one of their own, and the checksums.
const UNCHECKED: [&str; 4] = [
    "_sqlx_migrations",
    "row_checksums",
    "catalogue_check",
    "sqlite_sequence",
];

/// Why a catalogue is not what was written.
#[derive(Debug, thiserror::Error)]
pub(super) enum CheckError {
    #[error("{0}")]
    Damaged(String),
    #[error(transparent)]
    Failed(#[from] sqlx::Error),
}

/// Compares every row with its checksum, unless the catalogue has none yet or a migration ran since they were made. Returns how many
/// transactions were committed; 0 for a catalogue of before they were counted.
pub(super) async fn verify(connection: &mut SqliteConnection) -> Result<u64, CheckError> {
    // One transaction, so that all tables are read as they were at one moment.
    let mut reading = connection.begin().await?;
    let tables = tables(&mut reading).await?;
    if !tables.iter().any(|table| table == "catalogue_check") {
        return Ok(0);
    }
    let problem: String = sqlx::query_scalar("PRAGMA integrity_check(1)")
        .fetch_one(&mut *reading)
        .await?;
    if problem != "ok" {
        return Err(CheckError::Damaged(problem));
    }
    let row = sqlx::query("SELECT migration, schema_checksum, generation FROM catalogue_check")
        .fetch_optional(&mut *reading)
        .await?;
    let Some(row) = row else { return Ok(0) };
    let generation: i64 = row.try_get("generation")?;
    let generation = u64::try_from(generation).unwrap_or(0);
    if row.try_get::<i64, _>("migration")? != last_migration(&mut reading).await? {
        return Ok(generation);
    }
    if row.try_get::<i64, _>("schema_checksum")? != schema_checksum(&mut reading).await? {
        return Err(CheckError::Damaged("its schema was changed".to_owned()));
    }
    let mut known = known_checksums(&mut reading).await?;
    for table in checked(tables) {
        for row in rows(&mut reading, &table).await? {
            let id: i64 = row.try_get(0)?;
            if known.remove(&(table.clone(), id)) != Some(checksum(&row)?) {
                return Err(CheckError::Damaged(format!(
                    "row {id} of the table '{table}' does not have the checksum that it was written with"
                )));
            }
        }
    }
    if let Some(((table, id), _)) = known.first_key_value() {
        return Err(CheckError::Damaged(format!(
            "row {id} of the table '{table}' is missing"
        )));
    }
    Ok(generation)
}

/// Whether the checksums were made or kept after the last migration.
pub(super) async fn are_current(connection: &mut SqliteConnection) -> sqlx::Result<bool> {
    let migration: Option<i64> = sqlx::query_scalar("SELECT migration FROM catalogue_check")
        .fetch_optional(&mut *connection)
        .await?;
    Ok(migration == Some(last_migration(connection).await?))
}

/// Makes the checksums of all rows anew, after a migration.
pub(super) async fn rebuild(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM row_checksums")
        .execute(&mut *connection)
        .await?;
    for table in checked(tables(connection).await?) {
        for row in rows(connection, &table).await? {
            insert(connection, &table, row.try_get(0)?, checksum(&row)?).await?;
        }
    }
    let (migration, schema) = (
        last_migration(connection).await?,
        schema_checksum(connection).await?,
    );
    sqlx::query(
        "INSERT INTO catalogue_check (one, migration, schema_checksum, generation) VALUES (1, ?, ?, 1) \
         ON CONFLICT DO UPDATE SET migration = excluded.migration, schema_checksum = excluded.schema_checksum, \
         generation = generation + 1",
    )
    .bind(migration)
    .bind(schema)
    .execute(&mut *connection)
    .await?;
    Ok(())
}

/// Brings the checksums of these rows up to date; returns the number of the transaction.
pub(super) async fn update(
    connection: &mut SqliteConnection,
    changed: &BTreeSet<(String, i64)>,
) -> sqlx::Result<u64> {
    for (table, id) in changed {
        if UNCHECKED.contains(&table.as_str()) {
            continue;
        }
        let row = sqlx::query(AssertSqlSafe(format!(
            "SELECT rowid, * FROM \"{table}\" WHERE rowid = ?"
        )))
        .bind(id)
        .fetch_optional(&mut *connection)
        .await?;
        match row {
            Some(row) => insert(connection, table, *id, checksum(&row)?).await?,
            None => {
                sqlx::query("DELETE FROM row_checksums WHERE table_name = ? AND row_id = ?")
                    .bind(table)
                    .bind(id)
                    .execute(&mut *connection)
                    .await?;
            }
        }
    }
    let generation: i64 = sqlx::query_scalar(
        "UPDATE catalogue_check SET generation = generation + 1 RETURNING generation",
    )
    .fetch_one(connection)
    .await?;
    Ok(u64::try_from(generation).unwrap_or(0))
}

async fn insert(
    connection: &mut SqliteConnection,
    table: &str,
    id: i64,
    checksum: i64,
) -> sqlx::Result<()> {
    sqlx::query(
        "INSERT INTO row_checksums (table_name, row_id, checksum) VALUES (?, ?, ?) \
         ON CONFLICT DO UPDATE SET checksum = excluded.checksum",
    )
    .bind(table)
    .bind(id)
    .bind(checksum)
    .execute(connection)
    .await?;
    Ok(())
}

async fn tables(connection: &mut SqliteConnection) -> sqlx::Result<Vec<String>> {
    sqlx::query_scalar("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        .fetch_all(connection)
        .await
}

fn checked(tables: Vec<String>) -> impl Iterator<Item = String> {
    tables
        .into_iter()
        .filter(|table| !UNCHECKED.contains(&table.as_str()))
}

/// All rows of a table, each after its row id.
async fn rows(connection: &mut SqliteConnection, table: &str) -> sqlx::Result<Vec<SqliteRow>> {
    sqlx::query(AssertSqlSafe(format!("SELECT rowid, * FROM \"{table}\"")))
        .fetch_all(connection)
        .await
}

async fn known_checksums(
    connection: &mut SqliteConnection,
) -> sqlx::Result<BTreeMap<(String, i64), i64>> {
    let rows = sqlx::query("SELECT table_name, row_id, checksum FROM row_checksums")
        .fetch_all(connection)
        .await?;
    rows.iter()
        .map(|row| Ok(((row.try_get(0)?, row.try_get(1)?), row.try_get(2)?)))
        .collect()
}

async fn last_migration(connection: &mut SqliteConnection) -> sqlx::Result<i64> {
    sqlx::query_scalar("SELECT coalesce(max(version), 0) FROM _sqlx_migrations")
        .fetch_one(connection)
        .await
}

/// The checksum of the definitions of tables and indexes.
async fn schema_checksum(connection: &mut SqliteConnection) -> sqlx::Result<i64> {
    let rows = sqlx::query(
        "SELECT rowid, type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name",
    )
    .fetch_all(connection)
    .await?;
    let mut sum = 0;
    for row in &rows {
        sum = crc32c::crc32c_append(sum, &checksum(row)?.to_le_bytes());
    }
    Ok(i64::from(sum))
}

/// The CRC-32C of a row's columns, without the row id that comes first: for each, its name, its type and its value.
fn checksum(row: &SqliteRow) -> sqlx::Result<i64> {
    let mut sum = 0;
    let mut add = |bytes: &[u8]| {
        sum = crc32c::crc32c_append(sum, &(bytes.len() as u64).to_le_bytes());
        sum = crc32c::crc32c_append(sum, bytes);
    };
    for column in row.columns().iter().skip(1) {
        let index = column.ordinal();
        let value = row.try_get_raw(index)?;
        let kind = value.type_info().name().to_owned();
        add(column.name().as_bytes());
        add(kind.as_bytes());
        if value.is_null() {
            continue;
        }
        match kind.as_str() {
            "INTEGER" => add(&row.try_get_unchecked::<i64, _>(index)?.to_le_bytes()),
            "REAL" => add(&row.try_get_unchecked::<f64, _>(index)?.to_le_bytes()),
            _ => add(row.try_get_unchecked::<&[u8], _>(index)?),
        }
    }
    Ok(i64::from(sum))
}
