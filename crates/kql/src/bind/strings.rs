//! The operators over text (`semantics.md §6`). A dynamic stands for its text.

use datafusion::logical_expr::Expr as PlanExpr;
use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::BinaryOp;
use hindsight_kql_types::{ScalarType, Value};

use super::binder::Binder;
use crate::error::BindResult;
use crate::fold::fold;
use crate::functions::kernel::Kernel;
use crate::functions::kernel_call;
use crate::functions::text_match::{Test, compile, matches_regex, run};
use crate::relation::Scalar;

/// How an operator tests, and whether it is the negated form.
struct TextOperator {
    name: &'static str,
    kernel: Kernel,
    negated: bool,
    family: Family,
}

/// Which operands are refused with which code.
#[derive(PartialEq)]
enum Family {
    Term,
    Part,
    Equality,
    Regex,
}

macro_rules! text_operator {
    ($test:ident, $sensitive:expr, $negated:expr, $family:ident) => {
        TextOperator {
            name: concat!("$", stringify!($test), stringify!($sensitive)),
            kernel: |args| run(args, Test::$test, $sensitive),
            negated: $negated,
            family: Family::$family,
        }
    };
}

fn text_operator(op: BinaryOp) -> Option<TextOperator> {
    use BinaryOp as B;
    Some(match op {
        B::EqualIgnoreCase => text_operator!(Equals, false, false, Equality),
        B::NotEqualIgnoreCase => text_operator!(Equals, false, true, Equality),
        B::Has => text_operator!(Has, false, false, Term),
        B::NotHas => text_operator!(Has, false, true, Term),
        B::HasCs => text_operator!(Has, true, false, Term),
        B::NotHasCs => text_operator!(Has, true, true, Term),
        B::HasPrefix => text_operator!(HasPrefix, false, false, Term),
        B::NotHasPrefix => text_operator!(HasPrefix, false, true, Term),
        B::HasPrefixCs => text_operator!(HasPrefix, true, false, Term),
        B::NotHasPrefixCs => text_operator!(HasPrefix, true, true, Term),
        B::HasSuffix => text_operator!(HasSuffix, false, false, Term),
        B::NotHasSuffix => text_operator!(HasSuffix, false, true, Term),
        B::HasSuffixCs => text_operator!(HasSuffix, true, false, Term),
        B::NotHasSuffixCs => text_operator!(HasSuffix, true, true, Term),
        B::Contains => text_operator!(Contains, false, false, Part),
        B::NotContains => text_operator!(Contains, false, true, Part),
        B::ContainsCs => text_operator!(Contains, true, false, Part),
        B::NotContainsCs => text_operator!(Contains, true, true, Part),
        B::StartsWith => text_operator!(StartsWith, false, false, Part),
        B::NotStartsWith => text_operator!(StartsWith, false, true, Part),
        B::StartsWithCs => text_operator!(StartsWith, true, false, Part),
        B::NotStartsWithCs => text_operator!(StartsWith, true, true, Part),
        B::EndsWith => text_operator!(EndsWith, false, false, Part),
        B::NotEndsWith => text_operator!(EndsWith, false, true, Part),
        B::EndsWithCs => text_operator!(EndsWith, true, false, Part),
        B::NotEndsWithCs => text_operator!(EndsWith, true, true, Part),
        B::MatchesRegex => TextOperator {
            name: "$matches_regex",
            kernel: matches_regex,
            negated: false,
            family: Family::Regex,
        },
        _ => return None,
    })
}

impl Binder<'_> {
    /// An operator over text; `None` where `op` is none.
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
        self.check_text(&operator, &left, &right, span)?;
        let constant = left.constant.is_some() && right.constant.is_some();
        let kinds = vec![left.kind, right.kind];
        let args = vec![left.expr, right.expr];
        let call = kernel_call(
            operator.name,
            operator.kernel,
            args,
            kinds,
            ScalarType::Bool,
            false,
        );
        let expr = match operator.negated {
            true => PlanExpr::Not(Box::new(call)),
            false => call,
        };
        Ok(Some(fold(Scalar::new(expr, ScalarType::Bool), constant)))
    }

    fn check_text(
        &self,
        operator: &TextOperator,
        left: &Scalar,
        right: &Scalar,
        span: Span,
    ) -> BindResult<()> {
        let text = |s: &Scalar| matches!(s.kind, ScalarType::String | ScalarType::Dynamic);
        if operator.family == Family::Term && right.kind != ScalarType::String {
            return Err(self.error("SEM0001", "'has' operator requires string arguments", span));
        }
        if !text(left) || !text(right) {
            let kind = if text(left) { right.kind } else { left.kind };
            let code = match operator.family {
                Family::Equality => "SEM0065",
                _ => "SEM0709",
            };
            let message = format!("the operator needs string operands and got {kind}");
            return Err(self.error(code, message, span));
        }
        if let (Family::Regex, Some(Value::String(pattern))) = (&operator.family, &right.constant) {
            compile(pattern).map_err(|e| self.error("SEM0420", e.to_string(), span))?;
        }
        Ok(())
    }
}
