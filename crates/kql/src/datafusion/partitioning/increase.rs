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
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, InputOrderMode};

use super::cardinality::{most_groups, rows_below};
use super::coalesce::Gather;

/// Into so many parts, at least, are rows dealt out of which there may be many.
const PARTS: usize = 64;

/// So many entries of tables are few: they are done with in some tens of milliseconds, and more parts only cost.
const FEW: usize = 1 << 23;

/// Groups and joins rows in many parts where there may be many of them.
///
/// DataFusion 55.2 grows, empties and drops the table of a part in one piece, which nothing can stop: with tens of
/// millions of entries that takes seconds. Rows are dealt out by the hash of their keys, so more parts make smaller
/// tables. Those also stay in the processor's cache. What is above has as few parts as before: a sort reserves memory
/// for each.
#[derive(Debug)]
pub(in crate::datafusion) struct ManyParts;

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

/// A node with a table in each part, in many parts; none where it is another node, or its tables are small or in an order.
fn in_many_parts(node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if node.output_ordering().is_some() || entries(node).is_none_or(|most| most <= FEW) {
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

/// About how many entries the tables of a node have at most; none where it is a node without tables for each part.
fn entries(node: &Arc<dyn ExecutionPlan>) -> Option<usize> {
    if let Some(aggregate) = node.downcast_ref::<AggregateExec>() {
        let has_tables = *aggregate.input_order_mode() == InputOrderMode::Linear;
        return has_tables.then(|| most_groups(aggregate));
    }
    let join = node.downcast_ref::<HashJoinExec>()?;
    let has_tables = *join.partition_mode() == PartitionMode::Partitioned;
    has_tables.then(|| rows_below(node))
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

    #[tokio::test]
    async fn groups_by_both_sides_of_a_join_may_be_many() {
        const T: &str = "let t = range x from 1 to 4000 step 1 | extend k = x % 10; ";
        let pipe = |keys: &str| {
            format!(
                "t | join kind=inner t on k | extend s = x + x1, r = rand() | where x != 7
                | summarize count() by {keys}"
            )
        };
        let groups = |keys: &str| format!("{T}{}", pipe(keys));
        assert_eq!(parts(&groups("x, x1")).await, [PARTS, 2, 2]);
        assert_eq!(parts(&groups("s")).await, [PARTS, 2, 2]);
        assert_eq!(parts(&groups("x, k, k1")).await, [PARTS, 2, 2]);
        assert_eq!(parts(&groups("x")).await, [2, 2, 2]);
        // Chance has any number of values, and the rows are taken for few.
        assert_eq!(parts(&groups("r")).await, [2, 2, 2]);
        let again = format!("{} | summarize count() by count_", groups("x, x1"));
        assert_eq!(parts(&again).await, [PARTS, PARTS, 2, 2]);
        let both = format!("{T}union ({}), ({}) | distinct x", pipe("x"), pipe("x"));
        assert_eq!(parts(&both).await, [2; 6]);
    }

    /// The one side of the join is gathered, the other is dealt out in two parts.
    const GATHERED: &str = "let few = range k from 1 to 1000 step 1;
        let many = few | extend k = range(k, k) | mv-expand k to typeof(long) | summarize n = count() by k;
        many | join kind=inner few on k | summarize count(), sum(n)";

    #[tokio::test]
    async fn what_is_gathered_is_not_dealt_out_again() {
        assert_eq!(parts(GATHERED).await, [PARTS, 2]);
    }

    #[test]
    fn many_parts_are_gathered_as_fewer_would_have_been_dealt_out() {
        check(GATHERED, "count_:long, sum_n:long\n1000 | 1000");
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
