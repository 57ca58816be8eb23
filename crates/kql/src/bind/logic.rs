//! `and`, `or`, `not`: three-valued (`docs/semantics.md §5.3`).

use datafusion::logical_expr::{Expr as PlanExpr, Operator, binary_expr, lit};
use hindsight_kql_syntax::Code;
use hindsight_kql_syntax::ast::{BinaryOp, Expr, ExprKind};
use hindsight_kql_types::ScalarType;

use super::binder::Binder;
use crate::convert::convert;
use crate::error::BindResult;
use crate::fold::fold;
use crate::relation::{Relation, Scalar};

/// The operands of a chain of one operator, in order. Iterative, because chains may be long.
pub(crate) fn operands(expr: &Expr, op: BinaryOp) -> Vec<&Expr> {
    let mut stack = vec![expr];
    let mut out = Vec::new();
    while let Some(next) = stack.pop() {
        match &next.kind {
            ExprKind::Binary { op: o, left, right } if *o == op => {
                stack.push(right);
                stack.push(left);
            }
            ExprKind::Parenthesised(inner) => stack.push(inner),
            _ => out.push(next),
        }
    }
    out
}

/// Joins the operands by `op` in a balanced tree.
pub(crate) fn balanced(mut parts: Vec<PlanExpr>, op: BinaryOp) -> PlanExpr {
    let operator = match op {
        BinaryOp::Or => Operator::Or,
        _ => Operator::And,
    };
    while parts.len() > 1 {
        let mut next = Vec::with_capacity(parts.len().div_ceil(2));
        let mut iter = parts.into_iter();
        while let Some(left) = iter.next() {
            next.push(match iter.next() {
                Some(right) => binary_expr(left, operator, right),
                None => left,
            });
        }
        parts = next;
    }
    parts
        .pop()
        .unwrap_or_else(|| lit(operator == Operator::And))
}

impl Binder<'_> {
    /// Binds a chain of `and` or of `or`.
    pub(crate) fn bind_logic(
        &mut self,
        expr: &Expr,
        op: BinaryOp,
        input: &Relation,
    ) -> BindResult<Scalar> {
        let parts = self.each(operands(expr, op), |binder, part| {
            binder.bind_bool(part, input)
        })?;
        let constant = parts.iter().all(|part| part.constant.is_some());
        let parts = parts.into_iter().map(|part| part.expr).collect();
        Ok(fold(
            Scalar::new(balanced(parts, op), ScalarType::Bool),
            constant,
        ))
    }

    /// Binds an operand of a logical operator: a bool, or a dynamic converted to one.
    pub(crate) fn bind_bool(&mut self, expr: &Expr, input: &Relation) -> BindResult<Scalar> {
        let scalar = self.bind_scalar(expr, input)?;
        match scalar.kind {
            ScalarType::Bool => Ok(scalar),
            ScalarType::Dynamic => Ok(convert(scalar, ScalarType::Bool)),
            other => Err(self.error(
                Code::Semantics,
                format!("expected a bool and got {other}"),
                expr.span,
            )),
        }
    }
}
