//! What a database of the catalogue says when it fails.

use std::time::Duration;

use tokio_postgres::error::SqlState;

/// A failure of SQLite or PostgreSQL, or of reading what they returned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// SQLite failed.
    #[error(transparent)]
    Sqlite(#[from] sqlx::Error),
    /// PostgreSQL refused a statement, or the connection failed.
    #[error("{}", postgres_text(.0))]
    Postgres(tokio_postgres::Error),
    /// A file that belongs to the catalogue cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// PostgreSQL did not reply in time. A commit may have taken effect.
    #[error("PostgreSQL did not reply within {} s", .0.as_secs())]
    TimedOut(Duration),
    /// PostgreSQL has not been reached for too long to go on with what was read last.
    #[error("PostgreSQL has not replied for {} s", .0.as_secs())]
    Unreachable(Duration),
    /// The connections were closed.
    #[error("it was closed")]
    Closed,
    /// Another process is the owner of the catalogue.
    #[error("{holder} uses it as its store")]
    Held {
        /// The owner.
        holder: String,
    },
    /// Another process has become the owner of the catalogue.
    #[error("{holder} has taken over the catalogue; this process changes nothing any more")]
    TakenOver {
        /// The new owner.
        holder: String,
    },
    /// A node cannot join the catalogue.
    #[error("{0}")]
    Refused(String),
    /// A segment that a transaction replaces is not listed any more.
    #[error("a segment was replaced, expired or deleted before a merge of it was committed")]
    Superseded,
    /// The catalogue has another position of the log than the seal began with.
    #[error(
        "requests that a seal has written may be in segments already: the catalogue has another position of the log"
    )]
    SealedMeanwhile,
    /// Another node has deleted unlisted objects since the upload of segments began.
    #[error("objects that the catalogue does not list were collected since the upload began")]
    Collected,
    /// The schema is not one that this program knows.
    #[error("{0}")]
    Schema(String),
    /// A value is not what the program wrote.
    #[error("{0}")]
    Unreadable(String),
}

impl DatabaseError {
    /// Whether PostgreSQL cannot be reached, or will not be for a while, or another process has taken over the catalogue.
    pub fn is_unavailable(&self) -> bool {
        match self {
            DatabaseError::Postgres(error) => {
                error.is_closed()
                    || error.as_db_error().is_none()
                    // Connection exceptions, insufficient resources, operator intervention.
                    || error.code().is_some_and(|code| {
                        ["08", "53", "57"]
                            .iter()
                            .any(|class| code.code().starts_with(class))
                    })
            }
            DatabaseError::TimedOut(_)
            | DatabaseError::Unreachable(_)
            | DatabaseError::TakenOver { .. } => true,
            _ => false,
        }
    }

    /// Whether a row has a value that must be unique and is not.
    pub(crate) fn is_unique_violation(&self) -> bool {
        match self {
            DatabaseError::Sqlite(sqlx::Error::Database(error)) => error.is_unique_violation(),
            DatabaseError::Postgres(error) => error.code() == Some(&SqlState::UNIQUE_VIOLATION),
            _ => false,
        }
    }
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> DatabaseError {
        // It is no source: the text of the error has that of its cause.
        DatabaseError::Postgres(error)
    }
}

/// The message of PostgreSQL. The error's own text is `db error` alone.
fn postgres_text(error: &tokio_postgres::Error) -> String {
    if let Some(refused) = error.as_db_error() {
        return format!("{} (SQLSTATE {})", refused.message(), refused.code().code());
    }
    error.to_string()
}

/// The result of a database operation.
pub(crate) type Result<T> = std::result::Result<T, DatabaseError>;
