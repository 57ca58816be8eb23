//! Predicates of `where`. A filter treats null as false, so comparisons become plain ones that support predicate pushdown and
//! pruning.

use datafusion::logical_expr::Expr as PlanExpr;
use hindsight_kql_syntax::Code;
use hindsight_kql_syntax::ast::{BinaryOp, Expr, ExprKind};
use hindsight_kql_types::ScalarType;

use super::binder::Binder;
use super::logic::balanced;
use crate::error::BindResult;
use crate::relation::Relation;

impl Binder<'_> {
    /// Binds the predicate of a filter. It is true for exactly the rows for which the KQL expression is true.
    pub(crate) fn bind_predicate(&mut self, expr: &Expr, input: &Relation) -> BindResult<PlanExpr> {
        match &expr.kind {
            ExprKind::Parenthesised(inner) => self.bind_predicate(inner, input),
            ExprKind::Binary {
                op: op @ (BinaryOp::And | BinaryOp::Or),
                ..
            } => {
                let operands = super::logic::operands(expr, *op);
                let parts = self.each(operands, |binder, part| binder.bind_operand(part, input))?;
                Ok(balanced(parts, *op))
            }
            ExprKind::Binary { op, left, right } => {
                if let Some(comparison) = super::comparison::Comparison::of(*op) {
                    let (left, right) = self.bind_both(left, right, input)?;
                    if let Some(scalar) =
                        self.equality_of_listed_texts(comparison, &left, &right, input)
                    {
                        return Ok(scalar.expr);
                    }
                    return self.compare_in_filter(comparison, left, right, expr.span);
                }
                self.bind_plain_predicate(expr, input)
            }
            ExprKind::Between {
                negated: false,
                value,
                low,
                high,
            } => Ok(self
                .bind_between(false, value, low, high, input, expr.span, true)?
                .expr),
            _ => self.bind_plain_predicate(expr, input),
        }
    }

    /// An operand of `and` or `or`, which may also be a dynamic.
    fn bind_operand(&mut self, expr: &Expr, input: &Relation) -> BindResult<PlanExpr> {
        match &expr.kind {
            ExprKind::Parenthesised(inner) => self.bind_operand(inner, input),
            ExprKind::Binary { .. } | ExprKind::Between { .. } => self.bind_predicate(expr, input),
            _ => Ok(self.bind_bool(expr, input)?.expr),
        }
    }

    fn bind_plain_predicate(&mut self, expr: &Expr, input: &Relation) -> BindResult<PlanExpr> {
        let scalar = self.bind_scalar(expr, input)?;
        match scalar.kind {
            ScalarType::Bool => Ok(scalar.expr),
            other => Err(self.error(
                Code::Semantics,
                format!("the predicate must be of type bool and is {other}"),
                expr.span,
            )),
        }
    }
}
