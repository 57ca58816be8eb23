//! Optimiser rules that are functions, alone or around a rule of DataFusion.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;

/// A rule of the logical optimiser.
pub(super) type LogicalRule = Arc<dyn OptimizerRule + Send + Sync>;
/// A rule of the physical optimiser.
pub(super) type PhysicalRule = Arc<dyn PhysicalOptimizerRule + Send + Sync>;

/// Rewrites a logical plan with a rule.
pub(super) type RewriteWith =
    fn(&dyn OptimizerRule, LogicalPlan, &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>>;
/// Optimises a physical plan with a rule.
pub(super) type OptimizeWith = fn(
    &dyn PhysicalOptimizerRule,
    Arc<dyn ExecutionPlan>,
    &ConfigOptions,
) -> Result<Arc<dyn ExecutionPlan>>;
/// Optimises a physical plan.
pub(super) type Optimize = fn(Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>>;

/// A logical rule under its own name, wrapped by a function.
#[derive(Debug)]
pub(super) struct WrappedLogical {
    pub(super) rule: LogicalRule,
    pub(super) rewrite: RewriteWith,
}

impl OptimizerRule for WrappedLogical {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.rule.apply_order()
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        (self.rewrite)(self.rule.as_ref(), plan, config)
    }
}

/// A physical rule under its own name, wrapped by a function.
#[derive(Debug)]
pub(super) struct WrappedPhysical {
    pub(super) rule: PhysicalRule,
    pub(super) optimize: OptimizeWith,
}

impl PhysicalOptimizerRule for WrappedPhysical {
    fn name(&self) -> &str {
        self.rule.name()
    }

    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        (self.optimize)(self.rule.as_ref(), plan, config)
    }

    fn schema_check(&self) -> bool {
        self.rule.schema_check()
    }
}

/// A physical rule that DataFusion lacks.
#[derive(Debug)]
pub(super) struct AddedPhysical {
    pub(super) name: &'static str,
    pub(super) optimize: Optimize,
}

impl PhysicalOptimizerRule for AddedPhysical {
    fn name(&self) -> &str {
        self.name
    }

    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        (self.optimize)(plan)
    }

    fn schema_check(&self) -> bool {
        true
    }
}
