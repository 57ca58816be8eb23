//! The memory of transforms: the maximum size of a batch, and the buffers that batches retain.

use std::collections::HashMap;

use arrow::array::{Array, ArrayData, ArrayRef, RecordBatch};
use arrow::buffer::Buffer;

/// The maximum number of rows of an output batch.
pub(crate) const MAX_BATCH_ROWS: usize = 8192;

/// The approximate maximum size of an output batch in bytes, unless one value is larger.
pub(crate) const MAX_BATCH_BYTES: usize = 16 << 20;

/// The buffers that batches retain. Batches are often slices of one another, so a shared buffer counts once.
#[derive(Debug, Default)]
pub(crate) struct HeldBuffers {
    /// The reference count and the size of each buffer, by its address.
    buffers: HashMap<usize, (usize, usize)>,
    bytes: usize,
}

impl HeldBuffers {
    /// The retained bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a batch; returns the number of bytes that it adds.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> usize {
        let before = self.bytes;
        batch
            .columns()
            .iter()
            .for_each(|column| self.add_array(column));
        self.bytes - before
    }

    /// Removes a batch that was added.
    pub(crate) fn remove(&mut self, batch: &RecordBatch) {
        batch
            .columns()
            .iter()
            .for_each(|column| self.remove_array(column));
    }

    /// Adds an array.
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

    /// Removes an array that was added, or a slice of it.
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
