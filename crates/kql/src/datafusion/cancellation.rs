//! Cancellation of planning and of joins.
//!
//! Planning a large query takes long and never yields, so it checks for cancellation at every rule and in every long chain
//! of projections. Joins yield at every batch of their output.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::LogicalPlan;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::union::{InterleaveExec, UnionExec};

use super::marker::{Marker, MarkerNode};
use super::wrap::{AddedPhysical, LogicalRule, PhysicalRule, WrappedLogical};
use crate::work::CancellationToken;

/// The rules, each of which fails if the query was cancelled. The optimiser applies most rules to one node at a time.
pub(super) fn cancellable_logical(rules: Vec<LogicalRule>) -> Vec<LogicalRule> {
    let cancellable = |rule| {
        Arc::new(WrappedLogical {
            rule,
            rewrite: |rule, plan, config| {
                CancellationToken::current().check()?;
                rule.rewrite(plan, config)
            },
        }) as LogicalRule
    };
    rules.into_iter().map(cancellable).collect()
}

/// The rules with a check for cancellation before each, and with joins that yield at the end.
pub(super) fn cancellable_physical(rules: Vec<PhysicalRule>) -> Vec<PhysicalRule> {
    let added = |name, optimize| Arc::new(AddedPhysical { name, optimize }) as PhysicalRule;
    let check = added("check cancellation", |plan| {
        CancellationToken::current().check()?;
        Ok(plan)
    });
    let rules = rules
        .into_iter()
        .flat_map(|rule| [Arc::clone(&check), rule]);
    rules
        .chain([added("yield at joins", yield_at_joins)])
        .collect()
}

/// `plan` with a node between any two projections at which planning checks for cancellation: planning one projection over
/// hundreds of columns takes milliseconds.
pub(super) fn check_between_projections(plan: LogicalPlan) -> Result<LogicalPlan> {
    let checked = plan.transform_down_with_subqueries(|node| {
        let LogicalPlan::Projection(mut projection) = node else {
            return Ok(Transformed::no(node));
        };
        if !matches!(projection.input.as_ref(), LogicalPlan::Projection(_)) {
            return Ok(Transformed::no(LogicalPlan::Projection(projection)));
        }
        projection.input = Arc::new(MarkerNode::plan(
            Marker::CheckCancellation,
            projection.input,
        ));
        Ok(Transformed::yes(LogicalPlan::Projection(projection)))
    });
    checked.map(|transformed| transformed.data)
}

/// Joins that yield at every batch of their output: one row of a join's input may match millions of the other, and
/// DataFusion yields only when it reads its input.
fn yield_at_joins(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let wrapped = plan.transform_up(|node| {
        let unions = node.is::<UnionExec>() || node.is::<InterleaveExec>();
        Ok(if node.children().len() > 1 && !unions {
            Transformed::yes(Arc::new(CooperativeExec::new(node)) as _)
        } else {
            Transformed::no(node)
        })
    });
    wrapped.map(|transformed| transformed.data)
}

#[cfg(test)]
mod tests {
    use datafusion::common::tree_node::TreeNodeRecursion;
    use datafusion::execution::context::{QueryPlanner, SessionState};
    use datafusion::execution::memory_pool::UnboundedMemoryPool;
    use datafusion::execution::session_state::SessionStateBuilder;

    use super::*;
    use crate::datafusion::planner::KqlQueryPlanner;
    use crate::datafusion::session;
    use crate::testing::bound;
    use crate::work::Work;

    /// Three computing projections in a row.
    fn steps() -> LogicalPlan {
        let query = "print a = rand() | extend b = a + 1 | extend c = b * b | extend d = c - a";
        bound(query).results.pop().expect("a result").plan
    }

    fn session() -> SessionState {
        session::context()
            .expect("DataFusion has the rules")
            .state()
    }

    /// The result of the work while the query runs, and after its cancellation.
    async fn running_and_cancelled<T>(work: impl AsyncFn() -> Result<T>) -> (Result<T>, Result<T>) {
        let of = || Work::new(Arc::new(UnboundedMemoryPool::default()));
        let cancelled = of();
        cancelled.cancel();
        (of().run(work()).await, cancelled.run(work()).await)
    }

    fn is_cancelled<T>(result: Result<T>) -> bool {
        result.is_err_and(|error| error.to_string().contains("the query was cancelled"))
    }

    #[test]
    fn planning_checks_for_cancellation_between_any_two_projections() {
        let (mut checks, mut adjacent) = (0, 0);
        let plan = check_between_projections(steps()).expect("it is marked");
        let seen = plan.apply(|node| {
            checks += usize::from(
                matches!(node, LogicalPlan::Extension(e) if e.node.name() == "CheckCancellation"),
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
        assert!(checks >= 3, "{checks}");
        assert_eq!(adjacent, 0);
    }

    #[tokio::test]
    async fn the_planner_stops_when_cancelled() {
        // The list has no rule left that does not check for cancellation.
        let state = SessionStateBuilder::new_from_existing(session());
        let state = state.with_physical_optimizer_rules(Vec::new()).build();
        let (plan, planner) = (steps(), KqlQueryPlanner::default());
        let planned = || planner.create_physical_plan(&plan, &state);
        let (running, cancelled) = running_and_cancelled(async || planned().await).await;
        assert!(running.is_ok());
        assert!(is_cancelled(cancelled));
    }

    #[tokio::test]
    async fn the_optimiser_stops_when_cancelled() {
        let (state, plan) = (session(), steps());
        let (running, cancelled) = running_and_cancelled(async || state.optimize(&plan)).await;
        assert!(running.is_ok());
        assert!(is_cancelled(cancelled));
    }
}
