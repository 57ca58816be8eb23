//! Plans that are kept for later requests of the same text.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::{Expr, LogicalPlan, TableSource};
use hindsight_kql_library::large::is_large;

use crate::query::BoundQuery;
use crate::row_wise::OF_ONE_SERVER;

/// The most nodes of a plan that is kept.
const MAX_NODES: usize = 64;
/// The most parts of all its expressions together.
const MAX_PARTS: usize = 2048;

impl BoundQuery {
    /// Whether a later request of the same text may run the optimised plan of this query, with its own tables in the place of those that
    /// `is_table` recognises.
    ///
    /// The plan must consist of nodes and expressions that hold nothing of the request: transforms may hold rows, large values hold
    /// memory of the query, and steps run once for each query. Volatile expressions are left out as well.
    ///
    /// # Errors
    /// An error of DataFusion about the plan.
    pub fn is_reusable(&self, is_table: impl Fn(&Arc<dyn TableSource>) -> bool) -> Result<bool> {
        let [result] = self.results.as_slice() else {
            return Ok(false);
        };
        if !self.repeats || !self.steps.is_empty() {
            return Ok(false);
        }
        let (mut nodes, mut parts) = (0, 0);
        let mut reusable = true;
        result.plan.apply_with_subqueries(|node| {
            nodes += 1;
            reusable &= nodes <= MAX_NODES && is_plain(node, &is_table, &mut parts)?;
            Ok(if reusable {
                TreeNodeRecursion::Continue
            } else {
                TreeNodeRecursion::Stop
            })
        })?;
        Ok(reusable)
    }
}

/// Whether a node and its expressions hold nothing of a request; adds the number of parts of its expressions to `parts`.
fn is_plain(
    node: &LogicalPlan,
    is_table: &impl Fn(&Arc<dyn TableSource>) -> bool,
    parts: &mut usize,
) -> Result<bool> {
    let is_known = match node {
        LogicalPlan::TableScan(scan) => is_table(&scan.source),
        LogicalPlan::Projection(_)
        | LogicalPlan::Filter(_)
        | LogicalPlan::Aggregate(_)
        | LogicalPlan::Sort(_)
        | LogicalPlan::Limit(_)
        | LogicalPlan::Join(_)
        | LogicalPlan::Union(_)
        | LogicalPlan::SubqueryAlias(_)
        | LogicalPlan::Distinct(_) => true,
        _ => false,
    };
    let mut plain = is_known;
    if is_known {
        node.apply_expressions(|expr| {
            plain &= !expr.exists(|part| {
                *parts += 1;
                Ok(*parts > MAX_PARTS || depends_on_query(part))
            })?;
            Ok(TreeNodeRecursion::Continue)
        })?;
    }
    Ok(plain)
}

/// Whether an expression, apart from its parts, belongs to one query.
fn depends_on_query(expr: &Expr) -> bool {
    match expr {
        Expr::Placeholder(_)
        | Expr::OuterReferenceColumn(..)
        | Expr::ScalarSubquery(_)
        | Expr::InSubquery(_)
        | Expr::Exists(_)
        | Expr::SetComparison(_) => true,
        Expr::ScalarFunction(call) => {
            is_large(expr) || expr.is_volatile_node() || OF_ONE_SERVER.contains(&call.name())
        }
        _ => expr.is_volatile_node(),
    }
}

/// `plan` with other sources in its scans, which have the same columns.
///
/// # Errors
/// `replace` has no source in the place of one.
pub fn with_sources(
    plan: LogicalPlan,
    replace: impl Fn(&Arc<dyn TableSource>) -> Option<Arc<dyn TableSource>>,
) -> Result<LogicalPlan> {
    let replaced = plan.transform_down(|node| {
        let LogicalPlan::TableScan(mut scan) = node else {
            return Ok(Transformed::no(node));
        };
        scan.source = replace(&scan.source).ok_or_else(|| {
            DataFusionError::Internal(format!("{} has no other source", scan.table_name))
        })?;
        Ok(Transformed::yes(LogicalPlan::TableScan(scan)))
    });
    replaced.map(|transformed| transformed.data)
}
