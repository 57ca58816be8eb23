//! Rows of both engines, read by the names of their columns.

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::database_error::{DatabaseError, Result};

/// One row of a result.
#[derive(Debug)]
pub(in crate::catalogue) enum Row {
    Sqlite(SqliteRow),
    Postgres(tokio_postgres::Row),
}

impl Row {
    /// The value of a column.
    pub(in crate::catalogue) fn try_get<T: Column>(&self, column: &str) -> Result<T> {
        T::read(self, column)
    }

    /// The value of the first column.
    pub(super) fn first<T: Column>(&self) -> Result<T> {
        T::read(self, 0)
    }

    /// The value of a column that older catalogues lack: a check reads them without migrating them.
    pub(in crate::catalogue) fn added<T>(&self, column: &str) -> Result<Option<T>>
    where
        Option<T>: Column,
    {
        match self.try_get(column) {
            Err(DatabaseError::Sqlite(sqlx::Error::ColumnNotFound(_))) => Ok(None),
            value => value,
        }
    }
}

/// The place of a column: its name or its number.
pub(in crate::catalogue) trait Place:
    sqlx::ColumnIndex<SqliteRow> + tokio_postgres::row::RowIndex + std::fmt::Display + Copy
{
}

impl Place for &str {}
impl Place for usize {}

/// A type that columns are read as.
pub(in crate::catalogue) trait Column: Sized {
    fn read(row: &Row, place: impl Place) -> Result<Self>;
}

/// Types that both engines have.
macro_rules! columns {
    ($($type:ty),*) => {
        $(impl Column for $type {
            fn read(row: &Row, place: impl Place) -> Result<$type> {
                match row {
                    Row::Sqlite(row) => Ok(row.try_get(place)?),
                    Row::Postgres(row) => Ok(row.try_get(place)?),
                }
            }
        })*
    };
}

columns!(
    i64,
    Option<i64>,
    String,
    Option<String>,
    Vec<u8>,
    Option<Vec<u8>>
);

impl Column for bool {
    fn read(row: &Row, place: impl Place) -> Result<bool> {
        i64::read(row, place).map(|value| value != 0)
    }
}

impl Column for u32 {
    fn read(row: &Row, place: impl Place) -> Result<u32> {
        i64::read(row, place).and_then(|value| small(value, place))
    }
}

impl Column for Option<u32> {
    fn read(row: &Row, place: impl Place) -> Result<Option<u32>> {
        let value = Option::<i64>::read(row, place)?;
        value.map(|value| small(value, place)).transpose()
    }
}

fn small(value: i64, place: impl Place) -> Result<u32> {
    u32::try_from(value)
        .map_err(|_| DatabaseError::Unreadable(format!("{value} in the column {place}")))
}
