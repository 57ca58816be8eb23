//! Runs a fragment: at another node, or at the node of the query if that one failed.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::execution::TaskContext;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use futures::StreamExt;
use hindsight_kql::codec::PlanCodec;

use crate::result::{Statistics, Summary};
use crate::scanned::scanned;
use crate::stream::{Part, ResultSender};

/// The plan of a fragment's message, with one partition.
///
/// # Errors
/// The message is none of this version of the program, or it names what this node does not have.
pub(super) fn planned(
    message: &[u8],
    codec: &PlanCodec,
    rules: &[Arc<dyn PhysicalOptimizerRule + Send + Sync>],
    context: &TaskContext,
) -> Result<Arc<dyn ExecutionPlan>> {
    let plan = codec.decode_plan(message, context)?;
    let mut plan = merged(plan);
    for rule in rules {
        plan = rule.optimize(plan, context.session_config().options())?;
    }
    Ok(plan)
}

/// `plan` with one partition and the order of its partitions.
fn merged(plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    if plan.output_partitioning().partition_count() == 1 {
        return plan;
    }
    match plan.output_ordering() {
        Some(order) => {
            let fetch = plan.fetch();
            Arc::new(SortPreservingMergeExec::new(order.clone(), plan).with_fetch(fetch))
        }
        None => Arc::new(CoalescePartitionsExec::new(plan)),
    }
}

/// Runs a fragment and sends its rows.
///
/// # Errors
/// As the operators of the fragment.
pub(crate) async fn run(
    message: &[u8],
    codec: &PlanCodec,
    rules: &[Arc<dyn PhysicalOptimizerRule + Send + Sync>],
    context: Arc<TaskContext>,
    sender: &ResultSender,
) -> Result<()> {
    let plan = planned(message, codec, rules, &context)?;
    let mut rows = plan.execute(0, context)?;
    if !sender.started(None, Summary::default()).await {
        return Ok(());
    }
    // The last rows are sent when their end is known, so that one message has both: each wakes threads of two nodes.
    let mut held = None;
    while let Some(batch) = rows.next().await {
        if let Some(before) = held.replace(batch?)
            && !sender.send(Part::Rows(before), Summary::default()).await
        {
            return Ok(());
        }
    }
    let mut statistics = Statistics::default();
    scanned(plan.as_ref(), &mut statistics);
    if let Some(last) = held
        && !sender.send(Part::Rows(last), Summary::default()).await
    {
        return Ok(());
    }
    sender.finish(Summary {
        statistics,
        ..Summary::default()
    });
    Ok(())
}
