//! `between` for a value that chance is a part of: it is computed once for both bounds.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::compute::and;
use arrow::compute::kernels::cmp::{gt_eq, lt_eq};
use datafusion::logical_expr::Expr as PlanExpr;
use hindsight_kql_syntax::Span;
use hindsight_kql_types::ScalarType;

use super::convert::{convert, widest};
use super::{BindResult, Binder};
use crate::functions::kernel::{KernelArgs, KernelError};
use crate::functions::kernel_call;
use crate::relation::Scalar;

/// `value [!]between (low .. high)` of operands that can be compared.
pub(super) fn between_once(
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
    let inside = kernel_call(
        "$between",
        between,
        args.into(),
        vec![kind; 3],
        ScalarType::Bool,
        false,
    );
    let expr = match negated {
        true => PlanExpr::Not(Box::new(inside)),
        false => inside,
    };
    Ok(Scalar::new(expr, ScalarType::Bool))
}

/// Null where an operand is.
fn between(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    if args.kind(0) == ScalarType::Real {
        let (value, low, high) = (args.reals(0)?, args.reals(1)?, args.reals(2)?);
        // Nothing is beside NaN, which Arrow would put above all numbers.
        return Ok(args.collect_bools(|row| {
            Some((low.get(row)?..=high.get(row)?).contains(&value.get(row)?))
        }));
    }
    let [value, low, high] = [args.full(0)?, args.full(1)?, args.full(2)?];
    let (above, below) = (gt_eq(&value, &low)?, lt_eq(&value, &high)?);
    Ok(Arc::new(and(&above, &below)?))
}
