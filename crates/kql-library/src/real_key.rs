//! Reals as keys: equal ones have the same bits.

use std::sync::Arc;

use arrow::array::Float64Array;

use arrow::array::ArrayRef;
use datafusion::logical_expr::Expr;
use hindsight_kql_types::ScalarType;

use crate::call::{InnerKernel, kernel_call};
use crate::kernel::{KernelArgs, KernelError};

/// A value as a key of a group, a join or an order; the engine compares those by their bits. Of reals every NaN is one
/// value, although the processor decides whether that of `0.0 / 0.0` has a sign, and `-0.0` is `0.0`.
pub fn as_key(value: Expr, kind: ScalarType) -> Expr {
    match kind {
        ScalarType::Real => kernel_call(&REAL_KEY, vec![value], vec![kind], kind),
        _ => value,
    }
}

static REAL_KEY: InnerKernel = InnerKernel::new("$real_key", real_key);

fn real_key(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let values: Float64Array = args.reals(0)?.array().unary(one_form);
    Ok(Arc::new(values))
}

fn one_form(value: f64) -> f64 {
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
        let same = |a: f64, b: f64| one_form(a).to_bits() == one_form(b).to_bits();
        assert!(same(f64::NAN, -f64::NAN));
        assert!(same(0.0, -0.0));
        assert!(same(f64::NEG_INFINITY, f64::NEG_INFINITY));
        assert!(!same(f64::NEG_INFINITY, f64::INFINITY));
        assert!(!same(f64::NAN, f64::INFINITY));
    }
}
