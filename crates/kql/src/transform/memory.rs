//! Helpers of transforms: columns by name and rows by number.

use std::collections::HashMap;

use arrow::array::{Array, ArrayData, ArrayRef, AsArray, Int64Array, RecordBatch, UInt32Array};
use arrow::buffer::Buffer;
use arrow::compute::take;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{DataFusionError, Result};

/// How many rows a batch of the output has at most.
pub(crate) const MAX_BATCH_ROWS: usize = 8192;

/// About how many bytes a batch of the output has at most, unless one value has more.
pub(crate) const MAX_BATCH_BYTES: usize = 16 << 20;

/// The memory that batches keep alive. They are often slices of one another, so what they share counts once.
#[derive(Debug, Default)]
pub(crate) struct HeldBuffers {
    /// How often each buffer is held, by its address, and its size.
    buffers: HashMap<usize, (usize, usize)>,
    bytes: usize,
}

impl HeldBuffers {
    /// Bytes held.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// A batch is kept; gives the bytes that it adds.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> usize {
        let before = self.bytes;
        batch
            .columns()
            .iter()
            .for_each(|column| self.add_array(column));
        self.bytes - before
    }

    /// A batch that was added is let go.
    pub(crate) fn remove(&mut self, batch: &RecordBatch) {
        batch
            .columns()
            .iter()
            .for_each(|column| self.remove_array(column));
    }

    /// An array is kept.
    pub(crate) fn add_array(&mut self, array: &ArrayRef) {
        self.bytes += size_of::<ArrayData>();
        each_buffer(&array.to_data(), &mut |buffer| {
            let held = self.buffers.entry(address(buffer)).or_insert((0, 0));
            if held.0 == 0 {
                held.1 = buffer.capacity();
                self.bytes += held.1;
            }
            held.0 += 1;
        });
    }

    /// An array that was added, or a slice of it, is let go.
    pub(crate) fn remove_array(&mut self, array: &ArrayRef) {
        self.bytes = self.bytes.saturating_sub(size_of::<ArrayData>());
        each_buffer(&array.to_data(), &mut |buffer| {
            let Some(held) = self.buffers.get_mut(&address(buffer)) else {
                return;
            };
            held.0 -= 1;
            if held.0 == 0 {
                self.bytes = self.bytes.saturating_sub(held.1);
                self.buffers.remove(&address(buffer));
            }
        });
    }
}

fn address(buffer: &Buffer) -> usize {
    buffer.data_ptr().as_ptr() as usize
}

fn each_buffer(data: &ArrayData, visit: &mut impl FnMut(&Buffer)) {
    let nulls = data.nulls().map(|nulls| nulls.inner().inner());
    data.buffers().iter().chain(nulls).for_each(&mut *visit);
    for child in data.child_data() {
        each_buffer(child, visit);
    }
}

/// The bytes of one row as they are read: a text counts in every row that shows it, also where rows share it in memory.
pub(crate) fn shown_bytes(columns: &[ArrayRef], row: usize) -> usize {
    let cell = |array: &ArrayRef| match array.data_type() {
        DataType::Utf8View => array.as_string_view().views().get(row).map(view_length),
        DataType::BinaryView => array.as_binary_view().views().get(row).map(view_length),
        other => other.primitive_width(),
    };
    columns.iter().map(|c| cell(c).unwrap_or(16)).sum()
}

/// The low half of a view is the value's length.
fn view_length(view: &u128) -> usize {
    *view as u32 as usize
}

/// The rows `rows` of every array; a `None` row is null.
pub(crate) fn select_rows(arrays: &[ArrayRef], rows: &UInt32Array) -> Result<Vec<ArrayRef>> {
    arrays
        .iter()
        .map(|array| Ok(take(array.as_ref(), rows, None)?))
        .collect()
}

/// The 64-bit column called `name`.
pub(crate) fn long_column(batch: &RecordBatch, name: &str) -> Result<Int64Array> {
    batch
        .column_by_name(name)
        .and_then(|array| array.as_primitive_opt::<Int64Type>())
        .cloned()
        .ok_or_else(|| DataFusionError::Internal(format!("no 64-bit field '{name}'")))
}
