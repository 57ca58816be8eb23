//! Comparisons (`docs/semantics.md §5.1, §5.2`): promotion, literals, nulls, NaN.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Expr as PlanExpr, Operator, binary_expr, lit, when};
use hindsight_kql_syntax::ast::{BinaryOp, Expr};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{ScalarType, Value};

use super::binder::Binder;
use super::comparison::Comparison;
use super::volatile::{volatile_between, volatile_equality};
use crate::call::kernel_call;
use crate::convert::{convert, widest};
use crate::error::{BindResult, planned};
use crate::fold::fold;
use crate::relation::{Relation, Scalar};

/// Two operands after promotion: both of one type, or a dynamic on the left and a value of another type on the right.
struct Pair {
    left: Scalar,
    right: Scalar,
    comparison: Comparison,
    /// One side was text and is converted to the other's type: a null on that side is text that does not convert (`D27`).
    converted_text: bool,
}

/// The operands of a comparison after promotion.
enum Promoted {
    /// Operands that have a common type.
    Pair(Pair),
    /// Operands of an equality between types without a conversion, `guid` and `long`: values of such types are unequal.
    Unequal(Scalar, Scalar),
}

impl Binder<'_> {
    /// Binds `left op right` as a value, three-valued if KQL defines it so.
    pub(crate) fn compare(
        &self,
        comparison: Comparison,
        left: Scalar,
        right: Scalar,
        span: Span,
    ) -> BindResult<Scalar> {
        let constant = left.constant.is_some() && right.constant.is_some();
        let pair = match self.promote(comparison, left, right, span)? {
            Promoted::Pair(pair) => pair,
            Promoted::Unequal(left, right) => {
                return Ok(fold(unequal(comparison, left, right, span)?, constant));
            }
        };
        let plain = plain(&pair);
        let expr = if comparison.is_equality() {
            equality_nulls(plain, &pair, span)?
        } else {
            plain
        };
        Ok(fold(Scalar::new(expr, ScalarType::Bool), constant))
    }

    /// Binds `left op right` in a filter: an expression that is true for the same rows, preferably one that supports pruning.
    pub(crate) fn compare_in_filter(
        &self,
        comparison: Comparison,
        left: Scalar,
        right: Scalar,
        span: Span,
    ) -> BindResult<PlanExpr> {
        if left.constant.is_some() && right.constant.is_some() {
            return Ok(self.compare(comparison, left, right, span)?.expr);
        }
        let pair = match self.promote(comparison, left, right, span)? {
            Promoted::Pair(pair) => pair,
            Promoted::Unequal(left, right) => {
                return Ok(unequal(comparison, left, right, span)?.expr);
            }
        };
        if pair.left.kind == ScalarType::Real
            && let Some(expr) = real_against_constant(&pair)
        {
            return Ok(expr);
        }
        if pair.comparison != Comparison::NotEqual || pair.left.kind == ScalarType::String {
            return Ok(plain(&pair));
        }
        let known = |s: &Scalar| s.constant.as_ref().is_some_and(|v| !v.is_null());
        match matches!(pair.left.kind, ScalarType::Real | ScalarType::Dynamic) {
            false if pair.converted_text => equality_nulls(plain(&pair), &pair, span),
            false if known(&pair.left) || known(&pair.right) => Ok(binary_expr(
                pair.left.expr,
                Operator::IsDistinctFrom,
                pair.right.expr,
            )),
            _ => equality_nulls(plain(&pair), &pair, span),
        }
    }

    fn promote(
        &self,
        comparison: Comparison,
        left: Scalar,
        right: Scalar,
        span: Span,
    ) -> BindResult<Promoted> {
        let pair = |left, right| {
            Ok(Promoted::Pair(Pair {
                left,
                right,
                comparison,
                converted_text: false,
            }))
        };
        let (l, r) = (left.kind, right.kind);
        if l == ScalarType::Dynamic && r == ScalarType::Dynamic {
            let message = "Cannot compare dynamic values without explicit cast";
            return Err(self.error(Code::Semantics, message, span));
        }
        if l == r {
            return match l {
                ScalarType::String | ScalarType::Guid if !comparison.is_equality() => {
                    Err(self.incomparable(l, r, span))
                }
                _ => pair(left, right),
            };
        }
        if l == ScalarType::Dynamic || r == ScalarType::Dynamic {
            return self.promote_dynamic(comparison, left, right, span);
        }
        if let (Some(a), Some(b)) = (number_of(l), number_of(r))
            && let Some(kind) = widest(a, b)
            && (comparison.is_equality() || !(is_time(l) || is_time(r)))
        {
            return pair(
                convert(convert(left, a), kind),
                convert(convert(right, b), kind),
            );
        }
        // Only equality has a meaning for the other pairs; an order comparison needs an explicit cast.
        if !comparison.is_equality() {
            return Err(self.incomparable(l, r, span));
        }
        let text = |left, right| {
            Ok(Promoted::Pair(Pair {
                left,
                right,
                comparison,
                converted_text: true,
            }))
        };
        match (l, r) {
            (ScalarType::String, _) => text(convert(left, r), right),
            (_, ScalarType::String) => text(left, convert(right, l)),
            _ => Ok(Promoted::Unequal(left, right)),
        }
    }

    /// A dynamic is compared with a string as text; with any other type it must hold a value of that type. Only numbers,
    /// datetimes and timespans have an order beside a dynamic (`docs/semantics.md §5.2`).
    fn promote_dynamic(
        &self,
        comparison: Comparison,
        left: Scalar,
        right: Scalar,
        span: Span,
    ) -> BindResult<Promoted> {
        let on_left = left.kind == ScalarType::Dynamic;
        let other = if on_left { right.kind } else { left.kind };
        if !(comparison.is_equality() || other.is_number() || is_time(other)) {
            return Err(self.incomparable(left.kind, right.kind, span));
        }
        let (left, right, comparison) = match other {
            ScalarType::String => (
                convert(left, ScalarType::String),
                convert(right, ScalarType::String),
                comparison,
            ),
            _ if on_left => (left, right, comparison),
            _ => (right, left, comparison.flipped()),
        };
        // A dynamic holds no decimal: its numbers are longs and reals.
        let right = if other == ScalarType::Decimal {
            convert(right, ScalarType::Real)
        } else {
            right
        };
        Ok(Promoted::Pair(Pair {
            left,
            right,
            comparison,
            converted_text: false,
        }))
    }

    fn incomparable(
        &self,
        l: ScalarType,
        r: ScalarType,
        span: Span,
    ) -> hindsight_kql_syntax::Diagnostic {
        self.error(
            Code::Incomparable,
            format!("Cannot compare values of types {l} and {r}. Try adding explicit casts"),
            span,
        )
    }

    /// `value [!]between (low .. high)`; `in_filter` permits an expression that supports pruning.
    #[allow(clippy::too_many_arguments, reason = "the parts of one syntax node")]
    pub(crate) fn bind_between(
        &mut self,
        negated: bool,
        value: &Expr,
        low: &Expr,
        high: &Expr,
        input: &Relation,
        span: Span,
        in_filter: bool,
    ) -> BindResult<Scalar> {
        let (value, (low, mut high)) = self.both(
            |binder| binder.bind_scalar(value, input),
            |binder| binder.bind_both(low, high, input),
        )?;
        let kinds = (value.kind, low.kind, high.kind);
        let operator = if negated { "!between" } else { "between" };
        if matches!(
            value.kind,
            ScalarType::String | ScalarType::Dynamic | ScalarType::Guid
        ) {
            let message = format!(
                "'{operator}' cannot be applied to a value of type {}",
                value.kind
            );
            return Err(self.error(Code::UnorderedBetween, message, span));
        }
        let is_bool = |kind| kind == ScalarType::Bool;
        if [low.kind, high.kind]
            .iter()
            .any(|kind| is_bool(*kind) != is_bool(value.kind))
        {
            let message = "the bounds of between do not fit its value";
            return Err(self.error(Code::BetweenValue, message, span));
        }
        if let (ScalarType::DateTime, ScalarType::DateTime, ScalarType::TimeSpan) = kinds {
            high = self.arithmetic(BinaryOp::Add, low.clone(), high, span)?;
        } else if high.kind == ScalarType::TimeSpan && value.kind != ScalarType::TimeSpan {
            let message = format!(
                "the bounds of '{operator}' are {} and {} and do not fit its value of type {}",
                low.kind, high.kind, value.kind
            );
            return Err(self.error(Code::BetweenValue, message, span));
        } else if low.kind == ScalarType::TimeSpan && high.kind == ScalarType::DateTime {
            let message = format!(
                "the bounds of '{operator}' are {} and {} and do not fit each other",
                low.kind, high.kind
            );
            return Err(self.error(Code::BetweenBounds, message, span));
        }
        let volatile = value.expr.is_volatile();
        if in_filter && !negated && !volatile {
            let from =
                self.compare_in_filter(Comparison::GreaterOrEqual, value.clone(), low, span)?;
            let to = self.compare_in_filter(Comparison::LessOrEqual, value, high, span)?;
            return Ok(Scalar::new(from.and(to), ScalarType::Bool));
        }
        if volatile {
            // This only checks that the bounds are comparable with the value.
            self.compare(Comparison::GreaterOrEqual, value.clone(), low.clone(), span)?;
            self.compare(Comparison::LessOrEqual, value.clone(), high.clone(), span)?;
            return volatile_between(self, negated, value, low, high, span);
        }
        let constant = [&value, &low, &high].iter().all(|s| s.constant.is_some());
        let nulls = [&value, &low, &high].map(|s| s.expr.clone().is_null());
        let from = self.compare(Comparison::GreaterOrEqual, value.clone(), low, span)?;
        let to = self.compare(Comparison::LessOrEqual, value, high, span)?;
        let inside = from.expr.and(to.expr);
        let inside = if negated {
            PlanExpr::Not(Box::new(inside))
        } else {
            inside
        };
        let [a, b, c] = nulls;
        // The result is null if any operand is null, even if the other bound alone decides the comparison.
        let expr = planned(
            when(a.or(b).or(c), lit(ScalarValue::Boolean(None))).otherwise(inside),
            span,
        )?;
        Ok(fold(Scalar::new(expr, ScalarType::Bool), constant))
    }
}

/// The numeric type that values of `kind` are compared in: a bool is 0 or 1, a datetime or timespan its ticks. `None` if the type
/// has no number.
fn number_of(kind: ScalarType) -> Option<ScalarType> {
    match kind {
        ScalarType::Bool | ScalarType::DateTime | ScalarType::TimeSpan => Some(ScalarType::Long),
        kind => kind.is_number().then_some(kind),
    }
}

fn is_time(kind: ScalarType) -> bool {
    matches!(kind, ScalarType::DateTime | ScalarType::TimeSpan)
}

/// The equality of operands whose types have no conversion: false, and null if both are null.
fn unequal(comparison: Comparison, left: Scalar, right: Scalar, span: Span) -> BindResult<Scalar> {
    let both_null = left.expr.is_null().and(right.expr.is_null());
    let result = lit(comparison == Comparison::NotEqual);
    let expr = planned(
        when(both_null, lit(ScalarValue::Boolean(None))).otherwise(result),
        span,
    )?;
    Ok(Scalar::new(expr, ScalarType::Bool))
}

/// A comparison that is null if an operand is null.
fn plain(pair: &Pair) -> PlanExpr {
    let (left, right) = (pair.left.clone(), pair.right.clone());
    let kernel = match pair.left.kind {
        ScalarType::Real => pair.comparison.real_kernel(),
        ScalarType::Dynamic => pair.comparison.dynamic_kernel(),
        _ => return binary_expr(left.expr, pair.comparison.operator(), right.expr),
    };
    let kinds = vec![left.kind, right.kind];
    kernel_call(kernel, vec![left.expr, right.expr], kinds, ScalarType::Bool)
}

/// An equality with one null operand is false (an inequality true); with two it is null.
fn equality_nulls(plain: PlanExpr, pair: &Pair, span: Span) -> BindResult<PlanExpr> {
    let kind = pair.left.kind;
    if kind == ScalarType::String {
        return Ok(plain);
    }
    let unequal = pair.comparison == Comparison::NotEqual;
    let known = |s: &Scalar| s.constant.as_ref().is_some_and(|v| !v.is_null());
    if pair.converted_text || known(&pair.left) || known(&pair.right) {
        return Ok(if unequal {
            PlanExpr::IsNotFalse(Box::new(plain))
        } else {
            PlanExpr::IsTrue(Box::new(plain))
        });
    }
    if pair.left.expr.is_volatile() || pair.right.expr.is_volatile() {
        return Ok(volatile_equality(
            pair.left.clone(),
            pair.right.clone(),
            unequal,
        ));
    }
    let (a, b) = (
        pair.left.expr.clone().is_null(),
        pair.right.expr.clone().is_null(),
    );
    planned(
        when(binary_expr(a, Operator::Eq, b), plain).otherwise(lit(unequal)),
        span,
    )
}

/// Arrow orders NaN above all numbers and -0 below 0, so a plain comparison needs additional bounds.
fn real_against_constant(pair: &Pair) -> Option<PlanExpr> {
    let (column, constant, comparison) = match (&pair.left.constant, &pair.right.constant) {
        (None, Some(Value::Real(c))) => (&pair.left, *c, pair.comparison),
        (Some(Value::Real(c)), None) => (&pair.right, *c, pair.comparison.flipped()),
        _ => return None,
    };
    // A volatile expression would be evaluated once for each bound.
    if constant.is_nan() || column.expr.is_volatile() {
        return None;
    }
    let column = || column.expr.clone();
    let zero = |sign: f64| if constant == 0.0 { sign } else { constant };
    let op = |operator, value: f64| binary_expr(column(), operator, lit(value));
    Some(match comparison {
        Comparison::Equal if constant == 0.0 => {
            op(Operator::GtEq, -0.0).and(op(Operator::LtEq, 0.0))
        }
        Comparison::Equal => op(Operator::Eq, constant),
        Comparison::NotEqual => return None,
        Comparison::Less => op(Operator::Lt, zero(-0.0)).and(op(Operator::GtEq, f64::NEG_INFINITY)),
        Comparison::LessOrEqual => {
            op(Operator::LtEq, zero(0.0)).and(op(Operator::GtEq, f64::NEG_INFINITY))
        }
        Comparison::Greater => op(Operator::Gt, zero(0.0)).and(op(Operator::LtEq, f64::INFINITY)),
        Comparison::GreaterOrEqual => {
            op(Operator::GtEq, zero(-0.0)).and(op(Operator::LtEq, f64::INFINITY))
        }
    })
}
