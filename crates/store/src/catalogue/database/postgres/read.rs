//! Reading the catalogue as it is at one moment.

use std::sync::Arc;

use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio_postgres::Client;

use super::super::row::Row;
use super::super::statement::Statement;
use super::connection::{connect, run, within};
use super::url::PostgresUrl;
use crate::database_error::Result;

/// All statements read what one moment had.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// A transaction that reads. If it is dropped, its connection is closed.
pub(in crate::catalogue) struct PostgresRead {
    client: Client,
    slot: OwnedMutexGuard<Option<Client>>,
}

impl PostgresRead {
    /// Begins a transaction over the connection in the slot, or over a new one.
    pub(super) async fn begin(
        url: &PostgresUrl,
        slot: Arc<Mutex<Option<Client>>>,
    ) -> Result<PostgresRead> {
        let mut slot = slot.lock_owned().await;
        if let Some(client) = slot.take().filter(|client| !client.is_closed())
            && within(async { Ok(client.batch_execute(BEGIN).await?) })
                .await
                .is_ok()
        {
            return Ok(PostgresRead { client, slot });
        }
        let client = connect(url).await?;
        within(async { Ok(client.batch_execute(BEGIN).await?) }).await?;
        Ok(PostgresRead { client, slot })
    }

    pub(in crate::catalogue::database) async fn fetch(
        &self,
        statement: &Statement,
    ) -> Result<Vec<Row>> {
        Ok(run(&self.client, statement).await?.0)
    }

    /// Ends the transaction; the connection serves the next one.
    pub(in crate::catalogue) async fn end(mut self) -> Result<()> {
        within(async { Ok(self.client.batch_execute("COMMIT").await?) }).await?;
        *self.slot = Some(self.client);
        Ok(())
    }
}
