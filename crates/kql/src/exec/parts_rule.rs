//! Tables of groups and of joins that are small enough to stop working on them.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::Partitioning;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, InputOrderMode};

use super::gather::Gather;
use super::run::TransformExec;

/// Into so many parts, at least, are rows dealt out of which there may be many.
const PARTS: usize = 64;

/// So many rows are few: a table of them is done with in some tens of milliseconds, and more parts only cost.
const FEW_ROWS: usize = 1 << 23;

/// Groups and joins rows in many parts where there may be many of them.
///
/// DataFusion 55.2 grows, empties and drops the table of a part in one piece, which nothing can stop: with tens of
/// millions of entries that takes seconds. Rows are dealt out by the hash of their keys, so more parts make smaller
/// tables. Those also stay in the processor's cache. What is above has as few parts as before: a sort reserves memory
/// for each.
#[derive(Debug)]
pub(super) struct ManyParts;

impl PhysicalOptimizerRule for ManyParts {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let dealt = plan.transform_up(|node| {
            Ok(match in_many_parts(&node)? {
                Some(gathered) => Transformed::yes(gathered),
                None => Transformed::no(node),
            })
        });
        dealt.map(|transformed| transformed.data)
    }

    fn name(&self) -> &str {
        "many parts"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// A node with a table in each part, in many parts; none where it is another node, or its rows are few or in an order.
fn in_many_parts(node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let has_tables = match (
        node.downcast_ref::<AggregateExec>(),
        node.downcast_ref::<HashJoinExec>(),
    ) {
        (Some(aggregate), _) => *aggregate.input_order_mode() == InputOrderMode::Linear,
        (_, Some(join)) => *join.partition_mode() == PartitionMode::Partitioned,
        _ => false,
    };
    if !has_tables || node.output_ordering().is_some() || rows_below(node) <= FEW_ROWS {
        return Ok(None);
    }
    let inputs = node.children().into_iter().map(dealt_out);
    let Some(inputs) = inputs.collect::<Result<Option<Vec<_>>>>()? else {
        return Ok(None);
    };
    let parts = node.output_partitioning().partition_count();
    let node = replace_children_if_necessary(Arc::clone(node), inputs)?;
    Ok(Some(Arc::new(Gather::new(node, parts))))
}

/// A node that deals rows out by their keys, into many parts; none where it is another one.
fn dealt_out(node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(dealt) = node.downcast_ref::<RepartitionExec>() else {
        return Ok(None);
    };
    let Partitioning::Hash(keys, parts) = dealt.partitioning() else {
        return Ok(None);
    };
    if dealt.preserve_order() {
        return Ok(None);
    }
    // A multiple, so that few of them together hold what one part held.
    let parts = parts.saturating_mul(PARTS.div_ceil((*parts).max(1)));
    let parts = Partitioning::Hash(keys.clone(), parts);
    let dealt = RepartitionExec::try_new(Arc::clone(dealt.input()), parts)?;
    Ok(Some(Arc::new(dealt)))
}

/// About how many rows the inputs of a node give at most.
fn rows_below(node: &Arc<dyn ExecutionPlan>) -> usize {
    let inputs = node.children().into_iter().map(most_rows);
    inputs.fold(0, usize::saturating_add)
}

/// About how many rows a plan gives at most. Filters are taken to keep all, and joins on keys to give as many as their
/// sides have.
pub(crate) fn most_rows(plan: &Arc<dyn ExecutionPlan>) -> usize {
    if let Some(node) = plan.downcast_ref::<TransformExec>() {
        return node.most_rows();
    }
    match plan.children().is_empty() {
        true => rows_of_leaf(plan.as_ref()),
        false => rows_below(plan),
    }
}

/// The rows of a leaf. All tell theirs; one that did not might have any number.
fn rows_of_leaf(leaf: &dyn ExecutionPlan) -> usize {
    let known = StatisticsContext::new().compute(leaf, &StatisticsArgs::new());
    let rows = known.ok().and_then(|s| s.num_rows.get_value().copied());
    rows.unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use datafusion::common::tree_node::TreeNodeRecursion;
    use datafusion::execution::runtime_env::RuntimeEnv;
    use datafusion::prelude::SessionContext;

    use super::*;
    use crate::BoundQuery;
    use crate::testing::{TestCatalog, check};

    fn bound(query: &str) -> BoundQuery {
        let parsed = hindsight_kql_syntax::parse(query);
        let bound = crate::bind(&parsed.query, &TestCatalog, &crate::BindOptions::default());
        bound.expect("it binds")
    }

    fn on_two_processors() -> SessionContext {
        let config = crate::run::session_config().with_target_partitions(2);
        crate::run::session_context_with(config, Arc::new(RuntimeEnv::default()))
    }

    /// Into how many parts the plan of a query deals rows out, wherever it does.
    async fn parts(query: &str) -> Vec<usize> {
        let result = bound(query).results.pop().expect("a result");
        let state = on_two_processors().state();
        let plan = state.create_physical_plan(&result.plan).await;
        let mut found = Vec::new();
        let plan = plan.expect("it is planned");
        let seen = plan.apply(|node| {
            if let Some(dealt) = node.downcast_ref::<RepartitionExec>() {
                found.push(dealt.partitioning().partition_count());
            }
            Ok(TreeNodeRecursion::Continue)
        });
        assert!(seen.is_ok());
        found
    }

    #[tokio::test]
    async fn rows_that_may_be_many_are_dealt_out_in_many_parts() {
        let join = |rows: u64| {
            format!(
                "range x from 1 to {rows} step 1 | join kind=inner (range x from 1 to {rows} step 1) on x | count"
            )
        };
        assert_eq!(parts(&join(1000)).await, [2, 2]);
        assert_eq!(parts(&join(5_000_000)).await, [PARTS, PARTS]);
        let groups =
            |rows: &str| format!("range x from 1 to {rows} step 1 | summarize count() by x");
        assert_eq!(parts(&groups("1000000")).await, [2]);
        assert_eq!(parts(&groups("9000000")).await, [PARTS]);
        // A list may have a million elements.
        let lists = |rows: u64, limit: &str| {
            format!(
                "range x from 1 to {rows} step 1 | extend a = range(1, x)
                | mv-expand a to typeof(long) {limit} | summarize count() by a"
            )
        };
        assert_eq!(parts(&lists(1, "")).await, [2]);
        assert_eq!(parts(&lists(9, "")).await, [PARTS]);
        assert_eq!(parts(&lists(9, "limit 100")).await, [2]);
    }

    #[test]
    fn many_parts_give_the_same() {
        check(
            "range x from 1 to 1200000 step 1 | extend k = x % 300000
            | join kind=rightouter (range k from 200000 to 400000 step 1) on k
            | summarize n = countif(isnotnull(x)), s = sum(x) by k1
            | summarize count(), sum(n), sum(s), max(k1)",
            "count_:long, sum_n:long, sum_s:long, max_k1:long\n200001 | 400000 | 279999800000 | 400000",
        );
    }
}
