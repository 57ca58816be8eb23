//! Names of aggregates that are answered from statistics.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};

/// Replaces aggregates by values from statistics, and gives the values the column names of the plan.
///
/// DataFusion 55.2 names such a value after the aggregate expression. If only some aggregates of a `summarize` are used, the
/// column in the plan has another name, and the nodes above do not find it.
pub(in crate::datafusion) fn optimize(
    rule: &dyn PhysicalOptimizerRule,
    plan: Arc<dyn ExecutionPlan>,
    config: &ConfigOptions,
) -> Result<Arc<dyn ExecutionPlan>> {
    let rewritten = plan.transform_up(|node| {
        if !node.is::<AggregateExec>() {
            return Ok(Transformed::no(node));
        }
        let schema = node.schema();
        let known = rule.optimize(Arc::clone(&node), config)?;
        let Some(values) = known.downcast_ref::<ProjectionExec>() else {
            return Ok(Transformed::no(node));
        };
        let named = values.expr().iter().zip(schema.fields());
        let named = named.map(|(value, field)| ProjectionExpr {
            expr: Arc::clone(&value.expr),
            alias: field.name().clone(),
        });
        let named = ProjectionExec::try_new(named, Arc::clone(values.input()))?;
        Ok(Transformed::yes(Arc::new(named) as _))
    });
    rewritten.map(|transformed| transformed.data)
}
