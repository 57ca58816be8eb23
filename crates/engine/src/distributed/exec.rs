//! The node of plans that unites the shares of a fragment.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{Partitioning, PhysicalExpr};
use datafusion::physical_plan::metrics::{
    Count, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet,
};
use datafusion::physical_plan::stream::{RecordBatchReceiverStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties,
};
use futures::future::{BoxFuture, Shared, join_all};
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, TryStreamExt};
use hindsight_kql::HeldRows;
use hindsight_store::{NodeRecord, StoreError};
use parking_lot::Mutex;
use tokio::sync::mpsc::Sender;

use super::nodes::{Distribution, FragmentCall, FragmentReply, FragmentRequest};
use super::run::planned;
use crate::scanned::{BYTES_SCANNED, DISTRIBUTED, ROWS_SCANNED};

/// Bytes of a node's rows that are held until all have arrived. If the node fails before, its share runs here.
const HELD_BYTES: usize = 32 << 20;

/// The longest time that the share of this node waits until those of the others are sent. The threads that send them may have to wait for a processor
/// once this node scans, and the other nodes would wait, too.
const WAIT: Duration = Duration::from_millis(5);

/// What a node replies to its share.
type Replies = BoxStream<'static, std::result::Result<FragmentReply, StoreError>>;

/// The share of a node.
#[derive(Debug, Clone)]
pub(super) struct Share {
    node: NodeRecord,
    message: Bytes,
}

impl Share {
    /// The share of `node`, as a message.
    pub(super) fn new(node: NodeRecord, message: Bytes) -> Share {
        Share { node, message }
    }

    /// Sends the share to its node.
    fn call(&self, distribution: &Distribution) -> FragmentCall {
        let request = FragmentRequest {
            message: self.message.clone(),
            principal: Arc::clone(&distribution.principal),
            timeout: distribution.deadline.remaining(),
        };
        distribution.nodes.run(&self.node, request)
    }
}

/// The calls of the other nodes. All of them begin with the first partition that is executed: the threads of a query may be busy with the share of this
/// node until that ends, and the other nodes work meanwhile.
#[derive(Default)]
struct Calls(Mutex<Option<Begun>>);

struct Begun {
    /// The reply streams that no partition consumes yet, in the order of the shares.
    replies: Vec<Option<Replies>>,
    /// Ready when all requests were sent.
    sent: Shared<BoxFuture<'static, ()>>,
}

impl Calls {
    /// Sends all shares, unless that was done before. The future is ready when they were sent, or after [`WAIT`].
    fn begin(
        &self,
        shares: &[Share],
        distribution: &Distribution,
    ) -> impl Future<Output = ()> + use<> {
        let mut calls = self.0.lock();
        let begun = calls.get_or_insert_with(|| {
            let calls = shares.iter().map(|share| share.call(distribution));
            let (replies, sent): (_, Vec<_>) =
                calls.map(|call| (Some(call.replies), call.sent)).unzip();
            let sent = tokio::time::timeout(WAIT, join_all(sent));
            let sent = sent.map(|_| ()).boxed().shared();
            Begun { replies, sent }
        });
        begun.sent.clone()
    }

    /// The reply stream of a share; `None` if it was taken before.
    fn take(&self, number: usize) -> Option<Replies> {
        let mut calls = self.0.lock();
        let replies = &mut calls.as_mut()?.replies;
        replies.get_mut(number).and_then(Option::take)
    }
}

impl fmt::Debug for Calls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Calls").finish_non_exhaustive()
    }
}

/// A fragment over the shares of all nodes. Its partitions are those of the fragment over the own share, and one for each other node. Each of them
/// has the order of the fragment.
#[derive(Debug)]
pub(crate) struct DistributedExec {
    /// The fragment over the own share, and over what is in no segment.
    local: Arc<dyn ExecutionPlan>,
    shares: Vec<Share>,
    distribution: Arc<Distribution>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
    calls: Calls,
}

impl DistributedExec {
    /// `local` and `shares` are parts of `fragment`.
    pub(super) fn new(
        fragment: &Arc<dyn ExecutionPlan>,
        local: Arc<dyn ExecutionPlan>,
        shares: Vec<Share>,
        distribution: Arc<Distribution>,
    ) -> DistributedExec {
        let properties = with_partitions(fragment.properties(), &local, &shares);
        DistributedExec {
            local,
            shares,
            distribution,
            properties,
            metrics: ExecutionPlanMetricsSet::new(),
            calls: Calls::default(),
        }
    }
}

fn with_partitions(
    properties: &PlanProperties,
    local: &Arc<dyn ExecutionPlan>,
    shares: &[Share],
) -> Arc<PlanProperties> {
    let partitions = local.output_partitioning().partition_count() + shares.len();
    let partitioning = Partitioning::UnknownPartitioning(partitions);
    Arc::new(properties.clone().with_partitioning(partitioning))
}

impl DisplayAs for DistributedExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.shares.iter().map(|s| s.node.name.as_str()).collect();
        write!(f, "{DISTRIBUTED}: nodes=[{}]", names.join(", "))
    }
}

impl ExecutionPlan for DistributedExec {
    fn name(&self) -> &'static str {
        DISTRIBUTED
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.local]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Ok([local]) = <[_; 1]>::try_from(children) else {
            return internal_err!("a distributed fragment has one child");
        };
        let properties = with_partitions(&self.properties, &local, &self.shares);
        Ok(Arc::new(DistributedExec {
            local,
            shares: self.shares.clone(),
            distribution: Arc::clone(&self.distribution),
            properties,
            metrics: ExecutionPlanMetricsSet::new(),
            calls: Calls::default(),
        }))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let sent = self.calls.begin(&self.shares, &self.distribution);
        let own = self.local.output_partitioning().partition_count();
        let Some(number) = partition.checked_sub(own) else {
            let local = Arc::clone(&self.local);
            let rows = async move {
                sent.await;
                local.execute(partition, context)
            };
            let rows = futures::stream::once(rows).try_flatten();
            return Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)));
        };
        let Some(share) = self.shares.get(number) else {
            return internal_err!("there is no partition {partition}");
        };
        // A partition that is executed again calls its node again.
        let replies = self.calls.take(number);
        let replies = replies.unwrap_or_else(|| share.call(&self.distribution).replies);
        let mut rows = RecordBatchReceiverStream::builder(self.schema(), 2);
        let reader = ShareReader {
            share: share.clone(),
            schema: self.schema(),
            distribution: Arc::clone(&self.distribution),
            context,
            figures: Figures::new(&self.metrics, partition),
            rows: rows.tx(),
        };
        rows.spawn(reader.read(replies));
        Ok(rows.build())
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

/// The figures of one share, which the profile of a query shows.
struct Figures {
    rows_scanned: Count,
    bytes_scanned: Count,
    /// How often the share ran here, because its node failed.
    failed_over: Count,
}

impl Figures {
    fn new(metrics: &ExecutionPlanMetricsSet, partition: usize) -> Figures {
        let count = |name| MetricBuilder::new(metrics).counter(name, partition);
        Figures {
            rows_scanned: count(ROWS_SCANNED),
            bytes_scanned: count(BYTES_SCANNED),
            failed_over: count("failed_over"),
        }
    }
}

/// How the rows of a node end.
enum Ended {
    /// All have been passed on.
    Whole,
    /// The reader of the rows is gone.
    Unread,
    /// The node failed, and none were passed on.
    Failed(StoreError),
}

/// Reads the share of a node.
struct ShareReader {
    share: Share,
    schema: SchemaRef,
    distribution: Arc<Distribution>,
    context: Arc<TaskContext>,
    figures: Figures,
    rows: Sender<Result<RecordBatch>>,
}

impl ShareReader {
    /// Passes on the rows of the node, or those of its share here if it fails before any were passed on.
    async fn read(self, replies: Replies) -> Result<()> {
        match self.read_node(replies).await? {
            Ended::Whole | Ended::Unread => Ok(()),
            Ended::Failed(error) => {
                tracing::warn!(%error, "a node failed in a distributed query; its share runs here");
                self.figures.failed_over.add(1);
                self.run_here().await
            }
        }
    }

    async fn read_node(&self, mut replies: Replies) -> Result<Ended> {
        let pool = self.context.memory_pool();
        let (mut held, mut bytes) = (Some(HeldRows::new("rows of another node", pool)), 0);
        loop {
            let reply = match replies.next().await {
                Some(Ok(reply)) => reply,
                failed => {
                    let error = match failed {
                        Some(Err(error)) => error,
                        _ => self.failed("has ended its rows before their end"),
                    };
                    return match held {
                        Some(_) => Ok(Ended::Failed(error)),
                        None => Err(external(error)),
                    };
                }
            };
            let batch = match reply {
                FragmentReply::End {
                    rows_scanned,
                    bytes_scanned,
                } => {
                    let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
                    self.figures.rows_scanned.add(count(rows_scanned));
                    self.figures.bytes_scanned.add(count(bytes_scanned));
                    return self.pass_held(held).await;
                }
                FragmentReply::Rows(batch) => match self.checked(batch) {
                    Ok(batch) => batch,
                    Err(error) if held.is_some() => return Ok(Ended::Failed(error)),
                    Err(error) => return Err(external(error)),
                },
            };
            bytes += batch.get_array_memory_size();
            let holds = bytes <= HELD_BYTES
                && held
                    .as_mut()
                    .is_some_and(|held| held.push(batch.clone()).is_ok());
            if holds {
                continue;
            }
            if let Ended::Unread = self.pass_held(held.take()).await? {
                return Ok(Ended::Unread);
            }
            if self.rows.send(Ok(batch)).await.is_err() {
                return Ok(Ended::Unread);
            }
        }
    }

    async fn pass_held(&self, held: Option<HeldRows>) -> Result<Ended> {
        for batch in held.map(HeldRows::take).into_iter().flatten() {
            if self.rows.send(Ok(batch)).await.is_err() {
                return Ok(Ended::Unread);
            }
        }
        Ok(Ended::Whole)
    }

    /// The rows under the schema of the fragment, if they have its columns.
    fn checked(&self, batch: RecordBatch) -> std::result::Result<RecordBatch, StoreError> {
        let types = |schema: &SchemaRef| {
            let fields = schema.fields().iter();
            fields
                .map(|field| field.data_type().clone())
                .collect::<Vec<_>>()
        };
        if types(&batch.schema()) != types(&self.schema) {
            return Err(self.failed("has sent other columns than were requested"));
        }
        let batch = batch.with_schema(Arc::clone(&self.schema));
        batch.map_err(|error| self.failed(&error.to_string()))
    }

    async fn run_here(&self) -> Result<()> {
        let Distribution { codec, rules, .. } = self.distribution.as_ref();
        let plan = planned(&self.share.message, codec, rules, &self.context)?;
        let mut rows = plan.execute(0, Arc::clone(&self.context))?;
        while let Some(batch) = rows.next().await {
            if self.rows.send(batch).await.is_err() {
                break;
            }
        }
        Ok(())
    }

    fn failed(&self, what: &str) -> StoreError {
        StoreError::Node {
            name: self.share.node.name.clone(),
            what: what.to_owned(),
        }
    }
}

fn external(error: StoreError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::Schema;
    use datafusion::physical_plan::empty::EmptyExec;
    use futures::{future, stream};
    use hindsight_kql::codec::PlanCodec;
    use hindsight_store::NodeId;
    use tokio::sync::oneshot;

    use super::super::nodes::QueryNodes;
    use super::super::testing::node;
    use super::*;
    use crate::deadline::Deadline;

    /// A node that replies to nothing, and whose request is sent when the test says so.
    #[derive(Debug)]
    struct Slow(Mutex<Option<oneshot::Receiver<()>>>);

    impl QueryNodes for Slow {
        fn own(&self) -> Option<NodeId> {
            Some(node(0).id)
        }

        fn others(&self) -> Vec<NodeRecord> {
            vec![node(1)]
        }

        fn run(&self, _: &NodeRecord, _: FragmentRequest) -> FragmentCall {
            let sent = match self.0.lock().take() {
                Some(sent) => sent.map(|_| ()).boxed(),
                None => future::pending().boxed(),
            };
            FragmentCall {
                replies: stream::pending().boxed(),
                sent,
            }
        }
    }

    /// The rows of the own share, which has none, beside a share whose request is sent when `sent` is ready; never without it.
    fn own_share(sent: Option<oneshot::Receiver<()>>) -> SendableRecordBatchStream {
        let nodes = Arc::new(Slow(Mutex::new(sent))) as Arc<dyn QueryNodes>;
        let of = (
            &Arc::from("a principal"),
            Deadline::after(Duration::from_secs(60)),
        );
        let codec = Arc::new(PlanCodec::default());
        let distribution = Distribution::over(&nodes, (0, 1), &codec, &[], of).unwrap();
        let local: Arc<dyn ExecutionPlan> = Arc::new(EmptyExec::new(Arc::new(Schema::empty())));
        let shares = vec![Share::new(node(1), Bytes::new())];
        let exec = DistributedExec::new(&local, Arc::clone(&local), shares, distribution);
        exec.execute(0, Arc::default()).unwrap()
    }

    #[tokio::test]
    async fn the_own_share_begins_when_the_others_are_sent() {
        let (send, sent) = oneshot::channel();
        let mut rows = own_share(Some(sent));
        assert!(rows.next().now_or_never().is_none());
        send.send(()).unwrap();
        // Ready at once, not when a timer of the runtime says so.
        assert!(matches!(rows.next().now_or_never(), Some(None)));
    }

    #[tokio::test]
    async fn the_own_share_does_not_wait_for_a_node_that_cannot_be_reached() {
        let mut rows = own_share(None);
        let ended = tokio::time::timeout(Duration::from_secs(10), rows.next()).await;
        assert!(ended.is_ok_and(|rows| rows.is_none()));
    }
}
