//! The memory of transforms: how large a batch is, and which bytes batches keep alive.

use std::collections::HashMap;

use arrow::array::{Array, ArrayData, ArrayRef, RecordBatch};
use arrow::buffer::Buffer;

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
