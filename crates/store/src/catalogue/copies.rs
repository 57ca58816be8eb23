//! Second copies of logs: which node has that of which other, and what becomes of that of a node that is lost.

use super::Catalogue;
use super::database::{Row, sql};
use super::nodes::node_id;
use super::segments::insert;
use super::usage;
use super::values::{from_sql, to_sql};
use super::{SegmentRecord, database};
use crate::database_error::DatabaseError;
use crate::error::Result;
use crate::node::NodeId;
use crate::usage::Usage;

/// Generations of one process of a node: its number `epoch` is in the bits above.
const GENERATION_BITS: u32 = 24;

/// That a copy ends where its origin does.
const OPEN_END: i64 = i64::MAX;

/// The second copy of a node's log, as the catalogue knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyRecord {
    /// The node whose log it is.
    pub origin: NodeId,
    /// The node that has it.
    pub holder: Option<NodeId>,
    /// It counts the copies of the origin.
    pub generation: u64,
    /// The last record that may have been acknowledged.
    pub(crate) ends: u64,
    /// Whether the origin was given up as lost, and the holder has to seal the copy.
    pub is_lost: bool,
    /// How often a process has started as the origin, or it was given up.
    epoch: i64,
    /// The last record of the origin's log that lies in a segment.
    pub(crate) log_position: u64,
    /// Whether the origin's log holds no items that no segment has.
    pub(crate) drained: bool,
}

/// What became of a node that was forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forgotten {
    /// There is no such node.
    Unknown,
    /// Queries do not wait for it any more.
    Done,
    /// The node with this id has a copy of its log. Queries wait until that node has sealed it.
    Recovering(NodeId),
}

/// The first generation of copies that a process of a node makes.
pub(crate) fn first_generation(epoch: i64) -> u64 {
    from_sql(epoch) << GENERATION_BITS
}

impl Catalogue {
    /// The second copies of logs.
    pub async fn log_copies(&self) -> Result<Vec<CopyRecord>> {
        self.named(async {
            if self.database.postgres().is_none() {
                return Ok(Vec::new());
            }
            let rows = sql(
                "SELECT log_copies.*, nodes.epoch, nodes.log_position, nodes.drained \
                 FROM log_copies JOIN nodes ON nodes.id = log_copies.origin ORDER BY nodes.number",
            )
            .fetch_all(&self.database)
            .await?;
            rows.iter().map(copy).collect()
        })
        .await
    }

    /// Notes the copy of this node's log that counts from now on.
    pub(crate) async fn name_copy(&self, holder: NodeId, generation: u64) -> Result<()> {
        let Some(node) = self.node() else {
            return Ok(());
        };
        self.named(async {
            sql("INSERT INTO log_copies (origin, holder, generation, ends, lost) VALUES ($1, $2, $3, $4, 0) \
                 ON CONFLICT (origin) DO UPDATE SET holder = excluded.holder, generation = excluded.generation, \
                 ends = excluded.ends, lost = 0")
            .bind(node.to_string())
            .bind(holder.to_string())
            .bind(to_sql(generation))
            .bind(OPEN_END)
            .commit_to(&self.database)
            .await?;
            Ok(())
        })
        .await
    }

    /// Notes that records of this node's log after `last` are refused, whether the copy has them or not.
    pub(crate) async fn end_copy(&self, last: u64) -> Result<()> {
        let Some(node) = self.node() else {
            return Ok(());
        };
        self.named(async {
            sql("UPDATE log_copies SET ends = $2 WHERE origin = $1 AND ends > $2")
                .bind(node.to_string())
                .bind(to_sql(last))
                .commit_to(&self.database)
                .await?;
            Ok(())
        })
        .await
    }

    /// Notes that this node's log has no second copy that counts.
    pub(crate) async fn drop_copy(&self) -> Result<()> {
        let Some(node) = self.node() else {
            return Ok(());
        };
        self.named(async {
            sql("UPDATE log_copies SET holder = '', generation = generation + 1, lost = 0 WHERE origin = $1 AND holder <> ''")
                .bind(node.to_string())
                .commit_to(&self.database)
                .await?;
            Ok(())
        })
        .await
    }

    /// Forgets a node, by its id, that will not come back. A process of it that still runs changes nothing any more. Its segments stay, and
    /// so does its place, should it be started again. If another node has a copy of its log, that node seals it, unless `without_copy`; then
    /// queries no longer wait for the lost one.
    pub async fn forget_node(&self, id: &str, without_copy: bool) -> Result<Forgotten> {
        self.named(async {
            let mut transaction = self.database.begin().await?;
            let known = sql("UPDATE nodes SET epoch = epoch + 1 WHERE id = $1").bind(id);
            if known.execute(&mut transaction).await? == 0 {
                return Ok(Forgotten::Unknown);
            }
            if without_copy {
                sql("UPDATE log_copies SET holder = '', generation = generation + 1, lost = 0 WHERE origin = $1")
                    .bind(id)
                    .execute(&mut transaction)
                    .await?;
            }
            let marked: Vec<String> = sql("UPDATE log_copies SET lost = nodes.epoch FROM nodes \
                 WHERE nodes.id = log_copies.origin AND origin = $1 AND log_copies.holder <> '' AND nodes.drained = 0 RETURNING log_copies.holder")
            .bind(id)
            .values(&mut transaction)
            .await?;
            let forgotten = match marked.first() {
                Some(holder) => Forgotten::Recovering(node_id(holder)?),
                None => {
                    sql("UPDATE nodes SET drained = 1 WHERE id = $1")
                        .bind(id)
                        .execute(&mut transaction)
                        .await?;
                    Forgotten::Done
                }
            };
            transaction.commit().await?;
            Ok(forgotten)
        })
        .await
    }

    /// Registers the segments that this node has made of the copy of a lost node's log, which ends with `last`, adds their items to the usage and
    /// advances the position of that log: all or nothing. Fills in the ids. `collections` as for [`Catalogue::register_sealed`].
    ///
    /// # Errors
    /// [`DatabaseError::Superseded`] if the origin has returned, or the copy is not the one that it was; [`DatabaseError::Collected`] as for
    /// [`Catalogue::register_sealed`].
    pub(crate) async fn register_recovered(
        &self,
        copy: &CopyRecord,
        last: u64,
        segments: &mut [SegmentRecord],
        sealed: &Usage,
        collections: i64,
    ) -> Result<()> {
        self.named(async {
            let mut transaction = self.database.begin().await?;
            self.refuse_collected(&mut transaction, collections).await?;
            let origin = copy.origin.to_string();
            let advanced = sql("UPDATE nodes SET log_position = $4, log_sequence = greatest(log_sequence, $4), drained = 1 \
                 WHERE id = $1 AND epoch = $2 AND log_position = $3")
            .bind(&origin)
            .bind(copy.epoch)
            .bind(to_sql(copy.log_position))
            .bind(to_sql(last))
            .execute(&mut transaction)
            .await?;
            let ended = sql("UPDATE log_copies SET holder = '', generation = generation + 1, lost = 0 \
                 WHERE origin = $1 AND lost = $2 AND generation = $3 AND ends = $4")
            .bind(&origin)
            .bind(copy.epoch)
            .bind(to_sql(copy.generation))
            .bind(to_sql(copy.ends))
            .execute(&mut transaction)
            .await?;
            if (advanced, ended) != (1, 1) {
                return Err(DatabaseError::Superseded);
            }
            insert(&mut transaction, segments).await?;
            usage::add(&mut transaction, sealed).await?;
            transaction.changes_segments();
            transaction.commit().await?;
            Ok(())
        })
        .await
    }
}

fn copy(row: &Row) -> database::Result<CopyRecord> {
    let holder: String = row.try_get("holder")?;
    let unsigned = |column: &str| row.try_get::<i64>(column).map(from_sql);
    let (lost, epoch): (i64, i64) = (row.try_get("lost")?, row.try_get("epoch")?);
    Ok(CopyRecord {
        origin: node_id(&row.try_get::<String>("origin")?)?,
        holder: match holder.as_str() {
            "" => None,
            holder => Some(node_id(holder)?),
        },
        generation: unsigned("generation")?,
        ends: unsigned("ends")?,
        is_lost: lost == epoch,
        epoch,
        log_position: unsigned("log_position")?,
        drained: row.try_get::<i64>("drained")? != 0,
    })
}
