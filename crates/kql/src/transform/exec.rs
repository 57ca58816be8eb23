//! The physical node around a [`Transform`].

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{
    Distribution, EquivalenceProperties, OrderingRequirements, Partitioning,
};
use datafusion::physical_plan::coop::make_cooperative;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PhysicalExpr,
    PlanProperties,
};
use futures::{StreamExt, TryStreamExt, stream};

use super::only_input::only_input;
use super::{Reads, Transform, TransformState};
use crate::work::CancellationToken;

/// Runs a transform over each partition of its input, or over all of its input as one ordered stream.
#[derive(Debug)]
pub(crate) struct TransformExec {
    transform: Arc<dyn Transform>,
    input: Arc<dyn ExecutionPlan>,
    schema: SchemaRef,
    /// The order of the input when the plan was created. The optimiser removes sorts and adds the required ones, so the
    /// requirement must be stored independently of the sort.
    ordering: Option<OrderingRequirements>,
    properties: Arc<PlanProperties>,
}

impl TransformExec {
    pub(crate) fn new(
        transform: Arc<dyn Transform>,
        input: Arc<dyn ExecutionPlan>,
        schema: SchemaRef,
    ) -> TransformExec {
        let partitions = match transform.reads() {
            Reads::Partitions => input.output_partitioning().partition_count(),
            Reads::OneStream => 1,
        };
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&schema)),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        ));
        TransformExec {
            ordering: match transform.reads() {
                Reads::Partitions => None,
                Reads::OneStream => input
                    .output_ordering()
                    .cloned()
                    .map(OrderingRequirements::from),
            },
            transform,
            input,
            schema,
            properties,
        }
    }

    /// The transform.
    pub(crate) fn transform(&self) -> &dyn Transform {
        self.transform.as_ref()
    }

    /// The cardinality estimate of the output, if the input has an estimated `input_rows` rows.
    pub(crate) fn estimated_rows(&self, input_rows: usize) -> usize {
        self.transform.estimated_rows(&self.input, input_rows)
    }
}

impl DisplayAs for TransformExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.transform)
    }
}

impl ExecutionPlan for TransformExec {
    fn name(&self) -> &'static str {
        "TransformExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn required_input_distribution(&self) -> Vec<Distribution> {
        match self.transform.reads() {
            Reads::Partitions => vec![Distribution::UnspecifiedDistribution],
            Reads::OneStream => vec![Distribution::SinglePartition],
        }
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![self.ordering.clone()]
    }

    /// Not declared, because the optimiser would push sorts by columns that only the output has below this node.
    fn maintains_input_order(&self) -> Vec<bool> {
        vec![false]
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
        let input = only_input(children, self.name())?;
        let new = TransformExec::new(Arc::clone(&self.transform), input, Arc::clone(&self.schema));
        Ok(Arc::new(TransformExec {
            ordering: self.ordering.clone(),
            ..new
        }))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let input = self.input.execute(partition, Arc::clone(&context))?;
        let state = self.transform.start(&self.input.schema(), &self.schema)?;
        let run = Run {
            input,
            state,
            ended: false,
            cancellation: CancellationToken::current(),
            reservation: MemoryConsumer::new(self.transform.name()).register(context.memory_pool()),
        };
        let batches = stream::try_unfold(run, |mut run| async move {
            Ok(run.next().await?.map(|batch| (batch, run)))
        });
        // One row of input may produce any number of batches. The task yields at each, so that it observes a time-out or a
        // dropped request.
        Ok(make_cooperative(Box::pin(RecordBatchStreamAdapter::new(
            Arc::clone(&self.schema),
            batches.into_stream().boxed(),
        ))))
    }
}

struct Run {
    input: SendableRecordBatchStream,
    state: Box<dyn TransformState>,
    ended: bool,
    cancellation: CancellationToken,
    reservation: MemoryReservation,
}

impl Run {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            self.cancellation.check()?;
            if let Some(batch) = self.state.pop()? {
                if batch.num_rows() > 0 {
                    return Ok(Some(batch));
                }
                continue;
            }
            if self.ended {
                return Ok(None);
            }
            let next = if self.state.done() {
                None
            } else {
                self.input.next().await.transpose()?
            };
            match next {
                Some(batch) => self.state.push(batch)?,
                None => {
                    self.ended = true;
                    self.state.finish()?;
                }
            }
            self.reservation.try_resize(self.state.memory())?;
        }
    }
}
