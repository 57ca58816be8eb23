//! Transactions that write.

use tokio::sync::OwnedMutexGuard;
use tokio_postgres::{Client, SimpleQueryMessage};

use super::super::row::Row;
use super::super::statement::Statement;
use super::connection::{run, within};
use crate::database_error::{DatabaseError, Result};
use crate::node::NodeId;

/// Begins a transaction and counts it. The row is locked until the transaction ends, so that transactions run one after the other, whichever
/// process makes them.
const BEGIN: &str = "BEGIN; UPDATE catalogue_state SET version = version + 1 WHERE one = 1 RETURNING version, epoch, holder";

/// What begins a transaction. That of a node reads the number of the node as well, in a statement of its own: the first one may have waited,
/// and reads other tables as they were before.
fn begin_of(node: Option<NodeId>) -> String {
    match node {
        // An id is a UUID, which needs no quoting.
        Some(node) => format!("{BEGIN}; SELECT epoch, holder FROM nodes WHERE id = '{node}'"),
        None => BEGIN.to_owned(),
    }
}

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
    /// How often a process has started as the node, and the last one; `None` for a process that is no node, or that the catalogue does
    /// not know.
    pub(super) node: Option<(i64, String)>,
}

/// Begins a transaction, of a node or of another process.
pub(super) async fn begin(client: &Client, node: Option<NodeId>) -> Result<Begun> {
    within(async {
        let replies = client.simple_query(&begin_of(node)).await?;
        let mut rows = replies.iter().filter_map(|reply| match reply {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let (row, of_node) = (rows.next(), rows.next());
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
            node: of_node.and_then(|row| Some((row.get(0)?.parse().ok()?, row.get(1)?.to_owned()))),
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
    /// Whether the list of segments changes.
    pub(super) changes_segments: bool,
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

    /// Notes that the transaction changes the list of segments, which other nodes follow.
    pub(in crate::catalogue::database) fn changes_segments(&mut self) {
        self.changes_segments = true;
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
        let end = match (self.has_changes, self.changes_segments) {
            (true, true) => "UPDATE catalogue_state SET segments = version WHERE one = 1; COMMIT",
            (true, false) => "COMMIT",
            (false, _) => "ROLLBACK",
        };
        within(async { Ok(self.client.batch_execute(end).await?) }).await?;
        if self.has_changes {
            self.seen.confirm(self.version);
        }
        *self.slot = Some(self.client);
        Ok(())
    }
}
