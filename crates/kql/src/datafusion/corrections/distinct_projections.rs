//! Chains of projections, no two of which are equal.
//!
//! DataFusion 55.2 takes two equal projections in a row for one, also if they compute: `x + 1 AS x` twice is evaluated once.
//! Projections also become equal when the optimiser merges several (`x + 1`, then `x * x`, and both again), and adjacent when
//! it moves the nodes between them. So a column that is computed or renamed has a field that no projection below it has.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{Expr as PlanExpr, LogicalPlan};

use crate::call::{InnerKernel, kernel_call};
use crate::relation::Relation;

/// At most this many projections in a row are merged.
const MERGED: usize = 32;

/// The number of nodes of a plan; a plan on top of another has more.
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

/// Every node of a plan, without recursion: plans may be deep.
fn each(plan: &LogicalPlan) -> impl Iterator<Item = &LogicalPlan> {
    let mut open = vec![plan];
    std::iter::from_fn(move || {
        let plan = open.pop()?;
        open.extend(plan.inputs());
        Some(plan)
    })
}

/// Whether the projection on top of `plan` is the last of [`MERGED`].
pub(crate) fn ends_a_piece(plan: &LogicalPlan) -> bool {
    (length(plan) + 1).is_multiple_of(MERGED)
}

/// The number of projections on top of one another.
fn length(plan: &LogicalPlan) -> usize {
    let (mut plan, mut length) = (plan, 0);
    while let LogicalPlan::Projection(projection) = plan {
        (plan, length) = (projection.input.as_ref(), length + 1);
    }
    length
}

/// `expr` with every column used twice.
///
/// DataFusion merges a chain of projections, and writes the ever longer expressions out for every part of them: planning some
/// hundreds of `extend x = x + 1` would take minutes. It does not merge two projections if the upper one uses a column twice
/// that the lower one computes.
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
        let apart = kernel_call(&APART, args, vec![kind; 2], kind);
        Ok(Transformed::yes(apart))
    });
    twice.map(|transformed| transformed.data)
}

static APART: InnerKernel = InnerKernel::new("$apart", |args| args.full(0));

#[cfg(test)]
mod tests {
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;
    use datafusion::execution::context::SessionContext;
    use datafusion::logical_expr::{LogicalPlanBuilder, col, lit};

    /// If the answer is 3, the correction is no longer needed.
    #[tokio::test]
    async fn datafusion_takes_two_equal_projections_for_one() {
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
