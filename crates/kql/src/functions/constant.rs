//! Constants in plans.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};

/// Bytes of a value from which on its text is too long to be written at every step of planning.
const LARGE: usize = 256 << 10;

/// The expression of a value.
///
/// The engine names expressions by their text and writes it many times while it plans, without giving way: a literal of
/// some megabytes takes seconds. So a large value is a function without arguments that gives it, under a short name.
pub(crate) fn constant_expr(value: ScalarValue) -> Expr {
    match bytes(&value) {
        Some(bytes) if bytes.len() > LARGE => {
            let mut hasher = DefaultHasher::new();
            bytes.hash(&mut hasher);
            let large = LargeConstant {
                name: format!("$constant_{:016x}_{}", hasher.finish(), bytes.len()),
                value: Arc::new(value),
                // It would be made a literal again if the engine might evaluate it.
                signature: Signature::nullary(Volatility::Volatile),
            };
            ScalarUDF::from(large).call(Vec::new())
        }
        _ => Expr::Literal(value, None),
    }
}

fn bytes(value: &ScalarValue) -> Option<&[u8]> {
    match value {
        ScalarValue::Utf8View(Some(text)) => Some(text.as_bytes()),
        ScalarValue::BinaryView(Some(bytes)) => Some(bytes),
        _ => None,
    }
}

struct LargeConstant {
    /// Tells different values apart.
    name: String,
    value: Arc<ScalarValue>,
    signature: Signature,
}

impl fmt::Debug for LargeConstant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl PartialEq for LargeConstant {
    fn eq(&self, other: &LargeConstant) -> bool {
        self.name == other.name
            && (Arc::ptr_eq(&self.value, &other.value) || self.value == other.value)
    }
}

impl Eq for LargeConstant {}

impl Hash for LargeConstant {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for LargeConstant {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.value.data_type())
    }

    fn return_field_from_args(&self, _: ReturnFieldArgs) -> Result<FieldRef> {
        Ok(Arc::new(Field::new(
            &self.name,
            self.value.data_type(),
            false,
        )))
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(ColumnarValue::Scalar(ScalarValue::clone(&self.value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_value_has_a_short_name() {
        let text = |length: usize| ScalarValue::Utf8View(Some("x".repeat(length)));
        assert!(matches!(constant_expr(text(10)), Expr::Literal(..)));
        let large = constant_expr(text(LARGE + 1));
        assert!(large.to_string().len() < 100 && format!("{large:?}").len() < 500);
        assert_eq!(large, constant_expr(text(LARGE + 1)));
        assert_ne!(large, constant_expr(text(LARGE + 2)));
    }

    #[test]
    fn large_values_are_values_as_others() {
        crate::testing::check(
            "let a = range(1, 300000); let t = strrep('ab', 200000); \
             range x from 1 to 2 step 1 | extend n = array_length(a), l = strlen(t), e = a[x - 1] == x, s = a has '299999' | where t startswith 'ab'",
            "x:long, n:long, l:long, e:bool, s:bool\n1 | 300000 | 400000 | true | true\n2 | 300000 | 400000 | true | true",
        );
        crate::testing::check(
            "let b = toscalar(range i from 1 to 100000 step 1 | summarize make_list(i)); \
             range x from 1 to 2 step 1 | extend n = array_length(b), y = tolong(b[x - 1]) | join kind=inner (range x from 2 to 3 step 1 | where array_length(b) == 100000) on x",
            "x:long, n:long, y:long, x1:long\n2 | 100000 | 2 | 2",
        );
    }
}
