//! Aggregates that statistics of the storage answer, under the names that the plan above them expects.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};

/// Puts the values of statistics in place of aggregates, as the rule of DataFusion that it holds does.
///
/// DataFusion 55.2 names such a value by the aggregate's expression, which is another than the plan's column where only some
/// of a `summarize` are used; what is above it then fails to find it.
#[derive(Debug)]
pub(in crate::datafusion) struct StatisticsByName(
    pub(in crate::datafusion) Arc<dyn PhysicalOptimizerRule + Send + Sync>,
);

impl PhysicalOptimizerRule for StatisticsByName {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let rewritten = plan.transform_up(|node| {
            if !node.is::<AggregateExec>() {
                return Ok(Transformed::no(node));
            }
            let schema = node.schema();
            let known = self.0.optimize(Arc::clone(&node), config)?;
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

    fn name(&self) -> &str {
        self.0.name()
    }

    /// A value that is known is not nullable, whatever the aggregate was.
    fn schema_check(&self) -> bool {
        self.0.schema_check()
    }
}
