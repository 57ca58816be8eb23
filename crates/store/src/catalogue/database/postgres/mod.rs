//! The catalogue in PostgreSQL.
//!
//! One connection reads, one writes, one follows the list of segments, and one holds the locks of the owner. Each is opened again when it is lost. Transactions that write run one
//! after the other: each locks the one row of `catalogue_state` first, so that none has to be repeated. PostgreSQL has checksums of its pages
//! and a log of its own; the checksums of rows and the kept space belong to SQLite.

mod connection;
mod ownership;
mod read;
mod schema;
mod state;
mod tls;
mod url;
mod write;

pub(in crate::catalogue) use ownership::{Claim, NodeClaim};
pub(in crate::catalogue) use read::PostgresRead;
pub use url::{BadUrl, PostgresUrl};
pub(super) use write::PostgresWrite;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio_postgres::Client;

use self::connection::{connect, is_lost, run};
use self::ownership::Ownership;
use self::state::{STALE, SeenVersion};
use self::write::WriterSlot;
use super::row::Row;
use super::statement::{Statement, sql};
use crate::database_error::{DatabaseError, Result};
use crate::node::NodeId;

/// How often a process asks for the number of committed changes.
const POLL: Duration = Duration::from_millis(100);
/// Longest time that a request waits for that number. It goes on with the last one then.
const ASK: Duration = Duration::from_millis(250);

/// What a process does with a catalogue.
#[derive(Debug, Clone)]
pub(in crate::catalogue) enum Role {
    /// It has the catalogue as its store, as a node, or moves it.
    Owner(Claim),
    /// It creates the tables where there are none, and reads and changes what administration is about.
    Founder,
    /// It reads and changes what administration is about.
    Administration,
}

/// The connections to a catalogue in PostgreSQL. Clones share them.
#[derive(Debug, Clone)]
pub(in crate::catalogue) struct PostgresDatabase {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    url: PostgresUrl,
    reader: tokio::sync::Mutex<Option<Arc<Client>>>,
    writer: Arc<tokio::sync::Mutex<WriterSlot>>,
    follower: Arc<tokio::sync::Mutex<Option<Client>>>,
    ownership: Option<Ownership>,
    seen: Arc<SeenVersion>,
    is_watched: AtomicBool,
    is_closed: AtomicBool,
}

impl PostgresDatabase {
    /// Connects, and brings the tables up to date.
    pub(in crate::catalogue) async fn connect(
        url: &PostgresUrl,
        role: Role,
    ) -> Result<PostgresDatabase> {
        let writer = connect(url).await?;
        schema::migrate(&writer, !matches!(role, Role::Administration)).await?;
        let ownership = match &role {
            Role::Owner(claim) => Some(Ownership::take(url, claim).await?),
            Role::Founder | Role::Administration => None,
        };
        Ok(PostgresDatabase {
            shared: Arc::new(Shared {
                url: url.clone(),
                reader: tokio::sync::Mutex::default(),
                writer: Arc::new(tokio::sync::Mutex::new(Some(writer))),
                follower: Arc::default(),
                ownership,
                seen: Arc::default(),
                is_watched: AtomicBool::new(false),
                is_closed: AtomicBool::new(false),
            }),
        })
    }

    fn check_open(&self) -> Result<()> {
        if self.shared.is_closed.load(Ordering::Acquire) {
            return Err(DatabaseError::Closed);
        }
        Ok(())
    }

    async fn reader(&self) -> Result<Arc<Client>> {
        self.check_open()?;
        let mut slot = self.shared.reader.lock().await;
        if let Some(client) = slot.as_ref().filter(|client| !client.is_closed()) {
            return Ok(client.clone());
        }
        let client = Arc::new(connect(&self.shared.url).await?);
        *slot = Some(client.clone());
        Ok(client)
    }

    /// Opens another connection for the next statement.
    async fn forget(&self, client: &Arc<Client>) {
        let mut slot = self.shared.reader.lock().await;
        slot.take_if(|known| Arc::ptr_eq(known, client));
    }

    pub(super) async fn fetch(&self, statement: &Statement) -> Result<Vec<Row>> {
        let mut is_first = true;
        loop {
            let client = self.reader().await?;
            let error = match run(&client, statement).await {
                Ok((rows, _)) => return Ok(rows),
                Err(error) => error,
            };
            let is_lost = is_lost(&error);
            if is_lost || matches!(error, DatabaseError::TimedOut(_)) {
                self.forget(&client).await;
            }
            // PostgreSQL may have been restarted since the last statement.
            if !(is_lost && is_first) {
                return Err(error);
            }
            is_first = false;
        }
    }

    pub(super) async fn begin(&self) -> Result<PostgresWrite> {
        self.check_open()?;
        let shared = &self.shared;
        let mut slot = shared.writer.clone().lock_owned().await;
        if let Some(ownership) = &shared.ownership {
            ownership.keep(&shared.url).await?;
        }
        let node = shared.ownership.as_ref().and_then(Ownership::node);
        let known = slot.take().filter(|client| !client.is_closed());
        let (client, begun) = match known {
            Some(client) => match write::begin(&client, node).await {
                Ok(begun) => (client, begun),
                // PostgreSQL may have been restarted since the last transaction.
                Err(error) if is_lost(&error) => self.begin_anew(node).await?,
                Err(error) => return Err(error),
            },
            None => self.begin_anew(node).await?,
        };
        if let Some(ownership) = &shared.ownership {
            ownership.check(begun.epoch, begun.holder, begun.node)?;
        }
        Ok(PostgresWrite {
            client,
            slot,
            version: begun.version,
            seen: shared.seen.clone(),
            has_changes: false,
            has_failed: false,
            changes_segments: false,
        })
    }

    async fn begin_anew(&self, node: Option<NodeId>) -> Result<(Client, write::Begun)> {
        let client = connect(&self.shared.url).await?;
        let begun = write::begin(&client, node).await?;
        Ok((client, begun))
    }

    /// Begins to read the catalogue as it is at one moment.
    pub(super) async fn begin_read(&self) -> Result<PostgresRead> {
        self.check_open()?;
        PostgresRead::begin(&self.shared.url, self.shared.follower.clone()).await
    }

    /// The node that this process is.
    pub(in crate::catalogue) fn node(&self) -> Option<NodeId> {
        self.shared.ownership.as_ref().and_then(Ownership::node)
    }

    /// How often a process has started as this node.
    pub(in crate::catalogue) fn node_epoch(&self) -> Option<i64> {
        self.shared.ownership.as_ref()?.node_epoch()
    }

    /// See [`Ownership::beat`].
    pub(in crate::catalogue) async fn beat(&self, sequence: i64) -> Result<()> {
        self.check_open()?;
        match &self.shared.ownership {
            Some(ownership) => ownership.beat(&self.shared.url, sequence).await,
            None => Ok(()),
        }
    }

    /// See [`Ownership::begin_maintenance`].
    pub(in crate::catalogue) async fn begin_maintenance(&self) -> Result<bool> {
        self.check_open()?;
        match &self.shared.ownership {
            Some(ownership) => ownership.begin_maintenance(&self.shared.url).await,
            None => Ok(true),
        }
    }

    /// See [`Ownership::end_maintenance`].
    pub(in crate::catalogue) async fn end_maintenance(&self) -> Result<()> {
        match &self.shared.ownership {
            Some(ownership) => ownership.end_maintenance().await,
            None => Ok(()),
        }
    }

    /// Waits until all transactions that were begun have ended.
    pub(super) async fn settle(&self) -> Result<()> {
        // It gets the lock when the others have given it up, and changes nothing.
        self.begin().await?.commit().await
    }

    /// See [`super::Database::version`].
    pub(super) async fn version(&self, now: bool) -> Result<i64> {
        self.check_open()?;
        self.watch();
        let known = self.shared.seen.get();
        if known.is_none() {
            self.ask().await?;
        } else if now && !self.shared.seen.is_paused() {
            match tokio::time::timeout(ASK, self.ask()).await {
                Ok(_) => {}
                Err(_) => self.shared.seen.fail(&"it does not reply"),
            }
        }
        match self.shared.seen.get() {
            Some((version, age)) if age < STALE => Ok(version),
            _ => Err(DatabaseError::Unreachable(STALE)),
        }
    }

    /// Asks for the number of committed changes.
    async fn ask(&self) -> Result<()> {
        let statement = sql("SELECT version FROM catalogue_state");
        let asked = async {
            let rows = self.fetch(&statement).await?;
            let row = rows.first().map(|row| row.try_get("version"));
            row.unwrap_or_else(|| Err(DatabaseError::Unreadable("a row is missing".to_owned())))
        };
        match asked.await {
            Ok(version) => {
                self.shared.seen.confirm(version);
                Ok(())
            }
            Err(error) => {
                self.shared.seen.fail(&error);
                Err(error)
            }
        }
    }

    /// Polls the number of changes every tenth of a second from now on, so that requests do not wait for it.
    fn watch(&self) {
        if !self.shared.is_watched.swap(true, Ordering::AcqRel) {
            tokio::spawn(watch(Arc::downgrade(&self.shared)));
        }
    }

    pub(super) async fn close(&self) {
        self.shared.is_closed.store(true, Ordering::Release);
        self.shared.reader.lock().await.take();
        self.shared.writer.lock().await.take();
        self.shared.follower.lock().await.take();
        if let Some(ownership) = &self.shared.ownership {
            ownership.release().await;
        }
    }
}

async fn watch(shared: Weak<Shared>) {
    loop {
        tokio::time::sleep(POLL).await;
        let Some(shared) = shared.upgrade() else {
            return;
        };
        if shared.is_closed.load(Ordering::Acquire) {
            return;
        }
        // What failed is noted.
        let _ = PostgresDatabase { shared }.ask().await;
    }
}
