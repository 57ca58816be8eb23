//! Chains of projections of which no two are equal.
//!
//! DataFusion 55.2 merges two equal projections in a row into one, even if they compute: `x + 1 AS x` twice is evaluated
//! once. Projections also become equal when the optimiser merges several (`x + 1`, then `x * x`, and both again), and
//! adjacent when it moves the nodes between them. So a column that is computed or renamed gets a field that no projection
//! below it has.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{Expr as PlanExpr, LogicalPlan};

use crate::call::{InnerKernel, kernel_call};
use crate::relation::Relation;

/// The maximum number of adjacent projections that DataFusion may merge.
const MAX_MERGED_PROJECTIONS: usize = 32;

/// The number of nodes of a plan. A plan with another node on top has more.
pub(crate) fn nodes(plan: &LogicalPlan) -> usize {
    each(plan).count()
}

/// Whether a projection in a plan has an output field of this name.
pub(crate) fn names_field(plan: &LogicalPlan, name: &str) -> bool {
    each(plan).any(|plan| match plan {
        LogicalPlan::Projection(projection) => {
            let mut fields = projection.schema.fields().iter();
            fields.any(|field| field.name() == name)
        }
        _ => false,
    })
}

/// Every node of a plan. Iterative, because plans may be deep.
fn each(plan: &LogicalPlan) -> impl Iterator<Item = &LogicalPlan> {
    let mut open = vec![plan];
    std::iter::from_fn(move || {
        let plan = open.pop()?;
        open.extend(plan.inputs());
        Some(plan)
    })
}

/// Whether the projection on top of `plan` is the last of a chain of [`MAX_MERGED_PROJECTIONS`].
pub(crate) fn ends_merged_chain(plan: &LogicalPlan) -> bool {
    (length(plan) + 1).is_multiple_of(MAX_MERGED_PROJECTIONS)
}

/// The number of adjacent projections on top of the plan.
fn length(plan: &LogicalPlan) -> usize {
    let (mut plan, mut length) = (plan, 0);
    while let LogicalPlan::Projection(projection) = plan {
        (plan, length) = (projection.input.as_ref(), length + 1);
    }
    length
}

/// `expr` with every column used twice.
///
/// DataFusion merges a chain of projections and expands the ever longer expressions for each of them: planning some hundreds
/// of `extend x = x + 1` would take minutes. It does not merge two projections if the upper one uses a column twice that the
/// lower one computes.
pub(crate) fn without_merging(expr: PlanExpr, input: &Relation) -> Result<PlanExpr> {
    let twice = expr.transform_up(|expr| {
        let PlanExpr::Column(column) = &expr else {
            return Ok(Transformed::no(expr));
        };
        let known = input.columns.iter().find(|c| c.field == column.name);
        let Some(kind) = known.map(|c| c.kind) else {
            return Ok(Transformed::no(expr));
        };
        let args = vec![expr.clone(), expr];
        let value = kernel_call(&NOT_MERGED, args, vec![kind; 2], kind);
        Ok(Transformed::yes(value))
    });
    twice.map(|transformed| transformed.data)
}

pub(crate) static NOT_MERGED: InnerKernel = InnerKernel::new("$apart", |args| args.full(0));

#[cfg(test)]
mod tests {
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;
    use datafusion::execution::context::SessionContext;
    use datafusion::logical_expr::{LogicalPlanBuilder, col, lit};

    /// If the result is 3, the correction is no longer needed.
    #[tokio::test]
    async fn datafusion_merges_two_equal_projections() {
        let one = LogicalPlanBuilder::empty(true).project([lit(1_i64).alias("x")]);
        let twice = (0..2).fold(one, |plan, _| {
            plan?.project([(col("x") + lit(1_i64)).alias("x")])
        });
        let plan = twice.and_then(LogicalPlanBuilder::build).expect("a plan");
        let context = SessionContext::new();
        let frame = context
            .execute_logical_plan(plan)
            .await
            .expect("it is planned");
        let batches = frame.collect().await.expect("it runs");
        let x = batches[0].column(0).as_primitive::<Int64Type>().value(0);
        assert_eq!(x, 2);
    }
}
