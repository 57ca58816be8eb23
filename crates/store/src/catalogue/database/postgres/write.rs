//! Transactions that write.

use tokio::sync::OwnedMutexGuard;
use tokio_postgres::{Client, SimpleQueryMessage};

use super::super::error::{DatabaseError, Result};
use super::super::row::Row;
use super::super::statement::Statement;
use super::connection::{run, within};

/// Begins a transaction and counts it. The row is locked until the transaction ends, so that transactions run one after the other, whichever
/// process makes them.
const BEGIN: &str = "BEGIN; UPDATE catalogue_state SET version = version + 1 WHERE one = 1 RETURNING version, epoch, holder";

/// The connection that writes, while no transaction uses it.
pub(super) type WriterSlot = Option<Client>;

/// What a transaction found when it began.
#[derive(Debug)]
pub(super) struct Begun {
    /// The number of committed changes, this one included.
    pub(super) version: i64,
    /// How often the catalogue has had a new owner.
    pub(super) epoch: i64,
    /// The owner.
    pub(super) holder: String,
}

/// Begins a transaction.
pub(super) async fn begin(client: &Client) -> Result<Begun> {
    within(async {
        let replies = client.simple_query(BEGIN).await?;
        let row = replies.iter().find_map(|reply| match reply {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let text = |column: usize| row.and_then(|row| row.get(column));
        let number = |column: usize| text(column).and_then(|text| text.parse().ok());
        let (Some(version), Some(epoch)) = (number(0), number(1)) else {
            return Err(DatabaseError::Schema(
                "the table catalogue_state has lost its row".to_owned(),
            ));
        };
        Ok(Begun {
            version,
            epoch,
            holder: text(2).unwrap_or("another process").to_owned(),
        })
    })
    .await
}

/// A transaction that writes. If it is dropped, its connection is closed, and PostgreSQL rolls it back.
pub(in crate::catalogue) struct PostgresWrite {
    pub(super) client: Client,
    pub(super) slot: OwnedMutexGuard<WriterSlot>,
    /// The number of committed changes, this one included.
    pub(super) version: i64,
    pub(super) seen: std::sync::Arc<super::state::SeenVersion>,
    pub(super) has_changes: bool,
    pub(super) has_failed: bool,
}

impl PostgresWrite {
    pub(in crate::catalogue::database) async fn fetch(
        &mut self,
        statement: &Statement,
    ) -> Result<Vec<Row>> {
        let (rows, _) = self.run(statement).await?;
        Ok(rows)
    }

    pub(in crate::catalogue::database) async fn execute(
        &mut self,
        statement: &Statement,
    ) -> Result<u64> {
        let (_, changed) = self.run(statement).await?;
        Ok(changed)
    }

    async fn run(&mut self, statement: &Statement) -> Result<(Vec<Row>, u64)> {
        // Until the reply is there: PostgreSQL turns the commit of a transaction that failed into a rollback without an error.
        self.has_failed = true;
        let done = run(&self.client, statement).await?;
        self.has_failed = false;
        self.has_changes |= done.1 > 0 && !statement.text.starts_with("SELECT");
        Ok(done)
    }

    /// See [`super::super::Transaction::commit`].
    pub(in crate::catalogue::database) async fn commit(mut self) -> Result<()> {
        if self.has_failed {
            return Err(DatabaseError::Unreadable(
                "a statement of the transaction failed".to_owned(),
            ));
        }
        let end = if self.has_changes {
            "COMMIT"
        } else {
            "ROLLBACK"
        };
        within(async { Ok(self.client.batch_execute(end).await?) }).await?;
        if self.has_changes {
            self.seen.confirm(self.version);
        }
        *self.slot = Some(self.client);
        Ok(())
    }
}
