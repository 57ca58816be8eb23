//! Conversions between KQL values and the Arrow scalars of plans.

use datafusion::common::ScalarValue;
use hindsight_kql_types::{DECIMAL_SCALE, ScalarType, Value};

/// The Arrow scalar of a value.
pub fn value_to_scalar(value: &Value) -> ScalarValue {
    match value {
        Value::Null(kind) => null_scalar(*kind),
        Value::Bool(v) => ScalarValue::Boolean(Some(*v)),
        Value::Int(v) => ScalarValue::Int32(Some(*v)),
        Value::Long(v) | Value::DateTime(v) | Value::TimeSpan(v) => ScalarValue::Int64(Some(*v)),
        Value::Real(v) => ScalarValue::Float64(Some(*v)),
        Value::Decimal(v) => ScalarValue::Decimal128(Some(*v), 38, DECIMAL_SCALE),
        Value::String(v) => ScalarValue::Utf8View(Some(v.clone())),
        Value::Guid(v) => ScalarValue::FixedSizeBinary(16, Some(v.to_vec())),
        Value::Dynamic(_) if value.is_null() => null_scalar(ScalarType::Dynamic),
        Value::Dynamic(v) => ScalarValue::BinaryView(Some(v.clone())),
    }
}

/// The Arrow null of a type; `""` for `string`.
pub fn null_scalar(kind: ScalarType) -> ScalarValue {
    match kind {
        ScalarType::String => ScalarValue::Utf8View(Some(String::new())),
        ScalarType::Bool => ScalarValue::Boolean(None),
        ScalarType::Int => ScalarValue::Int32(None),
        ScalarType::Long | ScalarType::DateTime | ScalarType::TimeSpan => ScalarValue::Int64(None),
        ScalarType::Real => ScalarValue::Float64(None),
        ScalarType::Decimal => ScalarValue::Decimal128(None, 38, DECIMAL_SCALE),
        ScalarType::Guid => ScalarValue::FixedSizeBinary(16, None),
        ScalarType::Dynamic => ScalarValue::BinaryView(None),
    }
}

/// The value of an Arrow scalar of type `kind`; `None` if the scalar does not match the type.
pub fn value_from_scalar(scalar: &ScalarValue, kind: ScalarType) -> Option<Value> {
    if scalar.is_null() {
        return Some(Value::null(kind));
    }
    Some(match (kind, scalar) {
        (ScalarType::Bool, ScalarValue::Boolean(Some(v))) => Value::Bool(*v),
        (ScalarType::Int, ScalarValue::Int32(Some(v))) => Value::Int(*v),
        (ScalarType::Long, ScalarValue::Int64(Some(v))) => Value::Long(*v),
        (ScalarType::DateTime, ScalarValue::Int64(Some(v))) => Value::DateTime(*v),
        (ScalarType::TimeSpan, ScalarValue::Int64(Some(v))) => Value::TimeSpan(*v),
        (ScalarType::Real, ScalarValue::Float64(Some(v))) => Value::Real(*v),
        (ScalarType::Decimal, ScalarValue::Decimal128(Some(v), _, DECIMAL_SCALE)) => {
            Value::Decimal(*v)
        }
        (
            ScalarType::String,
            ScalarValue::Utf8View(Some(v))
            | ScalarValue::Utf8(Some(v))
            | ScalarValue::LargeUtf8(Some(v)),
        ) => Value::String(v.clone()),
        (ScalarType::Guid, ScalarValue::FixedSizeBinary(16, Some(v))) => {
            Value::Guid(v.as_slice().try_into().ok()?)
        }
        (ScalarType::Dynamic, ScalarValue::BinaryView(Some(v)) | ScalarValue::Binary(Some(v))) => {
            Value::Dynamic(v.clone())
        }
        _ => return None,
    })
}
