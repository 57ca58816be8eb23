//! Converts cells of any type to elements of dynamic values, as the packing functions store them (`docs/semantics.md §9.1`).

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BooleanArray, Decimal128Array, FixedSizeBinaryArray,
    Float64Array, Int32Array, Int64Array, StringViewArray,
};
use arrow::compute::cast;
use arrow::datatypes::{Decimal128Type, Float64Type, Int32Type, Int64Type};
use arrow::error::ArrowError;
use hindsight_kql_types::{DynamicRef, Encoder, ScalarType, Value};

enum Column {
    Bools(BooleanArray),
    Ints(Int32Array),
    Longs(Int64Array),
    Reals(Float64Array),
    Decimals(Decimal128Array),
    Strings(StringViewArray),
    Guids(FixedSizeBinaryArray),
    Dynamics(BinaryViewArray),
}

/// A column whose cells are converted to dynamic values.
pub(crate) struct Cells {
    kind: ScalarType,
    column: Column,
}

impl Cells {
    /// The cells of `array`, which holds values of `kind`.
    pub(crate) fn new(array: &ArrayRef, kind: ScalarType) -> Result<Cells, ArrowError> {
        let array = if *array.data_type() == kind.arrow() {
            ArrayRef::clone(array)
        } else {
            cast(array, &kind.arrow())?
        };
        let column = match kind {
            ScalarType::Bool => Column::Bools(array.as_boolean().clone()),
            ScalarType::Int => Column::Ints(array.as_primitive::<Int32Type>().clone()),
            ScalarType::Long | ScalarType::DateTime | ScalarType::TimeSpan => {
                Column::Longs(array.as_primitive::<Int64Type>().clone())
            }
            ScalarType::Real => Column::Reals(array.as_primitive::<Float64Type>().clone()),
            ScalarType::Decimal => Column::Decimals(array.as_primitive::<Decimal128Type>().clone()),
            ScalarType::String => Column::Strings(array.as_string_view().clone()),
            ScalarType::Guid => Column::Guids(array.as_fixed_size_binary().clone()),
            ScalarType::Dynamic => Column::Dynamics(array.as_binary_view().clone()),
        };
        Ok(Cells { kind, column })
    }

    fn array(&self) -> &dyn Array {
        match &self.column {
            Column::Bools(a) => a,
            Column::Ints(a) => a,
            Column::Longs(a) => a,
            Column::Reals(a) => a,
            Column::Decimals(a) => a,
            Column::Strings(a) => a,
            Column::Guids(a) => a,
            Column::Dynamics(a) => a,
        }
    }

    /// Whether the cell is null; a string is never null.
    pub(crate) fn is_null(&self, row: usize) -> bool {
        let array = self.array();
        self.kind != ScalarType::String && (row >= array.len() || array.is_null(row))
    }

    /// Whether the cell is null or `""`.
    pub(crate) fn is_empty(&self, row: usize) -> bool {
        match &self.column {
            Column::Strings(a) => row >= a.len() || a.is_null(row) || a.value(row).is_empty(),
            _ => self.is_null(row),
        }
    }

    /// The dynamic in `row` if the column is dynamic; null otherwise.
    pub(crate) fn dynamic(&self, row: usize) -> DynamicRef<'_> {
        match &self.column {
            Column::Dynamics(a) if !self.is_null(row) => DynamicRef::new(a.value(row)),
            _ => DynamicRef::NULL,
        }
    }

    /// The value in `row`.
    pub(crate) fn value(&self, row: usize) -> Value {
        if row >= self.array().len() || self.array().is_null(row) {
            return Value::null(self.kind);
        }
        match (&self.column, self.kind) {
            (Column::Bools(a), _) => Value::Bool(a.value(row)),
            (Column::Ints(a), _) => Value::Int(a.value(row)),
            (Column::Longs(a), ScalarType::DateTime) => Value::DateTime(a.value(row)),
            (Column::Longs(a), ScalarType::TimeSpan) => Value::TimeSpan(a.value(row)),
            (Column::Longs(a), _) => Value::Long(a.value(row)),
            (Column::Reals(a), _) => Value::Real(a.value(row)),
            (Column::Decimals(a), _) => Value::Decimal(a.value(row)),
            (Column::Strings(a), _) => Value::String(a.value(row).to_owned()),
            (Column::Guids(a), _) => a
                .value(row)
                .try_into()
                .map_or(Value::Null(ScalarType::Guid), Value::Guid),
            (Column::Dynamics(a), _) => Value::Dynamic(a.value(row).to_vec()),
        }
    }

    /// Writes the cell as an element.
    pub(crate) fn pack(&self, row: usize, encoder: &mut Encoder) {
        match &self.column {
            _ if self.is_null(row) => encoder.null(),
            Column::Strings(a) if row < a.len() && a.is_valid(row) => encoder.string(a.value(row)),
            Column::Dynamics(a) => encoder.dynamic(DynamicRef::new(a.value(row))),
            _ => self.value(row).pack(encoder),
        }
    }
}
