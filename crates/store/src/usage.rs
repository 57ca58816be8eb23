//! How much was ingested, by application, table and hour of ingestion.
//!
//! The catalogue has what was sealed: a seal adds its items in the transaction that lists its segments. The items of the memtable are
//! counted when a query needs them. Expiry and merges change nothing of it.

use std::collections::BTreeMap;
use std::time::Duration;

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{DataType, Int64Type};
use arrow::record_batch::RecordBatch;

use crate::app_id::AppId;
use crate::clock::{TICKS_PER_HOUR, hour_of};
use crate::schema::{INGESTION_TIME, TIMESTAMP, Table};

/// How long the counts of an hour are kept.
pub(crate) const KEPT: Duration = Duration::from_secs(90 * 24 * 3600);

/// What one table of an application received in one hour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageRecord {
    /// The application.
    pub app: AppId,
    /// The table.
    pub table: Table,
    /// When the hour begins, in ticks.
    pub start: i64,
    /// How many items were ingested.
    pub items: u64,
    /// Bytes of their values, as `estimate_data_size` counts them (`docs/semantics.md §12`), but for dynamic values: the UTF-8 bytes of
    /// strings, the stored form of dynamic values, and the width of others, also where they are null.
    pub bytes: u64,
    /// When the last of them was ingested, in ticks.
    pub last: i64,
}

/// Counts of items by application, table and hour.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Usage(BTreeMap<(AppId, Table, i64), Counts>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Counts {
    items: u64,
    bytes: u64,
    last: i64,
}

impl Usage {
    /// The counts of these records.
    pub(crate) fn of_records(records: impl IntoIterator<Item = UsageRecord>) -> Usage {
        let mut usage = Usage::default();
        usage.add_all(records);
        usage
    }

    /// Adds the items of a batch. Neighbouring rows of one hour are counted together.
    pub(crate) fn add_batch(&mut self, (app, table): (AppId, Table), batch: &RecordBatch) {
        let times = IngestionTimes::of(batch);
        let mut begin = 0;
        while begin < batch.num_rows() {
            let hour = hour_of(times.at(begin));
            let rest = begin..batch.num_rows();
            let rows = rest.take_while(|row| hour_of(times.at(*row)) == hour);
            let (mut last, mut end) = (i64::MIN, begin);
            for row in rows {
                (last, end) = (last.max(times.at(row)), row + 1);
            }
            self.add(UsageRecord {
                app,
                table,
                start: hour.saturating_mul(TICKS_PER_HOUR),
                items: (end - begin) as u64,
                bytes: value_bytes(&batch.slice(begin, end - begin)),
                last,
            });
            begin = end;
        }
    }

    /// Adds counts.
    pub(crate) fn add_all(&mut self, records: impl IntoIterator<Item = UsageRecord>) {
        for record in records {
            self.add(record);
        }
    }

    fn add(&mut self, record: UsageRecord) {
        let key = (record.app, record.table, hour_of(record.start));
        let counts = self.0.entry(key).or_insert(Counts {
            items: 0,
            bytes: 0,
            last: record.last,
        });
        counts.items += record.items;
        counts.bytes += record.bytes;
        counts.last = counts.last.max(record.last);
    }

    /// Keeps the counts of these applications.
    pub(crate) fn retain_apps(&mut self, keep: impl Fn(AppId) -> bool) {
        self.0.retain(|(app, _, _), _| keep(*app));
    }

    /// Forgets hours that began before `start`, in ticks.
    pub(crate) fn forget_before(&mut self, start: i64) {
        self.0.retain(|(_, _, hour), _| *hour >= hour_of(start));
    }

    /// The counts, by application, table and hour.
    pub(crate) fn records(&self) -> impl Iterator<Item = UsageRecord> + '_ {
        self.0
            .iter()
            .map(|(&(app, table, hour), counts)| UsageRecord {
                app,
                table,
                start: hour.saturating_mul(TICKS_PER_HOUR),
                items: counts.items,
                bytes: counts.bytes,
                last: counts.last,
            })
    }
}

/// The times at which the rows of a batch were ingested. Rows of a version that did not keep these have the time of the item.
struct IngestionTimes<'b> {
    ingestion: Option<&'b PrimitiveArray<Int64Type>>,
    timestamp: Option<&'b PrimitiveArray<Int64Type>>,
}

impl<'b> IngestionTimes<'b> {
    fn of(batch: &'b RecordBatch) -> IngestionTimes<'b> {
        let column = |name| batch.column_by_name(name)?.as_primitive_opt();
        IngestionTimes {
            ingestion: column(INGESTION_TIME),
            timestamp: column(TIMESTAMP),
        }
    }

    fn at(&self, row: usize) -> i64 {
        let known = |times: &&PrimitiveArray<Int64Type>| times.is_valid(row);
        let times = self
            .ingestion
            .filter(known)
            .or(self.timestamp.filter(known));
        times.map_or(0, |times| times.value(row))
    }
}

/// The bytes of the values of the table's columns.
fn value_bytes(batch: &RecordBatch) -> u64 {
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns());
    columns
        .filter(|(field, _)| field.name() != INGESTION_TIME)
        .map(|(_, column)| column_bytes(column))
        .sum()
}

fn column_bytes(column: &ArrayRef) -> u64 {
    // The low half of a view is the length of its value; a null's is 0.
    let lengths = |views: &[u128]| views.iter().map(|view| u64::from(*view as u32)).sum();
    match column.data_type() {
        DataType::Utf8View => lengths(column.as_string_view().views()),
        DataType::BinaryView => lengths(column.as_binary_view().views()),
        other => {
            let width = other.primitive_width().unwrap_or(1);
            (width * column.len()) as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int64Array, StringViewArray};
    use std::sync::Arc;
    use uuid::Uuid;

    fn batch(times: &[Option<i64>], texts: &[Option<&str>]) -> RecordBatch {
        let stamps = Int64Array::from(vec![Some(7 * TICKS_PER_HOUR); times.len()]);
        let texts: StringViewArray = texts.iter().copied().collect();
        RecordBatch::try_from_iter([
            (TIMESTAMP, Arc::new(stamps) as ArrayRef),
            ("name", Arc::new(texts)),
            (INGESTION_TIME, Arc::new(Int64Array::from(times.to_vec()))),
        ])
        .unwrap()
    }

    #[test]
    fn items_are_counted_by_the_hour_of_their_ingestion() {
        let app = AppId(Uuid::from_u128(1));
        let at = |hour: i64, tick: i64| Some(hour * TICKS_PER_HOUR + tick);
        let rows = batch(
            &[at(3, 5), at(3, 9), at(4, 0), None],
            &[
                Some("ab"),
                None,
                Some("longer than twelve bytes"),
                Some("c"),
            ],
        );
        let mut usage = Usage::default();
        usage.add_batch((app, Table::Requests), &rows);
        usage.add_batch((app, Table::Requests), &rows.slice(0, 1));
        let found: Vec<_> = usage
            .records()
            .map(|r| {
                (
                    r.start / TICKS_PER_HOUR,
                    r.items,
                    r.bytes,
                    r.last % TICKS_PER_HOUR,
                )
            })
            .collect();
        // Eight bytes for each timestamp.
        assert_eq!(
            found,
            [(3, 3, 24 + 4, 9), (4, 1, 8 + 24, 0), (7, 1, 8 + 1, 0)]
        );
        assert_eq!(Usage::of_records(usage.records()), usage);

        usage.forget_before(4 * TICKS_PER_HOUR + 17);
        assert_eq!(usage.records().count(), 2);
        usage.retain_apps(|other| other != app);
        assert_eq!(usage, Usage::default());
    }

    #[test]
    fn a_slice_counts_its_own_values_only() {
        let rows = batch(&[Some(1); 3], &[Some("a"), Some("bb"), Some("ccc")]);
        assert_eq!(value_bytes(&rows.slice(1, 1)), 8 + 2);
    }
}
