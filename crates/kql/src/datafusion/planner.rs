//! Plans the extension nodes of this crate.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::Result;
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};

use super::corrections::large_literal as large;
use super::corrections::lost_order;
use super::hidden::{self, Unassumed};
use super::mark::{Mark, Marked};
use super::whole_leaf::WholeLeaf;
use super::{cancellation, corrections::self_equality};
use crate::transform::{InOrder, TransformExec, TransformNode, only_input};
use crate::work::CancellationToken;

/// The query planner of a session that runs KQL plans.
#[derive(Debug, Default)]
pub struct KqlQueryPlanner;

#[async_trait]
impl QueryPlanner for KqlQueryPlanner {
    async fn create_physical_plan(
        &self,
        plan: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = self_equality::as_conditions(large::in_plan(plan.clone())?)?;
        let plan = hidden::in_plan(lost_order::in_plan(plan)?)?;
        let plan = cancellation::with_stop_points(plan)?;
        DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(TransformPlanner)])
            .create_physical_plan(&plan, session)
            .await
    }
}

struct TransformPlanner;

#[async_trait]
impl ExtensionPlanner for TransformPlanner {
    async fn plan_extension(
        &self,
        _: &dyn PhysicalPlanner,
        node: &dyn UserDefinedLogicalNode,
        _: &[&LogicalPlan],
        inputs: &[Arc<dyn ExecutionPlan>],
        _: &dyn Session,
        _: &PhysicalPlanningContext,
    ) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let input = only_input(inputs.iter().cloned(), node.name())?;
        if let Some(marked) = node.as_any().downcast_ref::<Marked>() {
            return Ok(Some(match marked.mark {
                Mark::Unassumed => Arc::new(Unassumed::new(input)),
                Mark::Ordered => {
                    let schema = input.schema();
                    let input = match input.children().is_empty() {
                        true => Arc::new(WholeLeaf(input)),
                        false => input,
                    };
                    Arc::new(TransformExec::new(Arc::new(InOrder), input, schema))
                }
                Mark::StopPoint => {
                    CancellationToken::current().check()?;
                    input
                }
            }));
        }
        let Some(transform) = node.as_any().downcast_ref::<TransformNode>() else {
            return Ok(None);
        };
        Ok(Some(Arc::new(TransformExec::new(
            Arc::clone(&transform.transform),
            input,
            Arc::clone(node.schema().inner()),
        ))))
    }
}
