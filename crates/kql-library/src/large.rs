//! Large literals.
//!
//! DataFusion 55.2 formats every byte of a literal each time it names a column, and dozens of optimizer rules name columns:
//! a plan with a list of a million values takes seconds to plan. A large value is therefore represented by a call that
//! returns it. The call cannot be evaluated during binding and logical optimization, so that no rule folds it into a
//! literal. It becomes evaluable when the plan becomes physical.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, ScalarValue};
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::logical_expr::expr::{Placeholder, ScalarFunction};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature,
    Volatility,
};
use xxhash_rust::xxh64::xxh64;

use crate::work::CancellationToken;

/// Values of more than this number of bytes are replaced by calls.
const LARGE: usize = 4096;

/// The prefix of the id of the placeholder that is the argument of a large value's call.
const PLACEHOLDER_PREFIX: &str = "$large-";

/// The expression for a constant value.
pub fn literal(value: ScalarValue) -> Expr {
    if bytes(&value).len() <= LARGE {
        return Expr::Literal(value, None);
    }
    let digest = xxh64(bytes(&value), 0);
    // Optimizer rules fold calls with constant arguments, but not calls with placeholders. Each value has its own
    // placeholder, so that the placeholder is never a common subexpression of two values.
    let field = Arc::new(Field::new("", DataType::Null, true));
    let placeholder = Expr::Placeholder(Placeholder::new_with_field(
        format!("{PLACEHOLDER_PREFIX}{digest:x}"),
        Some(field),
    ));
    function(value, digest).call(vec![placeholder])
}

fn function(value: ScalarValue, digest: u64) -> ScalarUDF {
    let reservation = CancellationToken::current().reservation("constant");
    if let Some(reservation) = &reservation {
        // The value exists already. If it exceeds the memory of queries, the next reservation fails.
        reservation.grow(bytes(&value).len());
    }
    ScalarUDF::new_from_impl(LargeValue {
        value: Arc::new(value),
        digest,
        _reservation: reservation,
        signature: Signature::one_of(
            vec![TypeSignature::Any(1), TypeSignature::Nullary],
            Volatility::Immutable,
        ),
    })
}

/// The DataFusion function that returns a large value.
pub(crate) fn large_function(value: ScalarValue) -> ScalarUDF {
    let digest = xxh64(bytes(&value), 0);
    function(value, digest)
}

/// The value that a DataFusion function returns; `None` if it is another function.
pub(crate) fn large_value(function: &ScalarUDF) -> Option<&ScalarValue> {
    let large = function.inner().downcast_ref::<LargeValue>()?;
    Some(&large.value)
}

/// The bytes of a value that may be large.
fn bytes(value: &ScalarValue) -> &[u8] {
    match value {
        ScalarValue::BinaryView(Some(bytes)) => bytes.as_slice(),
        ScalarValue::Utf8View(Some(text)) => text.as_bytes(),
        _ => &[],
    }
}

/// `expr` with every large value replaced by its literal.
pub fn in_place(expr: Expr) -> Result<Expr> {
    let replaced = expr.transform_up(|expr| {
        Ok(match value_of(&expr) {
            Some(value) => Transformed::yes(Expr::Literal(value.clone(), None)),
            None => Transformed::no(expr),
        })
    });
    replaced.map(|transformed| transformed.data)
}

/// `expr` with the placeholders of large values removed, so that their calls can be evaluated.
pub fn evaluable(expr: Expr) -> Result<Expr> {
    let replaced = expr.transform_up(|expr| {
        Ok(match (value_of(&expr).is_some(), expr) {
            (true, Expr::ScalarFunction(call)) => Transformed::yes(call.func.call(Vec::new())),
            (_, expr) => Transformed::no(expr),
        })
    });
    replaced.map(|transformed| transformed.data)
}

/// Whether `expr` is the placeholder of a step's value, not that of a large value.
pub fn waits(expr: &Expr) -> bool {
    matches!(expr, Expr::Placeholder(placeholder) if !placeholder.id.starts_with(PLACEHOLDER_PREFIX))
}

/// Whether `expr` represents a large value.
pub fn is_large(expr: &Expr) -> bool {
    value_of(expr).is_some()
}

fn value_of(expr: &Expr) -> Option<&ScalarValue> {
    let Expr::ScalarFunction(ScalarFunction { func, .. }) = expr else {
        return None;
    };
    large_value(func)
}

/// A function that returns its value.
#[derive(Debug)]
struct LargeValue {
    value: Arc<ScalarValue>,
    /// The hash of the value's bytes.
    digest: u64,
    signature: Signature,
    _reservation: Option<MemoryReservation>,
}

impl PartialEq for LargeValue {
    fn eq(&self, other: &LargeValue) -> bool {
        self.digest == other.digest
            && (Arc::ptr_eq(&self.value, &other.value) || self.value == other.value)
    }
}

impl Eq for LargeValue {}

impl Hash for LargeValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

impl ScalarUDFImpl for LargeValue {
    fn name(&self) -> &str {
        "$large"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.value.data_type())
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(ColumnarValue::Scalar(self.value.as_ref().clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_value_is_a_literal() {
        let small = ScalarValue::BinaryView(Some(vec![7; 10]));
        assert_eq!(literal(small.clone()), Expr::Literal(small, None));
    }

    #[test]
    fn large_values_are_distinct_expressions() {
        let value = |byte| literal(ScalarValue::BinaryView(Some(vec![byte; 10_000])));
        let expr = value(1);
        assert_eq!(expr, expr.clone());
        assert_ne!(expr, value(2));
    }
}
