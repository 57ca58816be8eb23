//! What a node reads of the memtables of other nodes: the interface to them, and their rows as partitions of a scan.
//!
//! A query opens a lease at each other node that may hold rows which no segment has. The lease pins the node's memtable as it is at that
//! moment; with the catalogue's position of the node's log it says which rows of the node the query reads, each once.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use bytes::Bytes;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use datafusion::physical_plan::{ExecutionPlan, SendableRecordBatchStream};
use futures::StreamExt;
use futures::stream::BoxStream;
use uuid::Uuid;

use crate::app_id::AppId;
use crate::error::StoreError;
use crate::node::{NodeId, NodeRecord};
use crate::schema::Table;
use crate::timed_rows::TimedRowsExec;

/// What the memtable of a node holds of an application's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HotTable {
    /// The application.
    pub app: AppId,
    /// The table.
    pub table: Table,
    /// Its rows.
    pub rows: u64,
    /// The smallest timestamp, in ticks.
    pub min_ts: i64,
    /// The largest timestamp, in ticks.
    pub max_ts: i64,
}

/// The reply of a node to a query that wants to read its memtable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HotReply {
    /// The memtable is pinned.
    Open {
        /// The name of the lease.
        lease: Uuid,
        /// Its tables.
        tables: Vec<HotTable>,
    },
    /// The memtable has no rows, so nothing is pinned.
    Empty,
    /// Some rows after the position that the query knows lie in segments: it has to read the catalogue again.
    Gone,
    /// The node has not yet seen that the catalogue lists a seal of its own, or has not read a copy yet.
    Behind,
}

/// Rows of a pinned memtable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HotRequest {
    /// The lease.
    pub lease: Uuid,
    /// The application.
    pub app: AppId,
    /// The table.
    pub table: Table,
    /// The columns, in order, by their names in stored rows.
    pub columns: Vec<String>,
    /// The smallest timestamp that is needed, in ticks. Rows with others may be returned too.
    pub from: i64,
    /// The largest one.
    pub to: i64,
}

/// Records of a node's log for the copy that another node has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyRequest {
    /// The node whose log it is.
    pub origin: NodeId,
    /// The copy: they are counted.
    pub generation: u64,
    /// The sequence of the first record. An empty request begins the copy with it.
    pub first: u64,
    /// The records, in the form of the log.
    pub records: Bytes,
}

/// The copy of a node's log that a query wants to read, because the node does not reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyLease {
    /// The node whose log it is.
    pub origin: NodeId,
    /// The copy: they are counted.
    pub generation: u64,
    /// The last record that lies in a segment, in the catalogue that the query reads.
    pub position: u64,
    /// The last record that may have been acknowledged.
    pub ends: u64,
}

/// Reaches other nodes.
#[async_trait]
pub trait NodeClient: Debug + Send + Sync {
    /// Pins the memtable of a node for a query that knows the catalogue with the position `sealed` of the node's log. The node releases it
    /// after `lifetime`, if it is not released before.
    ///
    /// # Errors
    /// [`StoreError::Node`] if the node cannot be reached or refuses.
    async fn open(
        &self,
        node: &NodeRecord,
        sealed: u64,
        lifetime: Duration,
    ) -> crate::Result<HotReply>;

    /// Reads rows of a pinned memtable. Dropping the stream cancels the reading.
    fn read(
        &self,
        node: &NodeRecord,
        request: HotRequest,
    ) -> BoxStream<'static, crate::Result<RecordBatch>>;

    /// Releases a pinned memtable, in the background.
    fn close(&self, node: &NodeRecord, lease: Uuid);

    /// Begins or extends the copy of this node's log at another node. Returns the last sequence of the copy, which is durable.
    ///
    /// # Errors
    /// [`StoreError::Node`] if the node cannot be reached or refuses. The copy may have the records all the same.
    async fn copy(&self, node: &NodeRecord, request: CopyRequest) -> crate::Result<u64>;

    /// Pins the copy of another node's log at this node, its holder, as [`NodeClient::open`] pins a memtable. The reply is
    /// [`HotReply::Gone`] if the holder knows of a later moment of the catalogue, and [`HotReply::Behind`] while it still reads the copy.
    ///
    /// # Errors
    /// [`StoreError::Node`] if the holder cannot be reached, or cannot read the copy.
    async fn open_copy(
        &self,
        node: &NodeRecord,
        lease: CopyLease,
        lifetime: Duration,
    ) -> crate::Result<HotReply>;
}

/// The pinned memtable of another node. It is released with the last reference.
#[derive(Debug)]
pub(crate) struct Peer {
    client: Arc<dyn NodeClient>,
    node: NodeRecord,
    lease: Uuid,
    tables: Vec<HotTable>,
}

impl Peer {
    pub(crate) fn new(
        client: Arc<dyn NodeClient>,
        node: NodeRecord,
        lease: Uuid,
        tables: Vec<HotTable>,
    ) -> Peer {
        Peer {
            client,
            node,
            lease,
            tables,
        }
    }

    /// What it holds of a table of these applications.
    pub(crate) fn rows_of(self: &Arc<Self>, apps: &[AppId], table: Table) -> Vec<PeerRows> {
        let own = |held: &&HotTable| held.table == table && apps.contains(&held.app);
        let rows = self.tables.iter().filter(own).map(|held| PeerRows {
            peer: self.clone(),
            held: *held,
        });
        rows.collect()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.client.close(&self.node, self.lease);
    }
}

/// Rows of one application's table in the memtable of another node.
#[derive(Debug, Clone)]
pub(crate) struct PeerRows {
    peer: Arc<Peer>,
    held: HotTable,
}

impl PeerRows {
    /// Whether any of them may lie in the range, ends included.
    pub(crate) fn overlaps(&self, from: i64, to: i64) -> bool {
        self.held.min_ts <= to && self.held.max_ts >= from
    }
}

/// A plan that reads rows of other nodes; each application's table at a node is a partition. `schema` has the columns that are read.
pub(crate) fn plan(
    rows: Vec<PeerRows>,
    schema: &SchemaRef,
    (from, to): (i64, i64),
    limit: Option<usize>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let times = rows.iter().map(|rows| (rows.held.min_ts, rows.held.max_ts));
    let times = times.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let partition = |rows: PeerRows| -> Arc<dyn PartitionStream> {
        Arc::new(PeerPartition {
            rows,
            schema: schema.clone(),
            from,
            to,
        })
    };
    let partitions = rows.into_iter().map(partition).collect();
    let plan = StreamingTableExec::try_new(schema.clone(), partitions, None, [], false, limit)?;
    Ok(match times {
        Some(times) => Arc::new(TimedRowsExec::new(Arc::new(plan), times)),
        None => Arc::new(plan),
    })
}

#[derive(Debug)]
struct PeerPartition {
    rows: PeerRows,
    schema: SchemaRef,
    from: i64,
    to: i64,
}

impl PartitionStream for PeerPartition {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let PeerRows { peer, held } = &self.rows;
        let fields = self.schema.fields().iter();
        let request = HotRequest {
            lease: peer.lease,
            app: held.app,
            table: held.table,
            columns: fields.map(|field| field.name().clone()).collect(),
            from: self.from,
            to: self.to,
        };
        let (schema, name) = (self.schema.clone(), peer.node.name.clone());
        let rows = peer.client.read(&peer.node, request);
        // The lease lives as long as the rows are read.
        let lease = peer.clone();
        let rows = rows.map(move |batch| {
            let _lease = &lease;
            let batch = batch.map_err(|error| DataFusionError::External(Box::new(error)))?;
            if batch.schema().fields() != schema.fields() {
                let error = StoreError::Node {
                    name: name.clone(),
                    what: "has sent other columns than were requested".to_owned(),
                };
                return Err(DataFusionError::External(Box::new(error)));
            }
            Ok(batch.with_schema(schema.clone())?)
        });
        Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), rows))
    }
}
