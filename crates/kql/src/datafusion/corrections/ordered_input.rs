//! Inputs that are not in the order that a node needs.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

/// Sorts what a node needs in an order and what cannot promise to be in it.
///
/// DataFusion 55.2 sorts where it has to, and may lose sight of an order later: of an aggregation over keys of which one
/// is constant. It would then fail to plan.
#[derive(Debug)]
pub(in crate::datafusion) struct SortWhatIsNeeded;

impl PhysicalOptimizerRule for SortWhatIsNeeded {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let sorted = plan.transform_up(|node| {
            let needs = node.required_input_ordering();
            let mut children: Vec<_> = node.children().into_iter().cloned().collect();
            for (child, need) in children.iter_mut().zip(needs) {
                let Some(order) = need.map(|need| LexOrdering::from(need.into_single())) else {
                    continue;
                };
                let promised = child.equivalence_properties();
                if !promised.ordering_satisfy(order.clone())? {
                    let sort = SortExec::new(order, Arc::clone(child));
                    *child = Arc::new(sort.with_preserve_partitioning(true));
                }
            }
            replace_children_if_necessary(node, children).map(Transformed::yes)
        });
        sorted.map(|transformed| transformed.data)
    }

    fn name(&self) -> &str {
        "sort what is needed"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
