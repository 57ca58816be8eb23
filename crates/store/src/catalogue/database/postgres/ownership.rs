//! Which processes have a catalogue in PostgreSQL as their store.
//!
//! A node holds two advisory locks of its session: a shared one of the catalogue and an exclusive one of its id, so that a second process
//! with the same data folder is refused while the first one runs. A move of the catalogue holds the first lock exclusively. A session
//! ends with its connection, so the locks alone do not keep out a process that has lost its connection: each new process raises the number
//! `epoch` of its node, a move raises that of the catalogue, and every transaction checks both.

use std::time::Duration;

use tokio::time::Instant;
use tokio_postgres::Client;

use super::super::statement::{Statement, sql};
use super::connection::{connect, run, within};
use super::url::PostgresUrl;
use crate::clock::ticks;
use crate::database_error::{DatabaseError, Result};
use crate::node::{NodeConfig, NodeId, NodeRecord, first_position};

/// Locks the catalogue for a move: the key is arbitrary, and the number of the table distinguishes catalogues in several schemas of a database.
const LOCK: &str =
    "SELECT pg_try_advisory_lock(1212763716, 'catalogue_state'::regclass::oid::int4)";
/// The same for a node, beside other nodes.
const LOCK_SHARED: &str =
    "SELECT pg_try_advisory_lock_shared(1212763716, 'catalogue_state'::regclass::oid::int4)";
/// Locks the right to merge and expire segments.
const LOCK_MAINTENANCE: &str =
    "SELECT pg_try_advisory_lock(1212763717, 'catalogue_state'::regclass::oid::int4)";
const UNLOCK_MAINTENANCE: &str =
    "SELECT pg_advisory_unlock(1212763717, 'catalogue_state'::regclass::oid::int4)";
/// How long a start waits for a lock: PostgreSQL notices a moment later that the last process was killed.
const PATIENCE: Duration = Duration::from_secs(5);
const RETRY: Duration = Duration::from_millis(100);

/// Waits for the transactions that other processes have begun, and keeps new ones out.
const BEGIN: &str = "BEGIN; SELECT one FROM catalogue_state WHERE one = 1 FOR UPDATE";

/// What a process takes of a catalogue.
#[derive(Debug, Clone)]
pub(in crate::catalogue) enum Claim {
    /// All of it: it moves the catalogue.
    Whole,
    /// The place of one node.
    Node(NodeClaim),
}

/// What a node says when it takes its place.
#[derive(Debug, Clone)]
pub(in crate::catalogue) struct NodeClaim {
    /// Its id.
    pub(in crate::catalogue) id: NodeId,
    /// What it says of itself.
    pub(in crate::catalogue) config: NodeConfig,
    /// Whether its settings say that segments are where all nodes reach them.
    pub(in crate::catalogue) shared: bool,
    /// Whether its folder says that segments are in an object store.
    pub(in crate::catalogue) has_objects: bool,
    /// Whether its folder has files of a log.
    pub(in crate::catalogue) has_log: bool,
}

/// The session with the locks, and the numbers of this owner.
#[derive(Debug)]
pub(super) struct Ownership {
    session: tokio::sync::Mutex<Option<Client>>,
    /// That of the catalogue.
    epoch: i64,
    node: Option<HeldNode>,
}

/// The place of a node.
#[derive(Debug, Clone, Copy)]
struct HeldNode {
    id: NodeId,
    epoch: i64,
}

impl Ownership {
    /// Takes the catalogue, or the place of a node; waits a moment for a process that has just ended.
    ///
    /// # Errors
    /// [`DatabaseError::Held`] if another process has it, [`DatabaseError::Refused`] if the node cannot join.
    pub(super) async fn take(url: &PostgresUrl, claim: &Claim) -> Result<Ownership> {
        let session = connect(url).await?;
        let node = match claim {
            Claim::Whole => None,
            Claim::Node(node) => Some(node.id),
        };
        let began = Instant::now();
        while let Some(holder) = lock_all(&session, node).await? {
            if began.elapsed() >= PATIENCE {
                return Err(DatabaseError::Held { holder });
            }
            tokio::time::sleep(RETRY).await;
        }
        within(async { Ok(session.batch_execute(BEGIN).await?) }).await?;
        let taken = match claim {
            Claim::Whole => take_whole(&session).await,
            Claim::Node(node) => take_node(&session, node).await,
        };
        let end = if taken.is_ok() { "COMMIT" } else { "ROLLBACK" };
        within(async { Ok(session.batch_execute(end).await?) }).await?;
        let (epoch, node) = taken?;
        Ok(Ownership {
            session: tokio::sync::Mutex::new(Some(session)),
            epoch,
            node,
        })
    }

    /// The node whose place this is.
    pub(super) fn node(&self) -> Option<NodeId> {
        self.node.map(|node| node.id)
    }

    /// How often a process has started as this node.
    pub(super) fn node_epoch(&self) -> Option<i64> {
        self.node.map(|node| node.epoch)
    }

    /// Takes the locks again if their connection was lost. If that fails, the numbers still keep others' changes apart.
    pub(super) async fn keep(&self, url: &PostgresUrl) -> Result<()> {
        let mut session = self.session.lock().await;
        if session.as_ref().is_some_and(|session| !session.is_closed()) {
            return Ok(());
        }
        let again = connect(url).await?;
        if lock_all(&again, self.node()).await?.is_none() {
            *session = Some(again);
        }
        Ok(())
    }

    /// Refuses a transaction that found another owner. `node`: the number of the node and the process that has it.
    pub(super) fn check(
        &self,
        epoch: i64,
        holder: String,
        node: Option<(i64, String)>,
    ) -> Result<()> {
        if epoch != self.epoch {
            return Err(DatabaseError::TakenOver { holder });
        }
        match (self.node, node) {
            (None, _) => Ok(()),
            (Some(held), Some((epoch, _))) if held.epoch == epoch => Ok(()),
            (Some(_), node) => Err(DatabaseError::TakenOver {
                holder: node.map_or(holder, |(_, holder)| holder),
            }),
        }
    }

    /// Reports that the node is alive, and the last sequence of its log. It is no transaction of the catalogue, so caches stay.
    pub(super) async fn beat(&self, url: &PostgresUrl, sequence: i64) -> Result<()> {
        let Some(node) = self.node else { return Ok(()) };
        self.keep(url).await?;
        let beat = sql("UPDATE nodes SET log_sequence = $3, \
             heartbeat = CAST(extract(epoch FROM clock_timestamp()) * 10000000 AS BIGINT) + 621355968000000000 \
             WHERE id = $1 AND epoch = $2");
        let beat = beat.bind(node.id.to_string()).bind(node.epoch);
        self.run(&beat.bind(sequence)).await.map(drop)
    }

    /// Takes the right to merge and expire segments, and notes it; `false` while another node has it. It lasts until it is given up or
    /// the connection ends.
    pub(super) async fn begin_maintenance(&self, url: &PostgresUrl) -> Result<bool> {
        self.keep(url).await?;
        let Some(node) = self.node else {
            return Ok(true);
        };
        let session = self.session.lock().await;
        let Some(session) = session.as_ref() else {
            return Ok(false);
        };
        if !lock(session, LOCK_MAINTENANCE).await? {
            return Ok(false);
        }
        let noted = sql("UPDATE nodes SET \
             maintained = CAST(extract(epoch FROM clock_timestamp()) * 10000000 AS BIGINT) + 621355968000000000 \
             WHERE id = $1");
        let noted = run(session, &noted.bind(node.id.to_string())).await;
        if noted.is_err() {
            // Each turn takes the lock once more: one that is not given up keeps it from the other nodes for as long as the session lasts.
            run(session, &sql(UNLOCK_MAINTENANCE)).await?;
        }
        noted.map(|_| true)
    }

    /// Gives the right of [`Ownership::begin_maintenance`] up.
    pub(super) async fn end_maintenance(&self) -> Result<()> {
        self.run(&sql(UNLOCK_MAINTENANCE)).await.map(drop)
    }

    /// Gives the catalogue up, and notes that the node is stopped: others count it as gone at once.
    pub(super) async fn release(&self) {
        // The session ends with its client.
        let Some(session) = self.session.lock().await.take() else {
            return;
        };
        if let Some(node) = self.node {
            let stopped = sql("UPDATE nodes SET heartbeat = 0 WHERE id = $1 AND epoch = $2");
            let stopped = stopped.bind(node.id.to_string()).bind(node.epoch);
            if let Err(error) = run(&session, &stopped).await {
                tracing::debug!(%error, "the catalogue does not know that this node is stopped");
            }
        }
    }

    async fn run(&self, statement: &Statement) -> Result<u64> {
        match self.session.lock().await.as_ref() {
            Some(session) => Ok(run(session, statement).await?.1),
            None => Ok(0),
        }
    }
}

/// Takes the locks of a node, or that of the whole catalogue; returns the process that has one of them.
async fn lock_all(session: &Client, node: Option<NodeId>) -> Result<Option<String>> {
    let whole = sql("SELECT holder FROM catalogue_state");
    let Some(node) = node else {
        if lock(session, LOCK).await? {
            return Ok(None);
        }
        let of_nodes = sql("SELECT holder FROM nodes ORDER BY heartbeat DESC");
        let holder = text(session, &of_nodes).await?;
        return match holder {
            Some(holder) => Ok(Some(holder)),
            None => Ok(Some(text(session, &whole).await?.unwrap_or_default())),
        };
    };
    if !lock(session, LOCK_SHARED).await? {
        return Ok(Some(text(session, &whole).await?.unwrap_or_default()));
    }
    let own = sql(
        "SELECT CASE WHEN pg_try_advisory_lock(hashtextextended($1, 'catalogue_state'::regclass::oid::int8)) \
                   THEN '' ELSE 'held' END",
    );
    let held = text(session, &own.bind(node.to_string())).await?;
    if held.is_some_and(|held| held.is_empty()) {
        return Ok(None);
    }
    // Another attempt takes both again.
    let unlock =
        "SELECT pg_advisory_unlock_shared(1212763716, 'catalogue_state'::regclass::oid::int4)";
    run(session, &sql(unlock)).await?;
    let holder = sql("SELECT holder FROM nodes WHERE id = $1").bind(node.to_string());
    Ok(Some(text(session, &holder).await?.unwrap_or_default()))
}

async fn lock(session: &Client, lock: &str) -> Result<bool> {
    within(async {
        let row = session.query_typed(lock, &[]).await?;
        Ok(row.first().is_some_and(|row| row.get(0)))
    })
    .await
}

/// The first value of the first row.
async fn text(session: &Client, statement: &Statement) -> Result<Option<String>> {
    let (rows, _) = run(session, statement).await?;
    rows.first().map(|row| row.first()).transpose()
}

async fn number(session: &Client, statement: &Statement) -> Result<i64> {
    let (rows, _) = run(session, statement).await?;
    let number = rows.first().map(|row| row.first()).transpose()?;
    number.ok_or_else(|| {
        DatabaseError::Schema("the table catalogue_state has lost its row".to_owned())
    })
}

type Taken = (i64, Option<HeldNode>);

async fn take_whole(session: &Client) -> Result<Taken> {
    let taken = sql(
        "UPDATE catalogue_state SET epoch = epoch + 1, holder = 'process ' || $1 || \
         coalesce(' at ' || host(inet_client_addr()), ' on the machine of PostgreSQL') \
         WHERE one = 1 RETURNING epoch",
    );
    let epoch = number(session, &taken.bind(std::process::id().to_string())).await?;
    Ok((epoch, None))
}

async fn take_node(session: &Client, claim: &NodeClaim) -> Result<Taken> {
    let id = claim.id.to_string();
    let nodes = number(session, &sql("SELECT count(*) FROM nodes")).await?;
    let known = sql("SELECT count(*) FROM nodes WHERE id = $1").bind(&id);
    let is_known = number(session, &known).await? > 0;
    if !is_known && nodes > 0 {
        refuse_another(session, claim).await?;
    }
    agree_on_segments(session, claim).await?;
    if claim.shared {
        refuse_unreadable(session, claim).await?;
    }
    // The first node takes the place of a server of before there were nodes, whose transactions are refused from now on.
    let first = i64::from(nodes == 0);
    let epoch = sql(
        "UPDATE catalogue_state SET version = version + 1, epoch = epoch + $1 WHERE one = 1 RETURNING epoch",
    );
    let epoch = number(session, &epoch.bind(first)).await?;
    let next = number(
        session,
        &sql("SELECT coalesce(max(number) + 1, 0) FROM nodes"),
    )
    .await?;
    let position = if nodes == 0 {
        number(session, &sql("SELECT sequence FROM log_position")).await?
    } else {
        i64::try_from(first_position(u64::try_from(next).unwrap_or(0))).unwrap_or(i64::MAX)
    };
    let name = if claim.config.name.is_empty() {
        &id
    } else {
        &claim.config.name
    };
    // A node is drained until its log is open: one that never gets so far hinders no query.
    let taken = sql(
        "INSERT INTO nodes (id, number, name, role, address, version, holder, started, heartbeat, maintained, epoch, \
         log_position, log_sequence, drained) \
         SELECT $1, $2, $3, $4, $5, $6, \
         'process ' || $7 || coalesce(' at ' || host(inet_client_addr()), ' on the machine of PostgreSQL'), \
         now.ticks, now.ticks, 0, 1, $8, $8, 1 \
         FROM (SELECT CAST(extract(epoch FROM clock_timestamp()) * 10000000 AS BIGINT) + 621355968000000000 AS ticks) AS now \
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, role = excluded.role, address = excluded.address, \
         version = excluded.version, holder = excluded.holder, started = excluded.started, heartbeat = excluded.heartbeat, \
         epoch = nodes.epoch + 1 RETURNING epoch",
    );
    let taken = taken
        .bind(&id)
        .bind(next)
        .bind(name)
        .bind(claim.config.role.name())
        .bind(&claim.config.address)
        .bind(&claim.config.version)
        .bind(std::process::id().to_string())
        .bind(position);
    let held = HeldNode {
        id: claim.id,
        epoch: number(session, &taken).await?,
    };
    Ok((epoch, Some(held)))
}

/// Refuses a node that the catalogue does not know and that cannot join those that it knows.
async fn refuse_another(session: &Client, claim: &NodeClaim) -> Result<()> {
    let refused = |what: String| Err(DatabaseError::Refused(what));
    let first = sql("SELECT name FROM nodes ORDER BY number");
    let first = text(session, &first).await?.unwrap_or_default();
    if !claim.shared {
        return refused(format!(
            "it belongs to the data folder of the node {first}; another node needs segments in an object store (setting `store.objects`)"
        ));
    }
    if claim.has_log {
        return refused(
            "it does not know the node of the data folder, whose log may hold items that no segment has".to_owned(),
        );
    }
    Ok(())
}

/// Refuses nodes that could not read each other. A node that takes telemetry and has no address runs alone: no other node reports or has
/// items in its log when it starts, and none starts while it may have some. Processes of others that were paused for longer than a node
/// counts as live change nothing any more.
async fn refuse_unreadable(session: &Client, claim: &NodeClaim) -> Result<()> {
    let id = claim.id.to_string();
    if !claim.config.is_alone() {
        let alone = sql(
            "SELECT name FROM nodes WHERE id <> $1 AND drained = 0 AND address = '' AND role IN ('all', 'ingest') ORDER BY number",
        );
        return match text(session, &alone.bind(id)).await? {
            Some(name) => Err(DatabaseError::Refused(format!(
                "the node {name} takes telemetry and has no address at which other nodes read it (setting `node.address`)"
            ))),
            None => Ok(()),
        };
    }
    let other = sql("SELECT name FROM nodes WHERE id <> $1 AND (drained = 0 OR \
         heartbeat > CAST(extract(epoch FROM clock_timestamp()) * 10000000 AS BIGINT) + 621355968000000000 - $2) ORDER BY number");
    let other = other.bind(&id).bind(ticks(NodeRecord::LAPSED));
    if let Some(name) = text(session, &other).await? {
        return Err(DatabaseError::Refused(format!(
            "the node {name} runs or has items in its log; beside it this node needs an address at which others read it (setting `node.address`)"
        )));
    }
    let fence = sql("UPDATE nodes SET epoch = epoch + 1 WHERE id <> $1").bind(&id);
    run(session, &fence).await?;
    Ok(())
}

/// Compares where segments are with what the catalogue says. A catalogue without segments takes either, and so does one with a single node
/// whose folder says that they were moved: the move may have ended before it noted that in the catalogue.
async fn agree_on_segments(session: &Client, claim: &NodeClaim) -> Result<()> {
    let is_shared = number(session, &sql("SELECT shared FROM catalogue_state")).await? > 0;
    if is_shared == claim.shared {
        return Ok(());
    }
    let segments = number(session, &sql("SELECT count(*) FROM segments")).await?;
    let others = sql("SELECT count(*) FROM nodes WHERE id <> $1").bind(claim.id.to_string());
    let was_moved = claim.has_objects == claim.shared;
    if number(session, &others).await? > 0 || (segments > 0 && !was_moved) {
        let place = if is_shared {
            "in an object store (setting `store.objects`)"
        } else {
            "in the data folder of a node; 'hindsight store migrate' moves them to an object store"
        };
        return Err(DatabaseError::Refused(format!("its segments are {place}")));
    }
    let shared = sql("UPDATE catalogue_state SET shared = $1 WHERE one = 1");
    run(session, &shared.bind(claim.shared)).await?;
    Ok(())
}
