//! Planning a large query takes long and never gives way: at every rule and in every long chain of steps it is asked
//! whether the query is wanted. Joins give way at every batch.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{ApplyOrder, Optimizer, OptimizerConfig, OptimizerRule};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::union::{InterleaveExec, UnionExec};

use super::corrections::functional_dependencies::{BELIEVE, WithoutDependencies};
use super::corrections::ordered_input::SortWhatIsNeeded;
use super::corrections::statistics_cost::InShortPieces;
use super::corrections::statistics_names::StatisticsByName;
use super::corrections::volatile_filter::{ChanceStays, FILTERS};
use super::mark::{Mark, Marked};
use super::partitioning::increase::IncreasePartitions;
use crate::work::CancellationToken;

/// The rule that it holds, and fails where the query was cancelled. Most rules are shown one node at a time.
#[derive(Debug)]
struct WhileWanted(Arc<dyn OptimizerRule + Send + Sync>);

impl OptimizerRule for WhileWanted {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        CancellationToken::current().check()?;
        self.0.rewrite(plan, config)
    }
}

/// `plan` with a point between any two projections where planning can be stopped: one over hundreds of columns takes
/// milliseconds.
pub(super) fn with_stop_points(plan: LogicalPlan) -> Result<LogicalPlan> {
    let stoppable = plan.transform_down_with_subqueries(|node| {
        let LogicalPlan::Projection(mut projection) = node else {
            return Ok(Transformed::no(node));
        };
        if !matches!(projection.input.as_ref(), LogicalPlan::Projection(_)) {
            return Ok(Transformed::no(LogicalPlan::Projection(projection)));
        }
        projection.input = Arc::new(Marked::plan(Mark::StopPoint, projection.input));
        Ok(Transformed::yes(LogicalPlan::Projection(projection)))
    });
    stoppable.map(|transformed| transformed.data)
}

/// Changes nothing, and fails where the query was cancelled.
#[derive(Debug)]
struct StopRule;

impl PhysicalOptimizerRule for StopRule {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        CancellationToken::current().check()?;
        Ok(plan)
    }

    fn name(&self) -> &str {
        "stop"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// One row of a join's input may match millions of the other, and the engine gives way only where it reads. So joins give
/// way at every batch of their output.
#[derive(Debug)]
struct YieldAtJoins;

impl PhysicalOptimizerRule for YieldAtJoins {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let wrapped = plan.transform_up(|node| {
            let unions = node.is::<UnionExec>() || node.is::<InterleaveExec>();
            Ok(match node.children().len() > 1 && !unions {
                true => Transformed::yes(Arc::new(CooperativeExec::new(node)) as _),
                false => Transformed::no(node),
            })
        });
        wrapped.map(|transformed| transformed.data)
    }

    fn name(&self) -> &str {
        "yield at joins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Rules of DataFusion 55.2 that do not go with this language.
const LEFT_OUT: [&str; 4] = [
    // Keys of a join equal each other where both are null, a condition behind it does not hold there: made into a key, it
    // would keep rows that it must drop.
    "extract_equijoin_predicate",
    // A group's key is never -0.0, a constant may be: with no key left nobody would make it 0.0.
    "eliminate_group_by_constant",
    // They move accesses to fields of structs, which no plan here has, and fail where common expressions were named twice.
    "extract_leaf_expressions",
    "push_down_leaf_projections",
];

/// The rules of the engine's optimiser.
pub(crate) fn logical_rules() -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
    let kept = |rule: &Arc<dyn OptimizerRule + Send + Sync>| !LEFT_OUT.contains(&rule.name());
    let rules = Optimizer::new().rules.into_iter().filter(kept);
    let rules = rules.map(|rule| match BELIEVE.contains(&rule.name()) {
        true => Arc::new(WithoutDependencies(rule)) as Arc<dyn OptimizerRule + Send + Sync>,
        false => rule,
    });
    let rules = rules.map(|rule| match rule.name() {
        FILTERS => Arc::new(ChanceStays(rule)) as Arc<dyn OptimizerRule + Send + Sync>,
        _ => rule,
    });
    let rules = rules.map(|rule| Arc::new(WhileWanted(rule)) as _);
    rules.collect()
}

/// The rules of the engine's physical optimiser.
pub(crate) fn physical_rules() -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
    let mut rules = Vec::new();
    for rule in PhysicalOptimizer::new().rules {
        rules.push(Arc::new(StopRule) as Arc<dyn PhysicalOptimizerRule + Send + Sync>);
        match rule.name() {
            "aggregate_statistics" => rules.push(Arc::new(StatisticsByName(rule))),
            "EnsureRequirements" => rules.push(Arc::new(InShortPieces(rule))),
            "SanityCheckPlan" => {
                rules.push(Arc::new(SortWhatIsNeeded));
                rules.push(Arc::new(IncreasePartitions));
                rules.push(rule);
            }
            _ => rules.push(rule),
        }
    }
    rules.push(Arc::new(YieldAtJoins));
    rules
}

#[cfg(test)]
mod tests {
    use datafusion::common::tree_node::TreeNodeRecursion;
    use datafusion::execution::context::{QueryPlanner, SessionState};
    use datafusion::execution::memory_pool::UnboundedMemoryPool;
    use datafusion::execution::session_state::SessionStateBuilder;

    use super::*;
    use crate::KqlQueryPlanner;
    use crate::testing::TestCatalog;
    use crate::work::Work;

    /// Three steps that compute, each over the one before.
    fn steps() -> LogicalPlan {
        let query = "print a = rand() | extend b = a + 1 | extend c = b * b | extend d = c - a";
        let parsed = hindsight_kql_syntax::parse(query);
        let bound = crate::bind(&parsed.query, &TestCatalog, &crate::BindOptions::default());
        let result = bound.expect("it binds").results.pop();
        result.expect("a result").plan
    }

    fn session() -> SessionState {
        crate::run::session_context().state()
    }

    /// What becomes of work that is wanted, and of work that is not.
    async fn wanted_and_not<T>(work: impl AsyncFn() -> Result<T>) -> (Result<T>, Result<T>) {
        let of = || Work::new(Arc::new(UnboundedMemoryPool::default()));
        let stopped = of();
        stopped.cancel();
        (of().run(work()).await, stopped.run(work()).await)
    }

    fn is_cancelled<T>(result: Result<T>) -> bool {
        result.is_err_and(|error| error.to_string().contains("the query was cancelled"))
    }

    #[test]
    fn planning_can_stop_between_any_two_projections() {
        let (mut stop_points, mut adjacent) = (0, 0);
        let plan = with_stop_points(steps()).expect("it is marked");
        let seen = plan.apply(|node| {
            stop_points += usize::from(
                matches!(node, LogicalPlan::Extension(e) if e.node.name() == "StopPoint"),
            );
            if let LogicalPlan::Projection(projection) = node {
                adjacent += usize::from(matches!(
                    projection.input.as_ref(),
                    LogicalPlan::Projection(_)
                ));
            }
            Ok(TreeNodeRecursion::Continue)
        });
        assert!(seen.is_ok());
        assert!(stop_points >= 3, "{stop_points}");
        assert_eq!(adjacent, 0);
    }

    #[tokio::test]
    async fn the_first_plan_is_not_finished_for_nobody() {
        // No rule is left that could notice it.
        let state = SessionStateBuilder::new_from_existing(session());
        let state = state.with_physical_optimizer_rules(Vec::new()).build();
        let plan = steps();
        let planned = || KqlQueryPlanner.create_physical_plan(&plan, &state);
        let (wanted, unwanted) = wanted_and_not(async || planned().await).await;
        assert!(wanted.is_ok());
        assert!(is_cancelled(unwanted));
    }

    #[tokio::test]
    async fn no_rule_runs_for_nobody() {
        let (state, plan) = (session(), steps());
        let (wanted, unwanted) = wanted_and_not(async || state.optimize(&plan)).await;
        assert!(wanted.is_ok());
        assert!(is_cancelled(unwanted));
    }
}
