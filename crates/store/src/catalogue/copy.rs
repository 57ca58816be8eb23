//! Copying what a catalogue holds to an empty one in another database.

use super::database::{self, Row, Statement, Transaction, Value, sql};
use super::{Catalogue, segments};
use crate::error::Result;
use crate::store_id::StoreId;

/// The type of a column.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Integer,
    Text,
    Bytes,
}

/// How a table is copied.
struct TableCopy {
    columns: &'static [(&'static str, Kind)],
    read: &'static str,
    write: &'static str,
}

/// A table with its columns, and the numbers of the parameters for all but the first.
macro_rules! table {
    ($name:literal: $first:literal $kind:ident $(, $column:literal $other:ident $number:literal)*) => {
        TableCopy {
            columns: &[($first, Kind::$kind), $(($column, Kind::$other)),*],
            read: concat!("SELECT ", $first, $(", ", $column,)* " FROM ", $name),
            write: concat!(
                "INSERT INTO ", $name, " (", $first, $(", ", $column,)* ") VALUES ($1", $(", $", $number,)* ")"
            ),
        }
    };
}

/// Every table but those about one database, and but `store` and `log_position`, which a new catalogue fills. A table comes after those
/// that it refers to.
const TABLES: [TableCopy; 17] = [
    table!("applications": "id" Text, "name" Text 2, "instrumentation_key" Text 3, "created" Integer 4, "tier" Text 5,
        "daily_cap_bytes" Integer 6, "retention_days" Integer 7, "deleted" Integer 8, "purged" Integer 9),
    table!("api_keys": "id" Text, "app_id" Text 2, "name" Text 3, "hash" Bytes 4, "scopes" Text 5, "created" Integer 6,
        "expires" Integer 7, "last_used" Integer 8),
    table!("saved_queries": "app_id" Text, "name" Text 2, "text" Text 3, "range" Text 4, "version" Integer 5, "author" Text 6,
        "changed" Integer 7),
    table!("workbooks": "app_id" Text, "name" Text 2, "text" Text 3, "range" Text 4, "version" Integer 5, "author" Text 6,
        "changed" Integer 7),
    table!("retention_rules": "app_id" Text, "table_name" Text 2, "days" Integer 3, "max_bytes" Integer 4),
    table!("tenant": "one" Integer, "id" Text 2),
    table!("users": "id" Text, "name" Text 2, "password" Text 3, "created" Integer 4),
    table!("clients": "id" Text, "name" Text 2, "public" Integer 3, "created" Integer 4),
    table!("client_secrets": "id" Text, "client_id" Text 2, "hash" Bytes 3, "created" Integer 4, "expires" Integer 5),
    table!("client_redirects": "client_id" Text, "uri" Text 2),
    table!("roles": "holder" Text, "app_id" Text 2, "role" Text 3),
    table!("grants": "id" Text, "user_id" Text 2, "client_id" Text 3, "resource" Text 4, "scope" Text 5, "created" Integer 6,
        "expires" Integer 7, "revoked" Integer 8),
    table!("refresh_tokens": "hash" Bytes, "grant_id" Text 2, "created" Integer 3, "used" Integer 4),
    table!("sessions": "hash" Bytes, "id" Text 2, "user_id" Text 3, "created" Integer 4, "expires" Integer 5),
    table!("signing_keys": "id" Text, "pem" Text 2, "created" Integer 3),
    table!("usage": "app_id" Text, "table_name" Text 2, "hour" Integer 3, "items" Integer 4, "bytes" Integer 5, "last" Integer 6),
    table!("trusted_time": "one" Integer, "mark" Integer 2, "confirmations" Integer 3),
];

/// The notes of the audit, which get numbers of the new catalogue in the same order.
const AUDIT: TableCopy = TableCopy {
    read: "SELECT at, actor, action, subject, address FROM audit ORDER BY id",
    ..table!("audit": "at" Integer, "actor" Text 2, "action" Text 3, "subject" Text 4, "address" Text 5)
};

impl Catalogue {
    /// Copies everything to a new catalogue, which becomes that of the store, in one transaction. Segments and notes of the audit get
    /// new numbers and keep their order.
    pub(crate) async fn copy_rows_to(&self, target: &Catalogue, store: StoreId) -> Result<()> {
        let mut segments = self.all_segments().await?;
        let position = self.log_position().await?;
        let read = async {
            let mut tables = Vec::new();
            for table in TABLES.iter().chain([&AUDIT]) {
                tables.push((table, sql(table.read).fetch_all(&self.database).await?));
            }
            Ok(tables)
        };
        let tables = self.named(read).await?;
        target
            .named(async {
                let mut transaction = target.database.begin().await?;
                for (table, rows) in &tables {
                    for row in rows {
                        table.insert(row, &mut transaction).await?;
                    }
                }
                segments::insert(&mut transaction, &mut segments).await?;
                segments::set_position(&mut transaction, position).await?;
                sql("INSERT INTO store (one, id) VALUES (1, $1) ON CONFLICT DO NOTHING")
                    .bind(store.to_string())
                    .execute(&mut transaction)
                    .await?;
                transaction.commit().await
            })
            .await
    }
}

impl TableCopy {
    async fn insert(&self, row: &Row, transaction: &mut Transaction) -> database::Result<u64> {
        let mut statement: Statement = sql(self.write);
        for (column, kind) in self.columns {
            statement = statement.bind(match kind {
                Kind::Integer => Value::Integer(row.try_get(column)?),
                Kind::Text => Value::Text(row.try_get(column)?),
                Kind::Bytes => Value::Bytes(row.try_get(column)?),
            });
        }
        statement.execute(transaction).await
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Tables that are not copied: those about one database, and those that are written by other means.
    const OTHERS: [&str; 7] = [
        "_sqlx_migrations",
        "row_checksums",
        "catalogue_check",
        "sqlite_sequence",
        "store",
        "log_position",
        "segments",
    ];

    #[tokio::test]
    async fn every_column_of_every_table_is_copied() {
        let dir = tempfile::tempdir().unwrap();
        let catalogue = Catalogue::open_or_create(dir.path()).await.unwrap();
        let columns: Vec<(String, String)> = sqlx::query_as(
            "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'",
        )
        .fetch_all(catalogue.file_pool())
        .await
        .unwrap();
        let is_copied = |(table, _): &(String, String)| !OTHERS.contains(&table.as_str());
        let due: BTreeSet<(String, String)> = columns.into_iter().filter(is_copied).collect();
        let mut copied = BTreeSet::new();
        for table in TABLES.iter().chain([&AUDIT]) {
            let name = table.write.split_whitespace().nth(2).unwrap();
            for (column, _) in table.columns {
                assert!(table.read.contains(column) && table.write.contains(column));
                copied.insert((name.to_owned(), (*column).to_owned()));
            }
        }
        copied.insert(("audit".to_owned(), "id".to_owned()));
        assert_eq!(copied, due);
    }
}
