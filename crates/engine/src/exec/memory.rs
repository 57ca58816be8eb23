//! The memory pool of all queries.

use std::collections::HashMap;
use std::fmt;

use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation, human_readable_size,
};
use parking_lot::Mutex;

/// The memory pool that the pools of queries draw from.
///
/// Consumers that cannot spill take free memory. The rest is divided into equal shares between the kinds of operators that can
/// spill, and each of those between its partitions, so that an operator of many partitions leaves a sort its memory. A consumer that
/// can spill has its share, and more while half of the pool is free: of many partitions of an aggregation a single one may hold the
/// large groups. A share is not refused when others hold more than theirs, so up to half as much again as the size may be reserved
/// for a while: a sort that spills reserves memory before it frees what it holds. As in DataFusion's pools, a consumer that splits
/// its reservation has a share for each piece.
#[derive(Debug)]
pub(super) struct SharedMemory {
    size: usize,
    used: Mutex<Used>,
}

#[derive(Debug, Default)]
struct Used {
    /// The number of partitions of each kind of operator that can spill.
    spillers: HashMap<String, usize>,
    /// Bytes that those hold.
    spillable: usize,
    /// Bytes that all other consumers hold.
    unspillable: usize,
}

impl SharedMemory {
    /// A pool of `size` bytes.
    pub(super) fn new(size: usize) -> SharedMemory {
        SharedMemory {
            size,
            used: Mutex::default(),
        }
    }

    /// The bytes by which a reservation may grow.
    fn available(&self, used: &Used, reservation: &MemoryReservation) -> usize {
        let all = used.spillable + used.unspillable;
        let consumer = reservation.consumer();
        if !consumer.can_spill() {
            return self.size.saturating_sub(all);
        }
        let parts = used.spillers.get(kind(consumer)).copied().unwrap_or(1);
        let shares = used.spillers.len().saturating_mul(parts).max(1);
        let share = self.size.saturating_sub(used.unspillable) / shares;
        let own = share.saturating_sub(reservation.size());
        own.max((self.size / 2).saturating_sub(all))
    }
}

impl Used {
    fn of(&mut self, reservation: &MemoryReservation) -> &mut usize {
        if reservation.consumer().can_spill() {
            &mut self.spillable
        } else {
            &mut self.unspillable
        }
    }
}

/// The kind of operator of a partition, whose name is `ExternalSorter[3]`.
fn kind(part: &MemoryConsumer) -> &str {
    let name = part.name();
    name.split_once('[').map_or(name, |(kind, _)| kind)
}

impl fmt::Display for SharedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shared memory of {}", human_readable_size(self.size))
    }
}

impl MemoryPool for SharedMemory {
    fn name(&self) -> &str {
        "shared"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        if consumer.can_spill() {
            let mut used = self.used.lock();
            *used.spillers.entry(kind(consumer).to_owned()).or_default() += 1;
        }
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        if consumer.can_spill() {
            let mut used = self.used.lock();
            if let Some(parts) = used.spillers.get_mut(kind(consumer)) {
                *parts = parts.saturating_sub(1);
            }
            used.spillers.retain(|_, parts| *parts > 0);
        }
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        *self.used.lock().of(reservation) += additional;
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        let mut used = self.used.lock();
        let bytes = used.of(reservation);
        *bytes = bytes.saturating_sub(shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        let mut used = self.used.lock();
        let available = self.available(&used, reservation);
        if additional > available {
            return Err(DataFusionError::ResourcesExhausted(format!(
                "{} asks for {} beside the {} that it has, and {} are left for it",
                reservation.consumer().name(),
                human_readable_size(additional),
                human_readable_size(reservation.size()),
                human_readable_size(available),
            )));
        }
        *used.of(reservation) += additional;
        Ok(())
    }

    fn reserved(&self) -> usize {
        let used = self.used.lock();
        used.spillable + used.unspillable
    }

    fn memory_limit(&self) -> MemoryLimit {
        MemoryLimit::Finite(self.size)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn memory() -> Arc<dyn MemoryPool> {
        Arc::new(SharedMemory::new(1000))
    }

    fn spiller(memory: &Arc<dyn MemoryPool>) -> MemoryReservation {
        part(memory, "sort[0]")
    }

    fn part(memory: &Arc<dyn MemoryPool>, name: &str) -> MemoryReservation {
        let consumer = MemoryConsumer::new(name).with_can_spill(true);
        consumer.register(memory)
    }

    fn keeper(memory: &Arc<dyn MemoryPool>) -> MemoryReservation {
        MemoryConsumer::new("rows").register(memory)
    }

    #[test]
    fn a_partition_may_exceed_its_share_while_half_is_free() {
        let memory = memory();
        let parts: Vec<_> = (0..10).map(|_| spiller(&memory)).collect();
        assert!(parts[0].try_grow(500).is_ok());
        assert!(parts[0].try_grow(1).is_err());
        // The others still get their shares.
        for part in &parts[1..] {
            assert!(part.try_grow(100).is_ok());
            assert!(part.try_grow(1).is_err());
        }
        assert_eq!(memory.reserved(), 1400);
        drop(parts);
        assert_eq!(memory.reserved(), 0);
    }

    #[test]
    fn an_operator_of_many_partitions_leaves_another_its_share() {
        let memory = memory();
        let parts: Vec<_> = (0..64)
            .map(|i| part(&memory, &format!("groups[{i}]")))
            .collect();
        let sort = spiller(&memory);
        assert!(parts[0].try_grow(500).is_ok());
        assert!(sort.try_grow(500).is_ok());
        assert!(sort.try_grow(1).is_err());
        assert!(parts[1].try_grow(500 / 64).is_ok());
        assert!(parts[1].try_grow(1).is_err());
        drop(parts);
        assert!(sort.try_grow(500).is_ok());
    }

    #[test]
    fn a_single_consumer_may_take_all() {
        let memory = memory();
        let alone = spiller(&memory);
        assert!(alone.try_grow(1000).is_ok());
        assert!(alone.try_grow(1).is_err());
        alone.free();
        let other = spiller(&memory);
        assert!(alone.try_grow(501).is_err(), "there are two");
        drop(other);
        assert!(alone.try_grow(1000).is_ok());
    }

    #[test]
    fn unspillable_memory_reduces_the_shares() {
        let memory = memory();
        let (rows, sort, other) = (keeper(&memory), spiller(&memory), spiller(&memory));
        assert!(rows.try_grow(600).is_ok());
        assert!(sort.try_grow(200).is_ok());
        let error = sort.try_grow(1).map_err(|e| e.to_string());
        assert!(error.is_err_and(|e| e.contains("sort[0] asks for 1.0 B beside the 200.0 B")));
        assert!(other.try_grow(200).is_ok());
        assert!(rows.try_grow(1).is_err());
        drop(sort);
        assert!(rows.try_grow(200).is_ok());
        rows.shrink(800);
        assert_eq!(memory.reserved(), 200);
    }
}
