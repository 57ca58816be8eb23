//! One connection to PostgreSQL.

use std::time::Duration;

use futures::TryStreamExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::tls::TlsStream;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Connection, NoTls};

use super::super::row::Row;
use super::super::statement::{Statement, Value};
use super::tls::Tls;
use super::url::{Encryption, PostgresUrl};
use crate::database_error::{DatabaseError, Result};

/// Longest time for a reply. It is a little longer than the time after which the server ends a statement.
const REPLY: Duration = Duration::from_secs(35);

/// Opens a connection. It closes when the client is dropped.
pub(super) async fn connect(url: &PostgresUrl) -> Result<Client> {
    let connected = async {
        Ok(match &url.encryption {
            Encryption::Off => {
                let (client, connection) = url.config.connect(NoTls).await?;
                serve(connection);
                client
            }
            Encryption::Verified(authorities) => {
                let tls = Tls::trusting(authorities.as_deref())?;
                let (client, connection) = url.config.connect(tls).await?;
                serve(connection);
                client
            }
        })
    };
    within(connected).await
}

/// Moves the bytes of a connection until it ends.
fn serve<S, T>(connection: Connection<S, T>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: TlsStream + Unpin + Send + 'static,
{
    tokio::spawn(async move {
        // Each pending request of the client returns the error.
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to PostgreSQL ended");
        }
    });
}

/// Bounds the time of an exchange with the server.
pub(super) async fn within<T>(work: impl Future<Output = Result<T>> + Send) -> Result<T> {
    match tokio::time::timeout(REPLY, work).await {
        Ok(done) => done,
        Err(_) => Err(DatabaseError::TimedOut(REPLY)),
    }
}

/// The rows of a statement, and how many rows it changed or returned.
pub(super) async fn run(client: &Client, statement: &Statement) -> Result<(Vec<Row>, u64)> {
    let values = statement.values.iter().map(parameter);
    within(async {
        let stream = client.query_typed_raw(statement.text, values).await?;
        let mut stream = std::pin::pin!(stream);
        let mut rows = Vec::new();
        while let Some(row) = stream.try_next().await? {
            rows.push(Row::Postgres(row));
        }
        Ok((rows, stream.rows_affected().unwrap_or(0)))
    })
    .await
}

fn parameter(value: &Value) -> (&(dyn ToSql + Sync), Type) {
    match value {
        Value::Integer(value) => (value, Type::INT8),
        Value::Text(value) => (value, Type::TEXT),
        Value::Bytes(value) => (value, Type::BYTEA),
    }
}

/// Whether an error ended the connection, so that another one may succeed.
pub(super) fn is_lost(error: &DatabaseError) -> bool {
    match error {
        // An error of PostgreSQL that shuts down has a code and closes the connection too.
        DatabaseError::Postgres(error) => {
            error.is_closed()
                || error.as_db_error().is_none()
                || error
                    .code()
                    .is_some_and(|code| code.code().starts_with("57P"))
        }
        _ => false,
    }
}
