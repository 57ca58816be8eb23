//! Keeps the hash tables of aggregations and joins small enough for timely cancellation.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::Partitioning;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::joins::{HashJoinExec, PartitionMode};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, InputOrderMode};

use super::cardinality::{estimated_groups, estimated_input_rows};
use super::coalesce::CoalesceHashPartitionsExec;

/// The minimum number of partitions for many rows.
const MIN_PARTITIONS: usize = 64;

/// Hash tables with more estimated entries than this are repartitioned. Fewer entries are processed in some tens of
/// milliseconds, so more partitions would only cost time.
const REPARTITION_THRESHOLD: usize = 1 << 23;

/// Increases the number of hash partitions of aggregations and joins with a high cardinality estimate.
///
/// DataFusion 55.2 grows, drains and drops the hash table of a partition without yielding: with tens of millions of entries
/// that takes seconds. More partitions make smaller tables, which also fit the processor's cache. The nodes above keep their
/// number of partitions, because a sort reserves memory for each.
pub(in crate::datafusion) fn optimize(
    plan: Arc<dyn ExecutionPlan>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let repartitioned = plan.transform_up(|node| {
        Ok(match in_more_partitions(&node)? {
            Some(coalesced) => Transformed::yes(coalesced),
            None => Transformed::no(node),
        })
    });
    repartitioned.map(|transformed| transformed.data)
}

/// A node with one hash table for each partition, in more partitions; none if it is another node, if its tables are small or
/// if its output is ordered.
fn in_more_partitions(node: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if node.output_ordering().is_some()
        || table_entries(node).is_none_or(|rows| rows <= REPARTITION_THRESHOLD)
    {
        return Ok(None);
    }
    let inputs = node.children().into_iter().map(in_more_hash_partitions);
    let Some(inputs) = inputs.collect::<Result<Option<Vec<_>>>>()? else {
        return Ok(None);
    };
    let partitions = node.output_partitioning().partition_count();
    let node = replace_children_if_necessary(Arc::clone(node), inputs)?;
    Ok(Some(Arc::new(CoalesceHashPartitionsExec::new(
        node, partitions,
    ))))
}

/// The estimated number of hash table entries of a node; none if it has no table for each partition.
fn table_entries(node: &Arc<dyn ExecutionPlan>) -> Option<usize> {
    if let Some(aggregate) = node.downcast_ref::<AggregateExec>() {
        let has_tables = *aggregate.input_order_mode() == InputOrderMode::Linear;
        return has_tables.then(|| estimated_groups(aggregate));
    }
    let join = node.downcast_ref::<HashJoinExec>()?;
    let has_tables = *join.partition_mode() == PartitionMode::Partitioned;
    has_tables.then(|| estimated_input_rows(node))
}

/// A hash repartitioning into more partitions; none if the node is another one.
fn in_more_hash_partitions(
    node: &Arc<dyn ExecutionPlan>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(repartition) = node.downcast_ref::<RepartitionExec>() else {
        return Ok(None);
    };
    let Partitioning::Hash(keys, partitions) = repartition.partitioning() else {
        return Ok(None);
    };
    if repartition.preserve_order() {
        return Ok(None);
    }
    // A multiple of the current number, so that several new partitions together hold the rows of one old partition.
    let partitions = partitions.saturating_mul(MIN_PARTITIONS.div_ceil((*partitions).max(1)));
    let partitioning = Partitioning::Hash(keys.clone(), partitions);
    let repartition = RepartitionExec::try_new(Arc::clone(repartition.input()), partitioning)?;
    Ok(Some(Arc::new(repartition)))
}

#[cfg(test)]
mod tests {
    use datafusion::common::tree_node::TreeNodeRecursion;
    use datafusion::execution::runtime_env::RuntimeEnv;
    use datafusion::prelude::SessionContext;

    use super::*;
    use crate::datafusion::session;
    use crate::testing::{bound, check};

    fn on_two_processors() -> SessionContext {
        let config = session::config().with_target_partitions(2);
        let context = session::context_with(config, Arc::new(RuntimeEnv::default()));
        context.expect("DataFusion has the rules")
    }

    /// The number of partitions of each repartitioning in the plan of a query.
    async fn partitions(query: &str) -> Vec<usize> {
        let result = bound(query).results.pop().expect("a result");
        let state = on_two_processors().state();
        let plan = state.create_physical_plan(&result.plan).await;
        let mut found = Vec::new();
        let plan = plan.expect("it is planned");
        let seen = plan.apply(|node| {
            if let Some(repartition) = node.downcast_ref::<RepartitionExec>() {
                found.push(repartition.partitioning().partition_count());
            }
            Ok(TreeNodeRecursion::Continue)
        });
        assert!(seen.is_ok());
        found
    }

    #[tokio::test]
    async fn many_estimated_rows_are_repartitioned() {
        let join = |rows: u64| {
            format!(
                "range x from 1 to {rows} step 1 | join kind=inner (range x from 1 to {rows} step 1) on x | count"
            )
        };
        assert_eq!(partitions(&join(1000)).await, [2, 2]);
        assert_eq!(
            partitions(&join(5_000_000)).await,
            [MIN_PARTITIONS, MIN_PARTITIONS]
        );
        let groups =
            |rows: &str| format!("range x from 1 to {rows} step 1 | summarize count() by x");
        assert_eq!(partitions(&groups("1000000")).await, [2]);
        assert_eq!(partitions(&groups("9000000")).await, [MIN_PARTITIONS]);
        // A list may have a million elements.
        let lists = |rows: u64, limit: &str| {
            format!(
                "range x from 1 to {rows} step 1 | extend a = range(1, x)
                | mv-expand a to typeof(long) {limit} | summarize count() by a"
            )
        };
        assert_eq!(partitions(&lists(1, "")).await, [2]);
        assert_eq!(partitions(&lists(9, "")).await, [MIN_PARTITIONS]);
        assert_eq!(partitions(&lists(9, "limit 100")).await, [2]);
    }

    #[tokio::test]
    async fn many_estimated_groups_by_both_sides_of_a_join_are_repartitioned() {
        const T: &str = "let t = range x from 1 to 4000 step 1 | extend k = x % 10; ";
        let pipe = |keys: &str| {
            format!(
                "t | join kind=inner t on k | extend s = x + x1, r = rand() | where x != 7
                | summarize count() by {keys}"
            )
        };
        let groups = |keys: &str| format!("{T}{}", pipe(keys));
        assert_eq!(partitions(&groups("x, x1")).await, [MIN_PARTITIONS, 2, 2]);
        assert_eq!(partitions(&groups("s")).await, [MIN_PARTITIONS, 2, 2]);
        assert_eq!(
            partitions(&groups("x, k, k1")).await,
            [MIN_PARTITIONS, 2, 2]
        );
        assert_eq!(partitions(&groups("x")).await, [2, 2, 2]);
        // The estimate assumes that a volatile expression has a distinct value in every row.
        assert_eq!(partitions(&groups("r")).await, [2, 2, 2]);
        let again = format!("{} | summarize count() by count_", groups("x, x1"));
        assert_eq!(
            partitions(&again).await,
            [MIN_PARTITIONS, MIN_PARTITIONS, 2, 2]
        );
        let both = format!("{T}union ({}), ({}) | distinct x", pipe("x"), pipe("x"));
        assert_eq!(partitions(&both).await, [2; 6]);
    }

    /// One side of the join is coalesced, the other is hashed into two partitions.
    const COALESCED: &str = "let few = range k from 1 to 1000 step 1;
        let many = few | extend k = range(k, k) | mv-expand k to typeof(long) | summarize n = count() by k;
        many | join kind=inner few on k | summarize count(), sum(n)";

    #[tokio::test]
    async fn coalesced_partitions_are_not_repartitioned() {
        assert_eq!(partitions(COALESCED).await, [MIN_PARTITIONS, 2]);
    }

    #[test]
    fn coalesced_partitions_match_those_of_a_repartitioning() {
        check(COALESCED, "count_:long, sum_n:long\n1000 | 1000");
    }

    #[test]
    fn more_partitions_give_the_same_rows() {
        check(
            "range x from 1 to 1200000 step 1 | extend k = x % 300000
            | join kind=rightouter (range k from 200000 to 400000 step 1) on k
            | summarize n = countif(isnotnull(x)), s = sum(x) by k1
            | summarize count(), sum(n), sum(s), max(k1)",
            "count_:long, sum_n:long, sum_s:long, max_k1:long\n200001 | 400000 | 279999800000 | 400000",
        );
    }
}
