//! The nodes that share a catalogue in PostgreSQL, and what one of them follows of what the others change.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::Catalogue;
use super::applications::app_id;
use super::database::{self, PostgresDatabase, PostgresRead, Row, Transaction, sql};
use super::segments::{SegmentRecord, segment};
use super::values::{from_sql, to_sql, unreadable};
use crate::app_id::AppId;
use crate::database_error::DatabaseError;
use crate::error::Result;
use crate::node::{CopyPlace, NodeId, NodeRecord, NodeRole};

/// Ticks of 100 ns in nanoseconds.
const TICK: u64 = 100;

/// How often unlisted objects were collected.
const COLLECTIONS: &str = "SELECT collections FROM catalogue_state";

/// All nodes with the copies of their logs, and the clock of PostgreSQL.
const NODES: &str = "SELECT nodes.*, CAST(extract(epoch FROM clock_timestamp()) * 10000000 AS BIGINT) + 621355968000000000 AS now, \
     coalesce(log_copies.holder, '') AS copy_holder, coalesce(log_copies.generation, 0) AS copy_generation, coalesce(log_copies.ends, 0) AS copy_ends \
     FROM nodes LEFT JOIN log_copies ON log_copies.origin = nodes.id ORDER BY nodes.number";

/// The catalogue at one moment, as far as it differs from what a node knows.
#[derive(Debug)]
pub(crate) struct Followed {
    /// The number of the transaction that changed the list of segments last.
    pub(crate) segments: i64,
    /// Segments that are no data any more.
    pub(crate) gone: Vec<i64>,
    /// Segments that the node does not know.
    pub(crate) new: Vec<SegmentRecord>,
    /// Why segments cannot be read, by their ids.
    pub(crate) damage: BTreeMap<i64, String>,
    /// The nodes, this one among them.
    pub(crate) nodes: Vec<NodeRecord>,
    /// Applications that were deleted.
    pub(crate) deleted: Vec<AppId>,
}

impl Catalogue {
    /// The node that this process is; `None` for other processes, and for a catalogue in the data folder.
    pub fn node(&self) -> Option<NodeId> {
        self.database.postgres().and_then(PostgresDatabase::node)
    }

    /// How often a process has started as the node that this one is.
    pub(crate) fn node_epoch(&self) -> Option<i64> {
        self.database
            .postgres()
            .and_then(PostgresDatabase::node_epoch)
    }

    /// The nodes of a catalogue in PostgreSQL, in the order in which they joined. One in the data folder has none.
    pub async fn nodes(&self) -> Result<Vec<NodeRecord>> {
        self.named(async {
            if self.database.postgres().is_none() {
                return Ok(Vec::new());
            }
            let rows = sql(NODES).fetch_all(&self.database).await?;
            rows.iter().map(node).collect()
        })
        .await
    }

    /// Whether the catalogue is that of one data folder.
    pub(crate) async fn has_one_folder(&self) -> Result<bool> {
        self.named(async {
            if self.database.postgres().is_none() {
                return Ok(true);
            }
            let nodes: i64 = sql("SELECT count(*) FROM nodes")
                .value(&self.database)
                .await?;
            Ok(nodes <= 1)
        })
        .await
    }

    /// Notes whether segments are where all nodes reach them; returns `false` and changes nothing if the catalogue has several nodes.
    /// A catalogue in the data folder has one.
    pub(crate) async fn set_shared(&self, shared: bool) -> Result<bool> {
        self.named(async {
            if self.database.postgres().is_none() {
                return Ok(true);
            }
            let set = sql(
                "UPDATE catalogue_state SET shared = $1 WHERE (SELECT count(*) FROM nodes) <= 1",
            );
            let set = set.bind(shared).commit_to(&self.database).await?;
            Ok(set > 0)
        })
        .await
    }

    /// Reports that this node is alive, and the last sequence of its log.
    pub(crate) async fn beat(&self, sequence: u64) -> Result<()> {
        self.named(async {
            match self.database.postgres() {
                Some(postgres) => Box::pin(postgres.beat(to_sql(sequence))).await,
                None => Ok(()),
            }
        })
        .await
    }

    /// Notes whether the log of this node holds items that no segment has, or takes some. Returns whether the catalogue said otherwise.
    pub(crate) async fn set_drained(&self, drained: bool) -> Result<bool> {
        let Some(node) = self.node() else {
            return Ok(false);
        };
        self.named(async {
            let changed = sql("UPDATE nodes SET drained = $2 WHERE id = $1 AND drained <> $2")
                .bind(node.to_string())
                .bind(drained)
                .commit_to(&self.database)
                .await?;
            Ok(changed > 0)
        })
        .await
    }

    /// Takes the right to merge and expire segments; `false` while another node has it. A catalogue in the data folder has one process.
    pub(crate) async fn begin_maintenance(&self) -> Result<bool> {
        self.named(async {
            match self.database.postgres() {
                Some(postgres) => Box::pin(postgres.begin_maintenance()).await,
                None => Ok(true),
            }
        })
        .await
    }

    /// Gives the right of [`Catalogue::begin_maintenance`] up.
    pub(crate) async fn end_maintenance(&self) -> Result<()> {
        self.named(async {
            match self.database.postgres() {
                Some(postgres) => Box::pin(postgres.end_maintenance()).await,
                None => Ok(()),
            }
        })
        .await
    }

    /// How often unlisted objects were collected ([`Catalogue::begin_collection`]). A seal or a merge reads it before it uploads.
    pub(crate) async fn collections(&self) -> Result<i64> {
        self.named(async {
            match self.database.postgres() {
                Some(_) => sql(COLLECTIONS).value(&self.database).await,
                None => Ok(0),
            }
        })
        .await
    }

    /// Begins to delete objects that were listed before this call and that the catalogue does not list after it. From now on it refuses
    /// segments whose upload began before: a seal or a merge that is between its upload and its commit uploads again.
    pub(crate) async fn begin_collection(&self) -> Result<()> {
        self.named(async {
            if self.database.postgres().is_some() {
                sql("UPDATE catalogue_state SET collections = collections + 1 WHERE one = 1")
                    .commit_to(&self.database)
                    .await?;
            }
            Ok(())
        })
        .await
    }

    /// Refuses to list segments if unlisted objects have been collected since their upload began: theirs may be among them.
    pub(super) async fn refuse_collected(
        &self,
        transaction: &mut Transaction,
        collections: i64,
    ) -> database::Result<()> {
        if self.database.postgres().is_none() {
            return Ok(());
        }
        let now: i64 = sql(COLLECTIONS).value(&mut *transaction).await?;
        if now == collections {
            return Ok(());
        }
        Err(DatabaseError::Collected)
    }

    /// What differs from the segments with the ids `known`, which are as of the transaction `seen`; all of one moment.
    pub(crate) async fn follow(&self, known: &BTreeSet<i64>, seen: i64) -> Result<Followed> {
        self.named(async {
            let read = self.database.begin_read().await?;
            let followed = Followed::read(&read, known, seen).await?;
            Box::pin(read.end()).await?;
            Ok(followed)
        })
        .await
    }

    /// Segments of applications that were deleted: an application may be deleted while another node seals its items.
    pub(crate) async fn segments_of_deleted_apps(&self) -> Result<Vec<SegmentRecord>> {
        self.named(async {
            let rows = sql("SELECT * FROM segments WHERE app_id IN (SELECT id FROM applications WHERE deleted IS NOT NULL)")
                .fetch_all(&self.database)
                .await?;
            rows.iter().map(segment).collect()
        })
        .await
    }
}

impl Followed {
    async fn read(
        read: &PostgresRead,
        known: &BTreeSet<i64>,
        seen: i64,
    ) -> database::Result<Followed> {
        let segments = sql("SELECT segments FROM catalogue_state")
            .value(read)
            .await?;
        let deleted: Vec<String> = sql("SELECT id FROM applications WHERE deleted IS NOT NULL")
            .values(read)
            .await?;
        let nodes = sql(NODES).fetch_all(read).await?;
        let mut followed = Followed {
            segments,
            gone: Vec::new(),
            new: Vec::new(),
            damage: BTreeMap::new(),
            nodes: nodes.iter().map(node).collect::<database::Result<_>>()?,
            deleted: deleted
                .iter()
                .map(|id| app_id(id))
                .collect::<database::Result<_>>()?,
        };
        if segments != seen {
            followed.read_segments(read, known).await?;
        }
        Ok(followed)
    }

    async fn read_segments(
        &mut self,
        read: &PostgresRead,
        known: &BTreeSet<i64>,
    ) -> database::Result<()> {
        let listed: Vec<i64> = sql("SELECT id FROM segments WHERE expired IS NULL")
            .values(read)
            .await?;
        let listed: BTreeSet<i64> = listed.into_iter().collect();
        self.gone = known.difference(&listed).copied().collect();
        // Ids grow, so those that are not known are the last ones, but for segments that an operator has brought back.
        if let Some(first) = listed.difference(known).next() {
            let rows = sql("SELECT * FROM segments WHERE id >= $1 AND expired IS NULL ORDER BY id")
                .bind(first)
                .fetch_all(read)
                .await?;
            for row in &rows {
                let record = segment(row)?;
                if !known.contains(&record.id) {
                    self.new.push(record);
                }
            }
        }
        let damaged =
            sql("SELECT id, damage FROM segments WHERE damage IS NOT NULL AND expired IS NULL");
        for row in &damaged.fetch_all(read).await? {
            self.damage
                .insert(row.try_get("id")?, row.try_get("damage")?);
        }
        Ok(())
    }
}

fn node(row: &Row) -> database::Result<NodeRecord> {
    let text = |column: &str| row.try_get::<String>(column);
    let unsigned = |column: &str| row.try_get::<i64>(column).map(from_sql);
    let (id, role) = (text("id")?, text("role")?);
    let heartbeat: i64 = row.try_get("heartbeat")?;
    let now: i64 = row.try_get("now")?;
    let silent_for = match heartbeat {
        0 => Duration::MAX,
        heartbeat => Duration::from_nanos(from_sql(now - heartbeat).saturating_mul(TICK)),
    };
    let holder = text("copy_holder")?;
    let copy = match holder.as_str() {
        "" => None,
        holder => Some(CopyPlace {
            holder: node_id(holder)?,
            generation: unsigned("copy_generation")?,
            ends: unsigned("copy_ends")?,
        }),
    };
    Ok(NodeRecord {
        id: node_id(&id)?,
        number: unsigned("number")?,
        name: text("name")?,
        role: NodeRole::parse(&role)
            .ok_or_else(|| unreadable(format!("there is no role '{role}'")))?,
        address: text("address")?,
        version: text("version")?,
        started: row.try_get("started")?,
        heartbeat,
        silent_for,
        maintained: row.try_get("maintained")?,
        log_position: unsigned("log_position")?,
        log_sequence: unsigned("log_sequence")?,
        drained: row.try_get::<i64>("drained")? != 0,
        copy,
    })
}

/// The id of a node, from its text.
pub(super) fn node_id(text: &str) -> database::Result<NodeId> {
    text.parse()
        .map_err(|_| unreadable(format!("'{text}' is no id of a node")))
}
