//! Ids that sort by the time of their making.

use hindsight_kql_types::ticks::to_unix_millis;
use parking_lot::Mutex;
use uuid::{ContextV7, Timestamp, Uuid};

/// Counts the ids of one millisecond, so that they sort in the order in which they are made.
static CONTEXT: Mutex<ContextV7> = Mutex::new(ContextV7::new());

/// A new UUID of version 7 (RFC 9562 §5.7) made at `now`, in ticks of 100 ns since 0001-01-01. Times before 1970 count as 1970.
pub fn time_ordered_id(now: i64) -> Uuid {
    let millis = u64::try_from(to_unix_millis(now)).unwrap_or(0);
    let (seconds, millis) = (millis / 1000, (millis % 1000) as u32);
    Uuid::new_v7(Timestamp::from_unix(
        &*CONTEXT.lock(),
        seconds,
        millis * 1_000_000,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_then_by_the_order_of_their_making() {
        let now = hindsight_kql_types::datetime::parse("2025-03-06T12:00:00Z").unwrap();
        let ids: Vec<Uuid> = (0..1000)
            .map(|i| time_ordered_id(now + i / 10 * 10_000))
            .collect();
        assert!(ids.is_sorted());
        let seconds = ids[0].get_timestamp().unwrap().to_unix().0;
        assert_eq!(seconds, 1_741_262_400);
    }
}
