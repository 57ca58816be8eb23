//! Normalizes reals used as keys: equal reals have equal bits.

use std::sync::Arc;

use arrow::array::Float64Array;

use arrow::array::ArrayRef;
use datafusion::logical_expr::Expr;
use hindsight_kql_types::ScalarType;

use crate::call::{InnerKernel, kernel_call};
use crate::kernel::{KernelArgs, KernelError};

/// A value normalized as a key of a group, join or sort; the engine compares such keys by their bits. All NaNs become one
/// NaN, because the sign of `0.0 / 0.0` depends on the processor, and `-0.0` becomes `0.0`.
pub fn as_key(value: Expr, kind: ScalarType) -> Expr {
    match kind {
        ScalarType::Real => kernel_call(&REAL_KEY, vec![value], vec![kind], kind),
        _ => value,
    }
}

/// The kernel of [`as_key`] for reals.
pub static REAL_KEY: InnerKernel = InnerKernel::new("$real_key", real_key);

/// The place of a real in an order that has null and NaN at one end: 0 for null, 1 for NaN, 2 for numbers. DataFusion sorts NaN beyond infinity.
pub fn rank(value: Expr) -> Expr {
    let kinds = vec![ScalarType::Real];
    kernel_call(&REAL_RANK, vec![value], kinds, ScalarType::Int)
}

/// The kernel of [`rank`].
pub static REAL_RANK: InnerKernel = InnerKernel::new("$real_rank", real_rank);

fn real_rank(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let values = args.reals(0)?;
    Ok(args.collect_ints(|row| {
        Some(match values.get(row) {
            None => 0,
            Some(value) if value.is_nan() => 1,
            Some(_) => 2,
        })
    }))
}

fn real_key(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let values: Float64Array = args.reals(0)?.array().unary(normalized);
    Ok(Arc::new(values))
}

fn normalized(value: f64) -> f64 {
    if value.is_nan() {
        f64::NAN
    } else {
        value + 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_reals_have_the_same_bits() {
        let same = |a: f64, b: f64| normalized(a).to_bits() == normalized(b).to_bits();
        assert!(same(f64::NAN, -f64::NAN));
        assert!(same(0.0, -0.0));
        assert!(same(f64::NEG_INFINITY, f64::NEG_INFINITY));
        assert!(!same(f64::NEG_INFINITY, f64::INFINITY));
        assert!(!same(f64::NAN, f64::INFINITY));
    }
}
