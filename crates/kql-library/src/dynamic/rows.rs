//! Kernels that write one dynamic value per row.

use arrow::array::ArrayRef;
use hindsight_kql_types::dynamic::{ArrayElements, Kind};
use hindsight_kql_types::{DynamicRef, Encoder, ScalarType, Value};

use super::arguments::Arguments;
use super::cells::Cells;
use crate::encoder::encoder;
use crate::kernel::{CallLimits, KernelArgs, KernelError};

/// The working memory that is reserved for each element of an array or bag: a reference to it, and an entry of a set or the numbers
/// that a function makes of it.
const WORKING_PER_ELEMENT: usize = 128;

/// One row of the arguments.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    arguments: &'a Arguments,
    limits: &'a CallLimits,
    row: usize,
}

impl<'a> Row<'a> {
    /// The row index.
    pub(crate) fn number(self) -> usize {
        self.row
    }

    /// The dynamic in argument `index`, which may be null.
    pub(crate) fn dynamic(self, index: usize) -> DynamicRef<'a> {
        self.arguments
            .cell(index, self.row)
            .map_or(DynamicRef::NULL, |(cells, row)| cells.dynamic(row))
    }

    /// The array in argument `index`, whose elements are read in place; `None` for any other value.
    pub(crate) fn elements(self, index: usize) -> Option<ArrayElements<'a>> {
        self.dynamic(index).elements()
    }

    /// The elements of the array in argument `index` as a list; `None` for any other value. The memory of the list, and of as much
    /// again as a function makes of it, is reserved; if that fails, there is no list, and the call fails when it ends.
    pub(crate) fn array(self, index: usize) -> Option<Vec<DynamicRef<'a>>> {
        let elements = self.elements(index)?;
        let mut list = Vec::new();
        if self.allows_elements(elements.len()) {
            list.reserve_exact(elements.len());
            list.extend(elements);
        }
        self.limits.should_continue().then_some(list)
    }

    /// The bag in argument `index`; `None` for any other value. Working memory is reserved as for [`Row::array`].
    pub(crate) fn bag(self, index: usize) -> Option<DynamicRef<'a>> {
        let value = self.dynamic(index);
        (value.kind() == Kind::Bag && self.allows_elements(value.len())).then_some(value)
    }

    fn allows_elements(self, count: usize) -> bool {
        self.limits
            .allows_working(count.saturating_mul(WORKING_PER_ELEMENT))
    }

    /// The value of argument `index`, of any type.
    pub(crate) fn value(self, index: usize) -> Option<Value> {
        let (cells, row) = self.arguments.cell(index, self.row)?;
        Some(cells.value(row))
    }

    /// The integer in argument `index`; `None` if it is null.
    pub(crate) fn long(self, index: usize) -> Option<i64> {
        match self.value(index)?.convert(ScalarType::Long) {
            Value::Long(number) => Some(number),
            _ => None,
        }
    }

    /// The bool in argument `index`; none where it is null or there is no such argument.
    pub(crate) fn bool(self, index: usize) -> Option<bool> {
        match self.value(index)?.convert(ScalarType::Bool) {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The cells of all arguments.
    pub(crate) fn cells(self) -> impl Iterator<Item = (&'a Cells, usize)> {
        self.arguments.row(self.row)
    }

    /// The number of arguments.
    pub(crate) fn len(self) -> usize {
        self.arguments.len()
    }

    /// Argument `index` as one encoded value; `None` if it is too large, and the call then fails.
    pub(crate) fn packed(self, index: usize, encoder: &mut Encoder) -> Option<Vec<u8>> {
        self.pack(index, encoder);
        let bytes = encoder.finish();
        if bytes.is_empty() {
            self.limits.no_value();
            return None;
        }
        Some(bytes)
    }

    /// Writes argument `index` as an element.
    pub(crate) fn pack(self, index: usize, encoder: &mut Encoder) {
        match self.arguments.cell(index, self.row) {
            Some((cells, row)) => cells.pack(row, encoder),
            None => encoder.null(),
        }
    }
}

/// A dynamic column: `write` writes one value and returns `Some`, or returns `None` for null.
pub(crate) fn each(
    args: &KernelArgs<'_>,
    mut write: impl FnMut(Row<'_>, &mut Encoder) -> Option<()>,
) -> Result<ArrayRef, KernelError> {
    let arguments = Arguments::of(args)?;
    let mut encoder = encoder();
    Ok(args.collect_dynamics(|row, out| {
        let row = Row {
            arguments: &arguments,
            limits: args.limits(),
            row,
        };
        match write(row, &mut encoder) {
            Some(()) => {
                encoder.finish_into(out);
                true
            }
            None => {
                encoder.clear();
                false
            }
        }
    }))
}

/// A column of values, each computed from one row of the arguments.
pub(crate) fn with_rows<T>(
    args: &KernelArgs<'_>,
    collect: impl FnOnce(&mut dyn FnMut(usize) -> Option<T>) -> ArrayRef,
    mut read: impl FnMut(Row<'_>) -> Option<T>,
) -> Result<ArrayRef, KernelError> {
    let arguments = Arguments::of(args)?;
    Ok(collect(&mut |row| {
        read(Row {
            arguments: &arguments,
            limits: args.limits(),
            row,
        })
    }))
}

/// Writes an array of elements.
pub(crate) fn write_array<'a>(
    elements: impl IntoIterator<Item = DynamicRef<'a>>,
    encoder: &mut Encoder,
) {
    encoder.begin_array();
    for element in elements {
        encoder.dynamic(element);
    }
    encoder.end();
}
