//! `* has "x"`: at least one column matches (`docs/semantics.md §15.2, §23.4`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{BinaryOp, Expr};
use hindsight_kql_types::ScalarType;

use super::binder::Binder;
use super::logic::balanced;
use crate::convert::convert;
use crate::error::BindResult;
use crate::plan::visible;
use crate::relation::{Relation, Scalar};

impl Binder<'_> {
    /// `* op right`. A text operator tests the string and dynamic columns; an equality tests the columns whose type is
    /// comparable with `right`. A negated operator holds if no column matches.
    pub(crate) fn bind_any_column(
        &mut self,
        op: BinaryOp,
        right: &Expr,
        input: &Relation,
        span: Span,
    ) -> BindResult<Scalar> {
        let right = self.bind_scalar(right, input)?;
        let (positive, negated) = positive(op);
        let mut parts = Vec::new();
        for column in visible(input) {
            let value = match (positive, column.kind) {
                (BinaryOp::Equal, _) => column.scalar(),
                (_, ScalarType::String | ScalarType::Dynamic) => {
                    convert(column.scalar(), ScalarType::String)
                }
                _ => continue,
            };
            if let Ok(test) = self.apply_binary(positive, value, right.clone(), span) {
                parts.push(datafusion::logical_expr::Expr::IsTrue(Box::new(test.expr)));
            }
        }
        if parts.is_empty() {
            parts.push(datafusion::logical_expr::lit(false));
        }
        let any = balanced(parts, BinaryOp::Or);
        let expr = if negated {
            datafusion::logical_expr::Expr::Not(Box::new(any))
        } else {
            any
        };
        Ok(Scalar::new(expr, ScalarType::Bool))
    }
}

/// The positive form of an operator, and whether `op` negates it.
fn positive(op: BinaryOp) -> (BinaryOp, bool) {
    use BinaryOp as B;
    let positive = match op {
        B::NotEqual => B::Equal,
        B::NotEqualIgnoreCase => B::EqualIgnoreCase,
        B::NotHas => B::Has,
        B::NotHasCs => B::HasCs,
        B::NotHasPrefix => B::HasPrefix,
        B::NotHasPrefixCs => B::HasPrefixCs,
        B::NotHasSuffix => B::HasSuffix,
        B::NotHasSuffixCs => B::HasSuffixCs,
        B::NotContains => B::Contains,
        B::NotContainsCs => B::ContainsCs,
        B::NotStartsWith => B::StartsWith,
        B::NotStartsWithCs => B::StartsWithCs,
        B::NotEndsWith => B::EndsWith,
        B::NotEndsWithCs => B::EndsWithCs,
        other => return (other, false),
    };
    (positive, true)
}
