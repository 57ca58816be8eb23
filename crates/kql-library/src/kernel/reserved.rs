//! Arrays that own the reservation of their memory.
//!
//! DataFusion reserves the memory of rows that an operator keeps, and none for the batches that pass between operators. The values
//! that a query computes may be as large as its memory, and a projection may compute a thousand of them. The buffers of a large
//! column therefore hold its reservation, and release it when the last batch that shares them is dropped. Rows that an operator
//! keeps are then reserved twice.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, GenericByteViewArray};
use arrow::buffer::Buffer;
use arrow::datatypes::{BinaryViewType, ByteViewType, DataType, StringViewType};
use arrow::error::ArrowError;
use bytes::Bytes;
use datafusion::execution::memory_pool::MemoryReservation;

/// A buffer and the reservation of the memory of its column.
struct Reserved {
    buffer: Buffer,
    _reservation: Arc<MemoryReservation>,
}

impl AsRef<[u8]> for Reserved {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

/// `array` with `reservation` as a part of its buffers. An array of values of a fixed size has no reservation.
pub(super) fn with_reservation(
    array: ArrayRef,
    reservation: MemoryReservation,
) -> Result<ArrayRef, ArrowError> {
    Ok(match array.data_type() {
        DataType::Utf8View => {
            Arc::new(shared(array.as_byte_view::<StringViewType>(), reservation)?)
        }
        DataType::BinaryView => {
            Arc::new(shared(array.as_byte_view::<BinaryViewType>(), reservation)?)
        }
        _ => array,
    })
}

fn shared<T: ByteViewType>(
    array: &GenericByteViewArray<T>,
    reservation: MemoryReservation,
) -> Result<GenericByteViewArray<T>, ArrowError> {
    let reservation = Arc::new(reservation);
    let (views, buffers, nulls) = array.clone().into_parts();
    let buffers: Vec<Buffer> = buffers
        .iter()
        .map(|buffer| {
            Buffer::from(Bytes::from_owner(Reserved {
                buffer: buffer.clone(),
                _reservation: Arc::clone(&reservation),
            }))
        })
        .collect();
    GenericByteViewArray::try_new(views, buffers, nulls)
}

#[cfg(test)]
mod tests {
    use arrow::array::StringViewArray;
    use datafusion::execution::memory_pool::{GreedyMemoryPool, MemoryConsumer, MemoryPool};

    use super::*;

    #[test]
    fn memory_is_reserved_while_a_slice_of_the_column_exists() {
        let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(1000));
        let reservation = MemoryConsumer::new("column").register(&pool);
        assert!(reservation.try_grow(100).is_ok());
        let texts = [
            "a text that is longer than a view",
            "b",
            "another text of this kind",
        ];
        let array: ArrayRef = Arc::new(StringViewArray::from(texts.to_vec()));
        let column = with_reservation(Arc::clone(&array), reservation).expect("the same column");
        assert_eq!(&column, &array);
        let slice = column.slice(2, 1);
        drop((array, column));
        assert_eq!(pool.reserved(), 100);
        drop(slice);
        assert_eq!(pool.reserved(), 0);
    }
}
