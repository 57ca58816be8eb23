//! The string operators (`docs/semantics.md §6`). A dynamic operand is converted to text.

use datafusion::logical_expr::Expr as PlanExpr;
use hindsight_kql_syntax::ast::BinaryOp;
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{ScalarType, Value};

use super::binder::Binder;
use crate::call::{InnerKernel, kernel_call};
use crate::error::BindResult;
use crate::fold::fold;
use crate::relation::Scalar;
use crate::text_match;

/// The kernel of an operator, and whether it is negated.
struct TextOperator {
    kernel: &'static InnerKernel,
    negated: bool,
    family: Family,
}

/// The operand types that the operator accepts, and the error code of the others.
#[derive(PartialEq)]
enum Family {
    Term,
    Part,
    Equality,
    Regex,
}

fn text_operator(op: BinaryOp) -> Option<TextOperator> {
    use BinaryOp as B;
    use Family::{Equality, Part, Regex, Term};
    let (kernel, negated, family) = match op {
        B::EqualIgnoreCase => (&text_match::EQUALS_FOLDED, false, Equality),
        B::NotEqualIgnoreCase => (&text_match::EQUALS_FOLDED, true, Equality),
        B::Has => (&text_match::HAS, false, Term),
        B::NotHas => (&text_match::HAS, true, Term),
        B::HasCs => (&text_match::HAS_CS, false, Term),
        B::NotHasCs => (&text_match::HAS_CS, true, Term),
        B::HasPrefix => (&text_match::HAS_PREFIX, false, Term),
        B::NotHasPrefix => (&text_match::HAS_PREFIX, true, Term),
        B::HasPrefixCs => (&text_match::HAS_PREFIX_CS, false, Term),
        B::NotHasPrefixCs => (&text_match::HAS_PREFIX_CS, true, Term),
        B::HasSuffix => (&text_match::HAS_SUFFIX, false, Term),
        B::NotHasSuffix => (&text_match::HAS_SUFFIX, true, Term),
        B::HasSuffixCs => (&text_match::HAS_SUFFIX_CS, false, Term),
        B::NotHasSuffixCs => (&text_match::HAS_SUFFIX_CS, true, Term),
        B::Contains => (&text_match::CONTAINS, false, Part),
        B::NotContains => (&text_match::CONTAINS, true, Part),
        B::ContainsCs => (&text_match::CONTAINS_CS, false, Part),
        B::NotContainsCs => (&text_match::CONTAINS_CS, true, Part),
        B::StartsWith => (&text_match::STARTS_WITH, false, Part),
        B::NotStartsWith => (&text_match::STARTS_WITH, true, Part),
        B::StartsWithCs => (&text_match::STARTS_WITH_CS, false, Part),
        B::NotStartsWithCs => (&text_match::STARTS_WITH_CS, true, Part),
        B::EndsWith => (&text_match::ENDS_WITH, false, Part),
        B::NotEndsWith => (&text_match::ENDS_WITH, true, Part),
        B::EndsWithCs => (&text_match::ENDS_WITH_CS, false, Part),
        B::NotEndsWithCs => (&text_match::ENDS_WITH_CS, true, Part),
        B::MatchesRegex => (&text_match::MATCHES_REGEX, false, Regex),
        _ => return None,
    };
    Some(TextOperator {
        kernel,
        negated,
        family,
    })
}

impl Binder<'_> {
    /// Returns the string operator of `op`; `None` if it is another operator.
    pub(crate) fn bind_text_operator(
        &self,
        op: BinaryOp,
        left: Scalar,
        right: Scalar,
        span: Span,
    ) -> BindResult<Option<Scalar>> {
        let Some(operator) = text_operator(op) else {
            return Ok(None);
        };
        self.check_text(op, &operator, &left, &right, span)?;
        let constant = left.constant.is_some() && right.constant.is_some();
        let kinds = vec![left.kind, right.kind];
        let args = vec![left.expr, right.expr];
        let call = kernel_call(operator.kernel, args, kinds, ScalarType::Bool);
        let expr = if operator.negated {
            PlanExpr::Not(Box::new(call))
        } else {
            call
        };
        Ok(Some(fold(Scalar::new(expr, ScalarType::Bool), constant)))
    }

    fn check_text(
        &self,
        op: BinaryOp,
        operator: &TextOperator,
        left: &Scalar,
        right: &Scalar,
        span: Span,
    ) -> BindResult<()> {
        let text = |s: &Scalar| matches!(s.kind, ScalarType::String | ScalarType::Dynamic);
        if operator.family == Family::Term && right.kind != ScalarType::String {
            let message = format!("'{}' operator requires string arguments", op.spelling());
            return Err(self.error(Code::Semantics, message, span));
        }
        if !text(left) || !text(right) {
            let (side, kind) = if text(left) {
                ("right", right.kind)
            } else {
                ("left", left.kind)
            };
            let code = match operator.family {
                Family::Equality => Code::TextEqualityOfOtherType,
                _ => Code::NotText,
            };
            let message = format!(
                "the operator '{}' needs string operands and the {side} one is {kind}",
                op.spelling()
            );
            return Err(self.error(code, message, span));
        }
        if let (Family::Regex, Some(Value::String(pattern))) = (&operator.family, &right.constant) {
            text_match::compile(pattern)
                .map_err(|e| self.error(Code::RegularExpression, e.to_string(), span))?;
        }
        Ok(())
    }
}
