//! The arguments of a kernel: whole Arrow arrays with KQL types; a constant is an array of one row.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryViewArray, BinaryViewBuilder, BooleanArray, Decimal128Array,
    FixedSizeBinaryArray, Float64Array, Int64Array, StringViewArray, StringViewBuilder,
};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use hindsight_kql_types::{ScalarType, decimal};

use super::error::KernelError;
use super::limits::{CallLimits, SMALL_RESULT};
use super::text::to_text;

/// The arguments of one call over one batch.
pub struct KernelArgs<'a> {
    arrays: &'a [(ArrayRef, bool)],
    kinds: &'a [ScalarType],
    rows: usize,
    result: ScalarType,
    limits: CallLimits,
}

/// The kernel of a scalar function. The result has [`KernelArgs::rows`] rows and the Arrow type of
/// [`KernelArgs::result_kind`].
pub type Kernel = fn(&KernelArgs<'_>) -> Result<ArrayRef, KernelError>;

impl<'a> KernelArgs<'a> {
    /// Arguments as `(array, is_constant)`; a constant array has one row.
    pub fn new(
        arrays: &'a [(ArrayRef, bool)],
        kinds: &'a [ScalarType],
        rows: usize,
        result: ScalarType,
    ) -> KernelArgs<'a> {
        KernelArgs {
            arrays,
            kinds,
            rows,
            result,
            limits: CallLimits::new(rows),
        }
    }

    /// The limits of the call. Loops over the parts of one large value check `should_continue`; functions whose result can
    /// be far larger than their arguments check `allows_length`.
    pub(crate) fn limits(&self) -> &CallLimits {
        &self.limits
    }

    /// The number of rows of the result.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of arguments.
    pub fn len(&self) -> usize {
        self.arrays.len()
    }

    /// Whether the call has no arguments.
    pub fn is_empty(&self) -> bool {
        self.arrays.is_empty()
    }

    /// The KQL type of argument `index`.
    pub fn kind(&self, index: usize) -> ScalarType {
        self.kinds
            .get(index)
            .copied()
            .unwrap_or(ScalarType::Dynamic)
    }

    /// The KQL type of the result.
    pub fn result_kind(&self) -> ScalarType {
        self.result
    }

    /// Whether argument `index` is one constant for all rows.
    pub fn is_constant(&self, index: usize) -> bool {
        self.arrays
            .get(index)
            .is_some_and(|(_, constant)| *constant)
    }

    /// The array of argument `index` without expansion: one row if it is a constant.
    pub fn array(&self, index: usize) -> Result<&'a ArrayRef, KernelError> {
        self.arrays
            .get(index)
            .map(|(array, _)| array)
            .ok_or_else(|| {
                KernelError::Arrow(format!(
                    "the kernel reads argument {index} of {}",
                    self.arrays.len()
                ))
            })
    }

    fn column<A: Clone + 'static>(
        &self,
        index: usize,
        to: &DataType,
    ) -> Result<Rows<A>, KernelError> {
        let (array, constant) = self.arrays.get(index).ok_or_else(|| {
            KernelError::Arrow(format!(
                "the kernel reads argument {index} of {}",
                self.arrays.len()
            ))
        })?;
        let array = if array.data_type() == to {
            Arc::clone(array)
        } else {
            cast(array, to)?
        };
        let array = array.as_any().downcast_ref::<A>().cloned().ok_or_else(|| {
            KernelError::Arrow(format!(
                "argument {index} is {} and not {to}",
                array.data_type()
            ))
        })?;
        Ok(Rows {
            array,
            constant: *constant,
        })
    }

    /// Argument `index` as an array of [`KernelArgs::rows`] rows, in its own Arrow type.
    pub fn full(&self, index: usize) -> Result<ArrayRef, KernelError> {
        let array = self.array(index)?;
        if !self.is_constant(index) || array.len() == self.rows {
            return Ok(Arc::clone(array));
        }
        let zeros = arrow::array::UInt32Array::from(vec![0; self.rows]);
        Ok(arrow::compute::take(array.as_ref(), &zeros, None)?)
    }

    /// Argument `index` as strings.
    pub fn strings(&self, index: usize) -> Result<Rows<StringViewArray>, KernelError> {
        self.column(index, &DataType::Utf8View)
    }

    /// Argument `index` as 64-bit integers: `int`, `long`, `datetime`, `timespan` (ticks), `bool` (0/1).
    pub fn longs(&self, index: usize) -> Result<Rows<Int64Array>, KernelError> {
        self.column(index, &DataType::Int64)
    }

    /// Argument `index` as doubles: any number, ticks, `bool`.
    pub fn reals(&self, index: usize) -> Result<Rows<Float64Array>, KernelError> {
        self.column(index, &DataType::Float64)
    }

    /// Argument `index` as decimals with the scale of plans: any number.
    pub fn decimals(&self, index: usize) -> Result<Rows<Decimal128Array>, KernelError> {
        self.column(index, &ScalarType::Decimal.arrow())
    }

    /// Argument `index` as bools.
    pub fn bools(&self, index: usize) -> Result<Rows<BooleanArray>, KernelError> {
        self.column(index, &DataType::Boolean)
    }

    /// Argument `index` as dynamics in the encoding of [`hindsight_kql_types::dynamic`].
    pub fn dynamics(&self, index: usize) -> Result<Rows<BinaryViewArray>, KernelError> {
        self.column(index, &DataType::BinaryView)
    }

    /// Argument `index` as guids.
    pub fn guids(&self, index: usize) -> Result<Rows<FixedSizeBinaryArray>, KernelError> {
        self.column(index, &DataType::FixedSizeBinary(16))
    }

    /// A string column; `None` becomes `""`, because strings are never null.
    pub fn collect_strings<'s>(
        &self,
        mut f: impl FnMut(usize) -> Option<Cow<'s, str>>,
    ) -> ArrayRef {
        let mut out = StringViewBuilder::with_capacity(self.rows);
        for row in 0..self.rows {
            let text = if self.limits.begin_row() {
                f(row)
            } else {
                None
            };
            let text = text.as_deref().unwrap_or("");
            if self.limits.allows_length(text.len()) && self.limits.grow(text.len()) {
                out.append_value(text)
            } else {
                out.append_value("")
            }
        }
        Arc::new(out.finish())
    }

    /// A column of 64-bit integers (`long`, `datetime`, `timespan`).
    pub fn collect_longs(&self, f: impl FnMut(usize) -> Option<i64>) -> ArrayRef {
        Arc::new(self.each_row(f).collect::<Int64Array>())
    }

    /// A column of 32-bit integers (`int`).
    pub fn collect_ints(&self, f: impl FnMut(usize) -> Option<i32>) -> ArrayRef {
        Arc::new(self.each_row(f).collect::<arrow::array::Int32Array>())
    }

    /// A column of doubles.
    pub fn collect_reals(&self, f: impl FnMut(usize) -> Option<f64>) -> ArrayRef {
        Arc::new(self.each_row(f).collect::<Float64Array>())
    }

    /// A column of decimals with the scale of plans; values beyond 38 digits are null.
    pub fn collect_decimals(&self, mut f: impl FnMut(usize) -> Option<i128>) -> ArrayRef {
        let values = self.each_row(|row| decimal::checked(f(row)?));
        let values = values.collect::<Decimal128Array>();
        Arc::new(values.with_data_type(ScalarType::Decimal.arrow()))
    }

    /// A column of bools.
    pub fn collect_bools(&self, f: impl FnMut(usize) -> Option<bool>) -> ArrayRef {
        Arc::new(self.each_row(f).collect::<BooleanArray>())
    }

    /// The results of `f` for all rows; null from the row at which the query is cancelled.
    fn each_row<T>(
        &self,
        mut f: impl FnMut(usize) -> Option<T>,
    ) -> impl Iterator<Item = Option<T>> {
        (0..self.rows).map(move |row| {
            if self.limits.begin_row() {
                f(row)
            } else {
                None
            }
        })
    }

    /// A column of bools without nulls.
    pub fn collect_truths(&self, mut f: impl FnMut(usize) -> bool) -> ArrayRef {
        let values = arrow::buffer::BooleanBuffer::collect_bool(self.rows, |row| {
            self.limits.begin_row() && f(row)
        });
        Arc::new(BooleanArray::new(values, None))
    }

    /// A dynamic column: `f` appends the encoded value to the buffer and returns whether the row has a value.
    pub fn collect_dynamics(&self, mut f: impl FnMut(usize, &mut Vec<u8>) -> bool) -> ArrayRef {
        let mut out = BinaryViewBuilder::with_capacity(self.rows);
        let mut buffer = Vec::new();
        for row in 0..self.rows {
            buffer.clear();
            let is_value = self.limits.begin_row() && f(row, &mut buffer);
            // An encoder returns no bytes for a value beyond its limit.
            if is_value && buffer.is_empty() {
                self.limits.no_value();
            }
            if !(is_value && !buffer.is_empty() && self.limits.grow(buffer.len())) {
                out.append_null();
            } else if buffer.len() > SMALL_RESULT {
                out.append_value(std::mem::take(&mut buffer));
            } else {
                out.append_value(&buffer);
            }
        }
        Arc::new(out.finish())
    }

    /// The text of an argument of any type (`tostring`) in each row.
    pub fn texts(&self, index: usize) -> Result<Rows<StringViewArray>, KernelError> {
        let (array, constant) = self.arrays.get(index).ok_or_else(|| {
            KernelError::Arrow(format!(
                "the kernel reads argument {index} of {}",
                self.arrays.len()
            ))
        })?;
        let text = to_text(array, self.kind(index))?;
        Ok(Rows {
            array: text,
            constant: *constant,
        })
    }
}

/// One argument, accessed by row; a constant returns its single value for every row.
#[derive(Debug, Clone)]
pub struct Rows<A> {
    array: A,
    constant: bool,
}

impl<A: Array> Rows<A> {
    /// The array itself.
    pub fn array(&self) -> &A {
        &self.array
    }

    /// Whether the array is one value for all rows.
    pub fn is_constant(&self) -> bool {
        self.constant
    }

    fn index(&self, row: usize) -> Option<usize> {
        let index = if self.constant { 0 } else { row };
        (index < self.array.len() && self.array.is_valid(index)).then_some(index)
    }
}

impl Rows<StringViewArray> {
    /// The text in `row`; null, which does not occur in a plan's strings, is read as `""`.
    pub fn get(&self, row: usize) -> &str {
        self.index(row).map_or("", |i| self.array.value(i))
    }
}

macro_rules! primitive_rows {
    ($($array:ty => $value:ty),*) => {$(
        impl Rows<$array> {
            /// The value in `row`; `None` if it is null.
            pub fn get(&self, row: usize) -> Option<$value> {
                self.index(row).map(|i| self.array.value(i))
            }
        }
    )*};
}

primitive_rows!(Int64Array => i64, Float64Array => f64, BooleanArray => bool, Decimal128Array => i128);

impl Rows<BinaryViewArray> {
    /// The encoded value in `row`; `None` if it is null.
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        self.index(row).map(|i| self.array.value(i))
    }
}

impl Rows<FixedSizeBinaryArray> {
    /// The 16 bytes in `row`; `None` if it is null.
    pub fn get(&self, row: usize) -> Option<&[u8]> {
        self.index(row).map(|i| self.array.value(i))
    }
}
