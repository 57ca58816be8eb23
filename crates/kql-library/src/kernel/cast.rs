//! Casts of arrays to the Arrow types of the language's numbers.

use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type, Int32Type, Int64Type};
use hindsight_kql_types::ScalarType;

use super::error::KernelError;

/// `array` as decimals with the scale of plans.
pub fn decimals(array: &ArrayRef) -> Result<arrow::array::Decimal128Array, KernelError> {
    let array = cast(array, &ScalarType::Decimal.arrow())?;
    Ok(array.as_primitive::<Decimal128Type>().clone())
}

/// `array` as 32-bit integers.
pub fn ints(array: &ArrayRef) -> Result<arrow::array::Int32Array, KernelError> {
    Ok(cast(array, &DataType::Int32)?
        .as_primitive::<Int32Type>()
        .clone())
}

/// `array` as 64-bit integers.
pub fn longs(array: &ArrayRef) -> Result<Int64Array, KernelError> {
    Ok(cast(array, &DataType::Int64)?
        .as_primitive::<Int64Type>()
        .clone())
}
