//! The elements of series as numbers.

use hindsight_kql_types::{DynamicRef, Encoder, Value};

use crate::dynamic::rows::Row;

/// One element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    /// An integer.
    Long(i64),
    /// A double.
    Real(f64),
}

impl Number {
    /// The number in a dynamic; `None` for null and for a value that is not a number.
    pub(crate) fn of(value: DynamicRef<'_>) -> Option<Number> {
        value
            .as_i64()
            .map(Number::Long)
            .or_else(|| value.as_f64().map(Number::Real))
    }

    /// The number as a double.
    pub(crate) fn real(self) -> f64 {
        match self {
            Number::Long(value) => value as f64,
            Number::Real(value) => value,
        }
    }

    /// Writes the number as an element.
    pub(crate) fn write(self, encoder: &mut Encoder) {
        match self {
            Number::Long(value) => encoder.long(value),
            Number::Real(value) => encoder.real(value),
        }
    }
}

/// The elements of a series; `None` if the argument is not an array.
pub(crate) fn series(row: Row<'_>, index: usize) -> Option<Vec<Option<Number>>> {
    let array = row.array(index)?;
    Some(array.into_iter().map(Number::of).collect())
}

/// The elements of a series without missing values, as doubles; `None` if an element is not a number.
pub(crate) fn reals(row: Row<'_>, index: usize) -> Option<Vec<f64>> {
    series(row, index)?
        .into_iter()
        .map(|element| element.map(Number::real))
        .collect()
}

/// A scalar operand that applies to every element: any numeric type, or a dynamic that holds a number.
pub(crate) fn scalar(row: Row<'_>, index: usize) -> Option<Number> {
    match row.value(index)? {
        Value::Int(value) => Some(Number::Long(value.into())),
        Value::Long(value) => Some(Number::Long(value)),
        Value::Real(value) => Some(Number::Real(value)),
        Value::Dynamic(bytes) => Number::of(DynamicRef::new(&bytes)),
        _ => None,
    }
}

/// Writes elements; a missing value is null.
pub(crate) fn write(elements: impl IntoIterator<Item = Option<Number>>, encoder: &mut Encoder) {
    encoder.begin_array();
    for element in elements {
        match element {
            Some(number) => number.write(encoder),
            None => encoder.null(),
        }
    }
    encoder.end();
}

/// The pairs of elements of two series, up to the longer length; a scalar operand is paired with every element.
pub(crate) fn pairs(row: Row<'_>) -> Option<Vec<(Option<Number>, Option<Number>)>> {
    let (left, right) = (series(row, 0), series(row, 1));
    let (left, right) = match (left, right) {
        (Some(left), Some(right)) => (left, right),
        (Some(left), None) => {
            let right = vec![Some(scalar(row, 1)?); left.len()];
            (left, right)
        }
        (None, Some(right)) => (vec![Some(scalar(row, 0)?); right.len()], right),
        (None, None) => return None,
    };
    let length = left.len().max(right.len());
    let at = |series: &[Option<Number>], index: usize| series.get(index).copied().flatten();
    Some((0..length).map(|i| (at(&left, i), at(&right, i))).collect())
}

/// Writes an array of doubles.
pub(crate) fn write_reals(values: &[f64], encoder: &mut Encoder) {
    write(values.iter().map(|x| Some(Number::Real(*x))), encoder);
}
