//! United tables in an order of which some columns are constant in one table, and not the same in all.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::AcrossPartitions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

/// Sorts each partition by the whole order of the merge above it where a column is constant within the partitions, but
/// differs between them.
///
/// DataFusion 55.2 leaves such a column out of the sort, which is right for one partition. But the partitions of a sort
/// that keeps few rows share what they have seen of the best rows, and would drop rows by comparing without that column.
/// And where it sorts each table for itself, it finds no order that they have in common, and fails to plan the merge.
#[derive(Debug)]
pub(super) struct SortByDifferingConstants;

impl PhysicalOptimizerRule for SortByDifferingConstants {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let rewritten = plan.transform_up(|node| {
            let merge = match with_whole_order(node.as_ref()) {
                Some(merge) => Some(merge),
                None => sorted(node.as_ref())?,
            };
            Ok(match merge {
                Some(merge) => Transformed::yes(merge),
                None => Transformed::no(node),
            })
        });
        rewritten.map(|transformed| transformed.data)
    }

    fn name(&self) -> &str {
        "sort by differing constants"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The merge over a sort by all of its order, where a part of that was left out though partitions differ in it.
fn with_whole_order(node: &dyn ExecutionPlan) -> Option<Arc<dyn ExecutionPlan>> {
    let merge = node.downcast_ref::<SortPreservingMergeExec>()?;
    let sort = merge.input().downcast_ref::<SortExec>()?;
    let constants = sort.input().equivalence_properties();
    let differs = merge
        .expr()
        .iter()
        .any(|key| constants.is_expr_constant(&key.expr) == Some(AcrossPartitions::Heterogeneous));
    if !differs || !sort.preserve_partitioning() {
        return None;
    }
    Some(over_sort(merge, sort.input(), sort.fetch()))
}

/// The merge over a sort, where its input is not in its order.
fn sorted(node: &dyn ExecutionPlan) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(merge) = node.downcast_ref::<SortPreservingMergeExec>() else {
        return Ok(None);
    };
    let properties = merge.input().equivalence_properties();
    Ok(match properties.ordering_satisfy(merge.expr().clone())? {
        true => None,
        false => Some(over_sort(merge, merge.input(), merge.fetch())),
    })
}

/// The merge over the partitions of `input`, each sorted by all of its order.
fn over_sort(
    merge: &SortPreservingMergeExec,
    input: &Arc<dyn ExecutionPlan>,
    fetch: Option<usize>,
) -> Arc<dyn ExecutionPlan> {
    let sort = SortExec::new(merge.expr().clone(), Arc::clone(input))
        .with_preserve_partitioning(true)
        .with_fetch(fetch);
    let merge = SortPreservingMergeExec::new(merge.expr().clone(), Arc::new(sort))
        .with_fetch(merge.fetch());
    Arc::new(merge)
}
