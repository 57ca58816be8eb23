//! Pushdown of filters through keys of aggregations.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;

use crate::datafusion::hidden::{HiddenExec, Hide, computed_keys};

/// Pushes filters down, except filters by a key that is computed from other columns.
///
/// DataFusion 55.2 passes a filter by a key to the column of the input that has the name of the key. `summarize by bin(timestamp, 1h)` names
/// the key `timestamp` too, so the filter by starts of bins that a join derives from its other side would drop nearly all rows.
pub(in crate::datafusion) fn optimize(
    rule: &dyn PhysicalOptimizerRule,
    plan: Arc<dyn ExecutionPlan>,
    config: &ConfigOptions,
) -> Result<Arc<dyn ExecutionPlan>> {
    let hidden = plan.transform_up(|node| {
        Ok(if computed_keys(node.as_ref()).next().is_some() {
            Transformed::yes(Arc::new(HiddenExec::new(Hide::Keys, node)) as _)
        } else {
            Transformed::no(node)
        })
    });
    let pushed = rule.optimize(hidden?.data, config)?;
    HiddenExec::remove(Hide::Keys, pushed)
}
