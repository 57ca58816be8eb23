//! The argument of a conversion: a value of any type, row by row.

use arrow::array::{
    BinaryViewArray, BooleanArray, Decimal128Array, Float64Array, Int64Array, StringViewArray,
};
use hindsight_kql_types::DynamicRef;

use crate::functions::prelude::*;
use crate::kernel::{Rows, decimals};

/// One value to convert. Guids convert only to text, so they do not appear.
#[derive(Debug, Clone, Copy)]
pub(super) enum From<'a> {
    /// `bool`.
    Bool(bool),
    /// `int`, `long`, and the ticks of `datetime` and `timespan`.
    Long(i64),
    /// `real`.
    Real(f64),
    /// `decimal`, scaled.
    Decimal(i128),
    /// `string`.
    Text(&'a str),
    /// `dynamic`.
    Dynamic(DynamicRef<'a>),
}

/// The argument, downcast once per batch.
pub(super) enum Source {
    Bool(Rows<BooleanArray>),
    Long(Rows<Int64Array>),
    Real(Rows<Float64Array>),
    Decimal(Decimal128Array, bool),
    Text(Rows<StringViewArray>),
    Dynamic(Rows<BinaryViewArray>),
    /// A guid, which has no [`Source`] value.
    None,
}

impl Source {
    /// The first argument.
    pub(super) fn open(args: &KernelArgs<'_>) -> Result<Source, KernelError> {
        Ok(match args.kind(0) {
            ScalarType::Bool => Source::Bool(args.bools(0)?),
            ScalarType::Int | ScalarType::Long | ScalarType::DateTime | ScalarType::TimeSpan => {
                Source::Long(args.longs(0)?)
            }
            ScalarType::Real => Source::Real(args.reals(0)?),
            ScalarType::Decimal => Source::Decimal(decimals(args.array(0)?)?, args.is_constant(0)),
            ScalarType::String => Source::Text(args.strings(0)?),
            ScalarType::Dynamic => Source::Dynamic(args.dynamics(0)?),
            ScalarType::Guid => Source::None,
        })
    }

    /// The value in `row`; `None` if it is null.
    pub(super) fn get(&self, row: usize) -> Option<From<'_>> {
        Some(match self {
            Source::Bool(rows) => From::Bool(rows.get(row)?),
            Source::Long(rows) => From::Long(rows.get(row)?),
            Source::Real(rows) => From::Real(rows.get(row)?),
            Source::Decimal(array, constant) => {
                let row = if *constant { 0 } else { row };
                let valid = row < array.len() && array.is_valid(row);
                From::Decimal(valid.then(|| array.value(row))?)
            }
            Source::Text(rows) => From::Text(rows.get(row)),
            Source::Dynamic(rows) => From::Dynamic(DynamicRef::new(rows.get(row)?)),
            Source::None => return None,
        })
    }
}
