//! What the engine's optimiser does to chains of projections, and what keeps it from going wrong.
//!
//! DataFusion 55.2 takes two equal projections in a row for one, also where they compute something: twice `x + 1 AS x` is
//! once. Projections also become equal when it makes one of several (`x + 1`, then `x * x`, and both again), or comes upon them when
//! it moves what is between them. So a column that is computed or renamed has a field that no projection below it has.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{Expr as PlanExpr, LogicalPlan};

use crate::functions::kernel::Kernel;
use crate::functions::kernel_call;
use crate::relation::Relation;

/// So many projections in a row may become one.
const MERGED: usize = 32;

/// How many nodes a plan has; a plan on top of another has more.
pub(crate) fn nodes(plan: &LogicalPlan) -> usize {
    each(plan).count()
}

/// Whether a projection in a plan gives a field of this name.
pub(crate) fn names_field(plan: &LogicalPlan, name: &str) -> bool {
    each(plan).any(|plan| match plan {
        LogicalPlan::Projection(projection) => {
            let mut fields = projection.schema.fields().iter();
            fields.any(|field| field.name() == name)
        }
        _ => false,
    })
}

/// Every node of a plan, without recursion, which a deep plan is not fit for.
fn each(plan: &LogicalPlan) -> impl Iterator<Item = &LogicalPlan> {
    let mut open = vec![plan];
    std::iter::from_fn(move || {
        let plan = open.pop()?;
        open.extend(plan.inputs());
        Some(plan)
    })
}

/// Whether the projection that goes on top of `plan` is the last of so many.
pub(crate) fn ends_a_piece(plan: &LogicalPlan) -> bool {
    (length(plan) + 1).is_multiple_of(MERGED)
}

/// How many projections stand on top of one another.
fn length(plan: &LogicalPlan) -> usize {
    let (mut plan, mut length) = (plan, 0);
    while let LogicalPlan::Projection(projection) = plan {
        (plan, length) = (projection.input.as_ref(), length + 1);
    }
    length
}

/// `expr` with every column used twice.
///
/// DataFusion makes one projection of a chain of them, and writes its ever longer expressions out for every part of them:
/// some hundreds of `extend x = x + 1` would be planned for minutes. It lets two projections be where a column that one
/// computes is used twice in the next.
pub(crate) fn kept_apart(expr: PlanExpr, input: &Relation) -> Result<PlanExpr> {
    let twice = expr.transform_up(|expr| {
        let PlanExpr::Column(column) = &expr else {
            return Ok(Transformed::no(expr));
        };
        let known = input.columns.iter().find(|c| c.field == column.name);
        let Some(kind) = known.map(|c| c.kind) else {
            return Ok(Transformed::no(expr));
        };
        let args = vec![expr.clone(), expr];
        let first: Kernel = |args| args.full(0);
        Ok(Transformed::yes(kernel_call(
            "$apart",
            first,
            args,
            vec![kind; 2],
            kind,
            false,
        )))
    });
    twice.map(|transformed| transformed.data)
}
