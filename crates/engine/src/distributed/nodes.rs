//! The nodes that run queries together.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use hindsight_kql::codec::PlanCodec;
use hindsight_store::{NodeId, NodeRecord, StoreError};

use crate::deadline::Deadline;

/// A fragment of a query's plan for another node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FragmentRequest {
    /// The plan. A node reads messages of its own version alone.
    pub message: Bytes,
    /// The principal that runs the query.
    pub principal: Arc<str>,
    /// How long the fragment may run.
    pub timeout: Duration,
}

/// What a node replies to a fragment, part by part.
#[derive(Debug, Clone)]
pub enum FragmentReply {
    /// Rows of its output.
    Rows(RecordBatch),
    /// It has returned all rows. This is the last part.
    End {
        /// Rows that its scans read.
        rows_scanned: u64,
        /// Bytes that its scans read.
        bytes_scanned: u64,
    },
}

/// A fragment that was requested of a node.
pub struct FragmentCall {
    /// What the node replies. Dropping the stream cancels the fragment. A stream without a [`FragmentReply::End`] is not whole.
    pub replies: BoxStream<'static, Result<FragmentReply, StoreError>>,
    /// Ready when the request was sent, or will not be.
    pub sent: BoxFuture<'static, ()>,
}

/// The nodes that share the segments of this one.
pub trait QueryNodes: Debug + Send + Sync {
    /// This node; `None` if no others can exist.
    fn own(&self) -> Option<NodeId>;

    /// The other nodes that run queries now and have this version of the program.
    fn others(&self) -> Vec<NodeRecord>;

    /// Runs a fragment at a node.
    fn run(&self, node: &NodeRecord, request: FragmentRequest) -> FragmentCall;
}

/// What the plan of one query needs to be distributed.
#[derive(Debug)]
pub(crate) struct Distribution {
    pub(super) nodes: Arc<dyn QueryNodes>,
    pub(super) own: NodeId,
    pub(super) others: Vec<NodeRecord>,
    /// As [`crate::EngineConfig::distribute_bytes`].
    pub(super) least_bytes: u64,
    /// The most partitions of a scan at a node. The nodes of a cluster are taken to have as many processors as this one.
    pub(super) partitions: usize,
    pub(super) codec: Arc<PlanCodec>,
    /// The rules that a fragment is optimised with where it runs.
    pub(super) rules: Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>>,
    pub(super) principal: Arc<str>,
    pub(super) deadline: Deadline,
}

impl Distribution {
    /// The distribution of a query over the nodes of this moment; `None` if there is no other node.
    pub(crate) fn over(
        nodes: &Arc<dyn QueryNodes>,
        (least_bytes, partitions): (u64, usize),
        codec: &Arc<PlanCodec>,
        rules: &[Arc<dyn PhysicalOptimizerRule + Send + Sync>],
        (principal, deadline): (&Arc<str>, Deadline),
    ) -> Option<Arc<Distribution>> {
        let own = nodes.own()?;
        let others = nodes.others();
        if others.is_empty() {
            return None;
        }
        Some(Arc::new(Distribution {
            nodes: Arc::clone(nodes),
            own,
            others,
            least_bytes,
            partitions,
            codec: Arc::clone(codec),
            rules: rules.to_vec(),
            principal: Arc::clone(principal),
            deadline,
        }))
    }
}
