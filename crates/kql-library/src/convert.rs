//! Implicit conversions: widening, conversion of any type to text, and conversion of literals to the other operand's type.

use std::sync::Arc;

use arrow::array::ArrayRef;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::cast;
use hindsight_kql_types::{
    DynamicRef, ScalarType, Value, datetime, parse_bool, parse_int, parse_long, parse_real,
    timespan,
};

use crate::call::{InnerKernel, kernel_call};
use crate::kernel::{KernelArgs, KernelError};
use crate::scalar::Scalar;
use crate::value::{null_scalar, value_from_scalar, value_to_scalar};

/// Converts `scalar` to `to` as the function `to<type>()` does: null if the conversion fails, never an error.
pub fn convert(scalar: Scalar, to: ScalarType) -> Scalar {
    if scalar.kind == to {
        return scalar;
    }
    if let Some(value) = &scalar.constant {
        return Scalar::constant(value.convert(to));
    }
    let expr = match (scalar.kind, to) {
        (ScalarType::Int, ScalarType::Long)
        | (ScalarType::Int | ScalarType::Long | ScalarType::Decimal, ScalarType::Real)
        | (ScalarType::Int | ScalarType::Long, ScalarType::Decimal)
        | (ScalarType::Bool, ScalarType::Int | ScalarType::Long) => cast(scalar.expr, to.arrow()),
        (ScalarType::DateTime | ScalarType::TimeSpan, ScalarType::Long) => scalar.expr,
        _ => kernel_call(&CONVERT, vec![scalar.expr], vec![scalar.kind], to),
    };
    Scalar::new(expr, to)
}

/// The wider of two numeric types; `None` if one is not numeric.
pub fn widest(a: ScalarType, b: ScalarType) -> Option<ScalarType> {
    let rank = |kind| match kind {
        ScalarType::Int => Some(0),
        ScalarType::Long => Some(1),
        ScalarType::Real => Some(2),
        ScalarType::Decimal => Some(3),
        _ => None,
    };
    Some(if rank(a)? >= rank(b)? { a } else { b })
}

/// An implicit conversion: the result of the function `to<type>()` for the type.
pub static CONVERT: InnerKernel = InnerKernel::new("$convert", convert_kernel);

fn convert_kernel(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    match args.kind(0) {
        _ if args.result_kind() == ScalarType::String => {
            let text = crate::kernel::to_text(&args.full(0)?, args.kind(0))?;
            Ok(Arc::new(text))
        }
        ScalarType::Dynamic => convert_dynamics(args),
        ScalarType::String => convert_texts(args),
        _ => convert_values(args),
    }
}

fn convert_dynamics(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let rows = args.dynamics(0)?;
    let get = |row| rows.get(row).map(DynamicRef::new);
    Ok(match args.result_kind() {
        ScalarType::Bool => args.collect_bools(|row| get(row)?.to_bool()),
        ScalarType::Int => args.collect_ints(|row| get(row)?.to_int()),
        ScalarType::Long => args.collect_longs(|row| get(row)?.to_long()),
        ScalarType::Real => args.collect_reals(|row| get(row)?.to_real()),
        ScalarType::DateTime => args.collect_longs(|row| get(row)?.to_datetime()),
        ScalarType::TimeSpan => args.collect_longs(|row| get(row)?.to_timespan()),
        _ => return convert_values(args),
    })
}

fn convert_texts(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let rows = args.strings(0)?;
    Ok(match args.result_kind() {
        ScalarType::Bool => args.collect_bools(|row| parse_bool(rows.get(row))),
        ScalarType::Int => args.collect_ints(|row| parse_int(rows.get(row))),
        ScalarType::Long => args.collect_longs(|row| parse_long(rows.get(row))),
        ScalarType::Real => args.collect_reals(|row| parse_real(rows.get(row))),
        ScalarType::DateTime => args.collect_longs(|row| datetime::parse(rows.get(row))),
        ScalarType::TimeSpan => args.collect_longs(|row| timespan::parse(rows.get(row))),
        _ => return convert_values(args),
    })
}

/// Any conversion, value by value, for the rare cases.
fn convert_values(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let array = args.array(0)?;
    let (from, to) = (args.kind(0), args.result_kind());
    let values = (0..array.len())
        .map(|row| {
            let scalar = ScalarValue::try_from_array(array, row).ok()?;
            Some(value_from_scalar(&scalar, from)?.convert(to))
        })
        .map(|value| value_to_scalar(&value.unwrap_or_else(|| Value::null(to))))
        .collect::<Vec<_>>();
    let values = if args.is_constant(0) {
        vec![values.into_iter().next().unwrap_or_else(|| null_scalar(to)); args.rows()]
    } else {
        values
    };
    if values.is_empty() {
        Ok(arrow::array::new_empty_array(&to.arrow()))
    } else {
        ScalarValue::iter_to_array(values).map_err(|e| KernelError::Arrow(e.to_string()))
    }
}
