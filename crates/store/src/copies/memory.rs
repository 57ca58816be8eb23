//! The memory of copies that are read or sealed. It counts against `store.memory`, beside the memtable.

use std::sync::Arc;

use arrow::array::Array;
use arrow::buffer::Buffer;
use parking_lot::Mutex;

use crate::log::Appended;

/// The share of `store.memory` that copies in memory for queries may take: half of it. The rest is for telemetry.
const SHARE: usize = 2;

/// Bytes of all copies that are in memory.
#[derive(Debug, Default)]
pub(crate) struct CopyMemory(Mutex<usize>);

impl CopyMemory {
    /// How many there are.
    pub(crate) fn bytes(&self) -> usize {
        *self.0.lock()
    }

    /// Begins a reservation.
    pub(crate) fn reserve(self: &Arc<Self>) -> Reservation {
        Reservation {
            memory: self.clone(),
            held: Mutex::default(),
        }
    }
}

/// Bytes of one copy. They are released when the last reader of the copy is gone.
#[derive(Debug)]
pub(crate) struct Reservation {
    memory: Arc<CopyMemory>,
    held: Mutex<usize>,
}

impl Reservation {
    /// Adds bytes, unless all copies would have more than `most` then. Returns whether they were added.
    pub(crate) fn add(&self, bytes: usize, most: usize) -> bool {
        let (mut held, mut all) = (self.held.lock(), self.memory.0.lock());
        let after = all.saturating_add(bytes);
        if after > most {
            return false;
        }
        (*held, *all) = (*held + bytes, after);
        true
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut all = self.memory.0.lock();
        *all = all.saturating_sub(*self.held.lock());
    }
}

/// How many bytes copies may take in memory for queries beside a memtable of `hot` bytes.
pub(crate) fn most_for_queries(hot: usize, limit: usize) -> usize {
    (limit / SHARE).min(limit.saturating_sub(hot))
}

/// Bytes of a request that was read of a log. Its arrays share the buffer of their message, which their own figure counts for each of them.
pub(crate) fn bytes_of(request: &Appended) -> usize {
    let columns = request
        .batches
        .iter()
        .flat_map(|(_, batch)| batch.columns());
    let bytes = columns.map(|column| {
        let data = column.to_data();
        let buffers: usize = data.buffers().iter().map(Buffer::len).sum();
        buffers + data.nulls().map_or(0, |nulls| nulls.buffer().len())
    });
    bytes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_reserved_is_bounded_and_released() {
        let memory = Arc::new(CopyMemory::default());
        let (first, second) = (memory.reserve(), memory.reserve());
        assert!(first.add(60, 100) && second.add(40, 100));
        assert!(!second.add(1, 100));
        drop(first);
        assert_eq!(memory.bytes(), 40);
        assert!(second.add(60, 100));
        drop(second);
        assert_eq!(memory.bytes(), 0);
        assert_eq!(most_for_queries(0, 100), 50);
        assert_eq!(most_for_queries(80, 100), 20);
    }
}
