//! Constant folding: evaluates expressions without columns during binding.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::Schema;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::Expr as PlanExpr;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::physical_expr::create_physical_expr;
use hindsight_kql_types::{ScalarType, Value};

use crate::datafusion::large_literal as large;
use crate::relation::Scalar;
use crate::value::{value_from_scalar, value_to_scalar};

/// The value of an expression without columns; `None` if it is known only during execution, or if its evaluation fails (the
/// query then fails during execution, with that message).
fn evaluate(expr: &PlanExpr, kind: ScalarType) -> Option<Value> {
    let schema = DFSchema::empty();
    let physical = create_physical_expr(
        &large::in_place(expr.clone()).ok()?,
        &schema,
        &ExecutionProps::new(),
        &PhysicalPlanningContext::default(),
    )
    .ok()?;
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let batch =
        RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options).ok()?;
    let value = physical.evaluate(&batch).ok()?.into_array(1).ok()?;
    value_from_scalar(&ScalarValue::try_from_array(&value, 0).ok()?, kind)
}

/// `scalar` as a constant, if its operands are constants.
pub(crate) fn fold(scalar: Scalar, constant_parts: bool) -> Scalar {
    if !constant_parts || scalar.constant.is_some() {
        return scalar;
    }
    match evaluate(&scalar.expr, scalar.kind) {
        Some(value) => Scalar {
            expr: large::literal(value_to_scalar(&value)),
            kind: scalar.kind,
            constant: Some(value),
        },
        None => scalar,
    }
}
