//! The first rows of united tables, in an order whose leading column is constant in each table but not the same in all.

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
#[derive(Debug)]
pub(super) struct SortByDifferingConstants;

impl PhysicalOptimizerRule for SortByDifferingConstants {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let rewritten = plan.transform_up(|node| {
            Ok(match with_whole_order(node.as_ref()) {
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
    let whole = SortExec::new(merge.expr().clone(), Arc::clone(sort.input()))
        .with_preserve_partitioning(true)
        .with_fetch(sort.fetch());
    let merge = SortPreservingMergeExec::new(merge.expr().clone(), Arc::new(whole))
        .with_fetch(merge.fetch());
    Some(Arc::new(merge))
}
