//! Packs several arguments into one dynamic value.

use arrow::array::ArrayRef;

use super::cells::Cells;
use crate::encoder::encoder;
use crate::kernel::{KernelArgs, KernelError};

/// The arguments as cells, each with a flag for a constant argument.
pub(crate) struct Arguments {
    cells: Vec<(Cells, bool)>,
}

impl Arguments {
    /// All arguments of a call.
    pub(crate) fn of(args: &KernelArgs<'_>) -> Result<Arguments, KernelError> {
        let cells = (0..args.len())
            .map(|index| {
                let cells = Cells::new(args.array(index)?, args.kind(index))?;
                Ok((cells, args.is_constant(index)))
            })
            .collect::<Result<Vec<_>, KernelError>>()?;
        Ok(Arguments { cells })
    }

    /// The cells of every argument, each with the row index to read for `row`.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = (&Cells, usize)> {
        self.cells
            .iter()
            .map(move |(cells, constant)| (cells, if *constant { 0 } else { row }))
    }

    /// The number of arguments.
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Argument `index` with the row index to read for `row`.
    pub(crate) fn cell(&self, index: usize, row: usize) -> Option<(&Cells, usize)> {
        let (cells, constant) = self.cells.get(index)?;
        Some((cells, if *constant { 0 } else { row }))
    }
}

/// An array of the arguments.
pub(crate) fn pack_array(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let arguments = Arguments::of(args)?;
    let mut encoder = encoder();
    Ok(args.collect_dynamics(|row, out| {
        encoder.begin_array();
        for (cells, row) in arguments.row(row) {
            cells.pack(row, &mut encoder);
        }
        encoder.end();
        encoder.finish_into(out);
        true
    }))
}

/// An array of the arguments; null if all of them are null.
pub(crate) fn pack_array_unless_all_null(args: &KernelArgs<'_>) -> Result<ArrayRef, KernelError> {
    let arguments = Arguments::of(args)?;
    let mut encoder = encoder();
    Ok(args.collect_dynamics(|row, out| {
        if arguments.row(row).all(|(cells, row)| cells.is_null(row)) {
            return false;
        }
        encoder.begin_array();
        for (cells, row) in arguments.row(row) {
            cells.pack(row, &mut encoder);
        }
        encoder.end();
        encoder.finish_into(out);
        true
    }))
}
