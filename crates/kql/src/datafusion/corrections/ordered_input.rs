//! Restores required orders of inputs.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

/// Sorts every input that must be ordered and has no matching order.
///
/// DataFusion 55.2 adds the sorts that nodes require, and may lose an order afterwards: that of an aggregation over keys of
/// which one is constant. Such a plan fails DataFusion's own sanity check.
pub(in crate::datafusion) fn optimize(
    plan: Arc<dyn ExecutionPlan>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let sorted = plan.transform_up(|node| {
        let required = node.required_input_ordering();
        let mut children: Vec<_> = node.children().into_iter().cloned().collect();
        for (child, order) in children.iter_mut().zip(required) {
            let Some(order) = order.map(|order| LexOrdering::from(order.into_single())) else {
                continue;
            };
            let known = child.equivalence_properties();
            if !known.ordering_satisfy(order.clone())? {
                let sort = SortExec::new(order, Arc::clone(child));
                *child = Arc::new(sort.with_preserve_partitioning(true));
            }
        }
        replace_children_if_necessary(node, children).map(Transformed::yes)
    });
    sorted.map(|transformed| transformed.data)
}
