//! The query planner: the passes over an optimised logical plan, in order, then the physical plan.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::Result;
use datafusion::execution::context::QueryPlanner;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{LogicalPlan, UserDefinedLogicalNode};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_planner::{DefaultPhysicalPlanner, ExtensionPlanner, PhysicalPlanner};

use super::cancellation::check_between_projections;
use super::corrections::lost_order;
use super::hidden::{HiddenExec, Hide};
use super::marker::{Marker, MarkerNode};
use crate::transform::{TransformExec, TransformNode, only_input};
use crate::work::CancellationToken;

/// A pass over an optimised logical plan.
pub(super) type PlanPass = fn(LogicalPlan) -> Result<LogicalPlan>;

/// Plans queries with the extension nodes of this crate.
#[derive(Debug, Default)]
pub(super) struct KqlQueryPlanner {
    /// The passes before physical planning, in order.
    pub(super) passes: Vec<PlanPass>,
}

#[async_trait]
impl QueryPlanner for KqlQueryPlanner {
    async fn create_physical_plan(
        &self,
        plan: &LogicalPlan,
        session: &dyn Session,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut passes = self.passes.iter();
        let plan = passes.try_fold(plan.clone(), |plan, pass| pass(plan))?;
        let plan = check_between_projections(plan)?;
        DefaultPhysicalPlanner::with_extension_planners(vec![Arc::new(NodePlanner)])
            .create_physical_plan(&plan, session)
            .await
    }
}

/// Plans transforms and markers.
struct NodePlanner;

#[async_trait]
impl ExtensionPlanner for NodePlanner {
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
        if let Some(node) = node.as_any().downcast_ref::<MarkerNode>() {
            return Ok(Some(match node.marker {
                Marker::HideEquivalences => Arc::new(HiddenExec::new(Hide::Equivalences, input)),
                Marker::KeepOrder => Arc::new(lost_order::ordered(input)),
                Marker::CheckCancellation => {
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
