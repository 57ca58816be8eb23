//! Which server has a catalogue in PostgreSQL as its store.
//!
//! The owner holds an advisory lock of its session, so that a second server is refused while the first one runs. A session ends with its
//! connection, so the lock alone does not keep out an owner that has lost its connection: each new owner raises the number `epoch`, and
//! every transaction of the owner checks it.

use std::time::Duration;

use tokio::time::Instant;
use tokio_postgres::Client;

use super::super::error::{DatabaseError, Result};
use super::super::statement::sql;
use super::connection::{connect, run, within};
use super::url::PostgresUrl;

/// Locks the catalogue: the key is arbitrary, and the number of the table distinguishes catalogues in several schemas of a database.
const LOCK: &str =
    "SELECT pg_try_advisory_lock(1212763716, 'catalogue_state'::regclass::oid::int4)";
/// How long a start waits for the lock: PostgreSQL notices a moment later that the last owner was killed.
const PATIENCE: Duration = Duration::from_secs(5);
const RETRY: Duration = Duration::from_millis(100);

/// The session with the lock, and the number of this owner.
#[derive(Debug)]
pub(super) struct Ownership {
    session: tokio::sync::Mutex<Option<Client>>,
    epoch: i64,
}

impl Ownership {
    /// Takes the catalogue; waits a moment for an owner that has just ended.
    ///
    /// # Errors
    /// [`DatabaseError::Held`] if another process is the owner.
    pub(super) async fn take(url: &PostgresUrl) -> Result<Ownership> {
        let session = connect(url).await?;
        let began = Instant::now();
        while !lock(&session).await? {
            if began.elapsed() >= PATIENCE {
                return Err(DatabaseError::Held {
                    holder: holder(&session).await?,
                });
            }
            tokio::time::sleep(RETRY).await;
        }
        // It waits for the transactions that the last owner has begun.
        let taken = sql(
            "UPDATE catalogue_state SET epoch = epoch + 1, holder = 'process ' || $1 || \
             coalesce(' at ' || host(inet_client_addr()), ' on the machine of PostgreSQL') \
             WHERE one = 1 RETURNING epoch",
        );
        let (rows, _) = run(&session, &taken.bind(std::process::id().to_string())).await?;
        let epoch = rows.first().map(|row| row.try_get("epoch")).transpose()?;
        let Some(epoch) = epoch else {
            return Err(DatabaseError::Schema(
                "the table catalogue_state has lost its row".to_owned(),
            ));
        };
        Ok(Ownership {
            session: tokio::sync::Mutex::new(Some(session)),
            epoch,
        })
    }

    /// Takes the lock again if its connection was lost. If that fails, the number of the owner still keeps others' changes apart.
    pub(super) async fn keep(&self, url: &PostgresUrl) -> Result<()> {
        let mut session = self.session.lock().await;
        if session.as_ref().is_some_and(|session| !session.is_closed()) {
            return Ok(());
        }
        let again = connect(url).await?;
        if lock(&again).await? {
            *session = Some(again);
        }
        Ok(())
    }

    /// Refuses a transaction that found another owner.
    pub(super) fn check(&self, epoch: i64, holder: String) -> Result<()> {
        if epoch == self.epoch {
            return Ok(());
        }
        Err(DatabaseError::TakenOver { holder })
    }

    /// Gives the catalogue up.
    pub(super) async fn release(&self) {
        // The session ends with its client.
        self.session.lock().await.take();
    }
}

async fn lock(session: &Client) -> Result<bool> {
    within(async {
        let row = session.query_typed(LOCK, &[]).await?;
        Ok(row.first().is_some_and(|row| row.get(0)))
    })
    .await
}

async fn holder(session: &Client) -> Result<String> {
    let (rows, _) = run(session, &sql("SELECT holder FROM catalogue_state")).await?;
    let holder = rows.first().map(|row| row.try_get("holder")).transpose()?;
    Ok(holder.unwrap_or_default())
}
