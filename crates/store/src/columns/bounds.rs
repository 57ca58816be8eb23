//! The bounds of time that a predicate sets, as it stands while a query runs.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{
    BinaryExpr, Column, DynamicFilterPhysicalExpr, IsNullExpr, Literal,
};

use crate::schema::TIMESTAMP;
use crate::time_range::TimeRange;

/// The times that rows can have for which a predicate is true now: a dynamic filter narrows them while the query runs. Predicates of other forms than
/// comparisons with a constant permit all.
pub(super) fn bounds_of(expr: &dyn PhysicalExpr) -> TimeRange {
    if let Some(dynamic) = expr.downcast_ref::<DynamicFilterPhysicalExpr>() {
        return dynamic
            .current()
            .map_or(TimeRange::ALL, |current| bounds_of(current.as_ref()));
    }
    let Some(binary) = expr.downcast_ref::<BinaryExpr>() else {
        return TimeRange::ALL;
    };
    let (left, right) = (binary.left().as_ref(), binary.right().as_ref());
    match binary.op() {
        Operator::And => bounds_of(left).and(bounds_of(right)),
        // A dynamic filter admits nulls; a timestamp is never null.
        Operator::Or if is_null_time(left) => bounds_of(right),
        Operator::Or if is_null_time(right) => bounds_of(left),
        op => match (is_time(left), ticks(right), ticks(left), is_time(right)) {
            (true, Some(ticks), _, _) => TimeRange::ALL.compared(*op, ticks),
            (_, _, Some(ticks), true) => op
                .swap()
                .map_or(TimeRange::ALL, |op| TimeRange::ALL.compared(op, ticks)),
            _ => TimeRange::ALL,
        },
    }
}

fn is_time(expr: &dyn PhysicalExpr) -> bool {
    expr.downcast_ref::<Column>()
        .is_some_and(|column| column.name() == TIMESTAMP)
}

fn is_null_time(expr: &dyn PhysicalExpr) -> bool {
    expr.downcast_ref::<IsNullExpr>()
        .is_some_and(|null| is_time(null.arg().as_ref()))
}

fn ticks(expr: &dyn PhysicalExpr) -> Option<i64> {
    match expr.downcast_ref::<Literal>()?.value() {
        ScalarValue::Int64(ticks) => *ticks,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::datatypes::{DataType, Field, Schema};
    use datafusion::common::ToDFSchema;
    use datafusion::execution::context::ExecutionProps;
    use datafusion::logical_expr::Expr;
    use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
    use datafusion::physical_expr::create_physical_expr;
    use datafusion::prelude::{col, lit};

    use super::*;

    fn bounds(predicate: Expr) -> (i64, i64) {
        let fields = vec![
            Field::new(TIMESTAMP, DataType::Int64, true),
            Field::new("other", DataType::Int64, true),
        ];
        let schema = Arc::new(Schema::new(fields))
            .to_dfschema()
            .expect("a schema");
        let (props, context) = (ExecutionProps::new(), PhysicalPlanningContext::default());
        let expr = create_physical_expr(&predicate, &schema, &props, &context).expect("planned");
        let TimeRange { from, to } = bounds_of(expr.as_ref());
        (from, to)
    }

    #[test]
    fn comparisons_with_constants_set_bounds() {
        let time = || col(TIMESTAMP);
        let all = (i64::MIN, i64::MAX);
        assert_eq!(bounds(time().gt(lit(5i64))), (6, i64::MAX));
        assert_eq!(bounds(lit(5i64).gt(time())), (i64::MIN, 4));
        assert_eq!(
            bounds(time().gt_eq(lit(5i64)).and(time().lt_eq(lit(9i64)))),
            (5, 9)
        );
        assert_eq!(bounds(time().eq(lit(7i64))), (7, 7));
        assert_eq!(
            bounds(time().is_null().or(time().gt(lit(5i64)))),
            (6, i64::MAX)
        );
        assert_eq!(bounds(time().gt(lit(5i64)).or(time().lt(lit(2i64)))), all);
        assert_eq!(bounds(col("other").gt(lit(5i64))), all);
        assert_eq!(bounds(time().not_eq(lit(5i64))), all);
    }
}
