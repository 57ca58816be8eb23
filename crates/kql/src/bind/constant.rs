//! Values that are known while binding, and folding.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::Schema;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::Expr as PlanExpr;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::physical_expr::create_physical_expr;
use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::Expr;
use hindsight_kql_types::{ScalarType, Value};

use super::{BindResult, Binder, plan_error, value_from_scalar, value_to_scalar};
use crate::datafusion::large_literal as large;
use crate::relation::{Relation, Scalar};

/// The value of an expression without columns; `None` where it has one only when the query runs, or where its
/// evaluation fails (the query then fails when it runs, with that message).
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

/// `scalar` as a constant, where the parts it was made of are constants.
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

impl Binder<'_> {
    /// The value of an expression that must be a constant: a literal, or what folds from literals.
    pub(crate) fn bind_constant(&mut self, expr: &Expr) -> BindResult<Value> {
        self.bind_scalar(expr, &Relation::unit())?
            .constant
            .ok_or_else(|| self.error("SEM0040", "the value must be a scalar constant", expr.span))
    }

    /// A constant integer.
    pub(crate) fn constant_long(&mut self, expr: &Expr) -> BindResult<i64> {
        match self.bind_constant(expr)? {
            Value::Int(v) => Ok(i64::from(v)),
            Value::Long(v) => Ok(v),
            other => Err(self.error(
                "SEM0025",
                format!("the value must be an integer and is {}", other.kind()),
                expr.span,
            )),
        }
    }

    /// A constant string.
    pub(crate) fn constant_string(&mut self, expr: &Expr) -> BindResult<String> {
        match self.bind_constant(expr)? {
            Value::String(v) => Ok(v),
            other => Err(self.error(
                "SEM0207",
                format!("the value must be a string literal and is {}", other.kind()),
                expr.span,
            )),
        }
    }

    /// A constant bool.
    pub(crate) fn constant_bool(&mut self, expr: &Expr) -> BindResult<bool> {
        match self.bind_constant(expr)? {
            Value::Bool(v) => Ok(v),
            Value::Long(v) => Ok(v != 0),
            other => Err(self.error(
                "SEM0040",
                format!("the value must be a bool and is {}", other.kind()),
                expr.span,
            )),
        }
    }

    /// The type of an operator's parameter word (`kind=inner`): a bare name or a string.
    pub(crate) fn constant_word(&mut self, expr: &Expr) -> BindResult<String> {
        use hindsight_kql_syntax::ast::ExprKind;
        match &expr.unparenthesised().kind {
            ExprKind::Name(name) => Ok(name.text.clone()),
            _ => self.constant_string(expr),
        }
    }
}

/// `plan_error` where a span is all there is.
pub(crate) fn planned<T>(result: datafusion::common::Result<T>, span: Span) -> BindResult<T> {
    result.map_err(|e| plan_error(e, span))
}
