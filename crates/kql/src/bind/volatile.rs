//! Comparisons of volatile expressions: such an expression is evaluated once, however often the comparison reads it.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::and;
use arrow::compute::kernels::cmp::{eq, gt_eq, lt_eq};
use datafusion::logical_expr::Expr as PlanExpr;
use hindsight_kql_syntax::Span;
use hindsight_kql_types::ScalarType;

use super::binder::Binder;
use super::comparison::{Comparison, dynamics, reals};
use crate::call::{InnerKernel, kernel_call};
use crate::convert::{convert, widest};
use crate::error::BindResult;
use crate::kernel::{KernelArgs, KernelError};
use crate::relation::Scalar;

/// `value [!]between (low .. high)` for comparable operands.
pub(super) fn volatile_between(
    binder: &Binder<'_>,
    negated: bool,
    value: Scalar,
    low: Scalar,
    high: Scalar,
    span: Span,
) -> BindResult<Scalar> {
    let common = |a: ScalarType, b: ScalarType| if a == b { Some(a) } else { widest(a, b) };
    let kind = common(value.kind, low.kind).and_then(|kind| common(kind, high.kind));
    let Some(kind) = kind else {
        return Err(binder.unsupported("a random value between bounds of other types", span));
    };
    let args = [value, low, high].map(|operand| convert(operand, kind).expr);
    let inside = kernel_call(&BETWEEN, args.into(), vec![kind; 3], ScalarType::Bool);
    let expr = if negated {
        PlanExpr::Not(Box::new(inside))
    } else {
        inside
    };
    Ok(Scalar::new(expr, ScalarType::Bool))
}

pub(crate) static BETWEEN: InnerKernel = InnerKernel::new("$between", between);

/// Null if an operand is null.
fn between(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    if args.kind(0) == ScalarType::Real {
        let (value, low, high) = (args.reals(0)?, args.reals(1)?, args.reals(2)?);
        // NaN is unordered, while Arrow orders it above all numbers.
        return Ok(args.collect_bools(|row| {
            Some((low.get(row)?..=high.get(row)?).contains(&value.get(row)?))
        }));
    }
    let [value, low, high] = [args.full(0)?, args.full(1)?, args.full(2)?];
    let (above, below) = (gt_eq(&value, &low)?, lt_eq(&value, &high)?);
    Ok(Arc::new(and(&above, &below)?))
}

/// `left == right`, or `!=`, for operands of one type or with a dynamic on the left.
pub(super) fn volatile_equality(left: Scalar, right: Scalar, unequal: bool) -> PlanExpr {
    let kernel = if unequal { &UNEQUAL } else { &EQUAL };
    let kinds = vec![left.kind, right.kind];
    let args = vec![left.expr, right.expr];
    kernel_call(kernel, args, kinds, ScalarType::Bool)
}

pub(crate) static EQUAL: InnerKernel = InnerKernel::new("$equal", |args| equal(args, false));
pub(crate) static UNEQUAL: InnerKernel = InnerKernel::new("$unequal", |args| equal(args, true));

/// An equality with one null operand is false, with two it is null.
fn equal(args: &KernelArgs<'_>, unequal: bool) -> Result<ArrayRef, KernelError> {
    let (left, right) = (args.full(0)?, args.full(1)?);
    let same = match args.kind(0) {
        ScalarType::Real => reals(args, Comparison::Equal)?,
        ScalarType::Dynamic => dynamics(args, Comparison::Equal)?,
        _ => Arc::new(eq(&left, &right)?),
    };
    let same = same.as_boolean();
    Ok(args.collect_bools(|row| {
        let same = match (left.is_null(row), right.is_null(row)) {
            (true, true) => return None,
            (false, false) => same.is_valid(row) && same.value(row),
            _ => false,
        };
        Some(same != unequal)
    }))
}
