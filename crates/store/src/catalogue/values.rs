//! Values between SQL and this crate.

use crate::database_error::DatabaseError;

/// A value of a row that cannot be what it stands for.
pub(super) fn unreadable(what: String) -> DatabaseError {
    DatabaseError::Unreadable(what)
}

/// Integers of SQL are signed; sequences and sizes stay far below the difference.
pub(super) fn to_sql(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// An unsigned number; a negative one, which is never written, is zero.
pub(super) fn from_sql(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}
