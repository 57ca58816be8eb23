//! Sealing (flush): the frozen memtable becomes segments.

use arrow::array::{Array, AsArray, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;

use crate::batch::concat;
use crate::catalogue::SegmentRecord;
use crate::clock::hour_of;
use crate::error::Result;
use crate::promote::{KeyCounts, Shredder};
use crate::schema::TIMESTAMP;
use crate::segment::{Covers, SegmentFile, SegmentSettings, SegmentWriter};
use crate::view::{Chunks, Key};

/// Rows given to the Parquet writer at once.
const WRITE_ROWS: usize = 8192;

/// Writes the rows of one application's table as segments, one for each hour, newest row first, and adds them to `records`, also
/// if a later one fails. Blocks.
pub(crate) fn write_segments(
    settings: &SegmentSettings,
    (app, table): Key,
    chunks: &Chunks,
    now: i64,
    records: &mut Vec<SegmentRecord>,
) -> Result<()> {
    let batch = concat(table, chunks.list.iter().map(|chunk| &chunk.batch))?;
    for (hour, rows) in rows_by_hour(&batch) {
        let sorted = take_record_batch(&batch, &UInt32Array::from(rows))?;
        let file = SegmentFile {
            app,
            table,
            hour,
            level: 0,
            min_seq: chunks.min_seq,
            max_seq: chunks.max_seq,
            covers: Some(Covers::of(hour, chunks.min_seq, chunks.max_seq)),
            rows: sorted.num_rows(),
            created: now,
        };
        records.push(write_one(settings, file, &sorted)?);
    }
    Ok(())
}

fn write_one(
    settings: &SegmentSettings,
    file: SegmentFile,
    sorted: &RecordBatch,
) -> Result<SegmentRecord> {
    let mut counts = KeyCounts::new(file.table);
    counts.add(sorted);
    let shredder = Shredder::new(file.table, counts.choose(settings.promotion));
    let mut writer = SegmentWriter::create(settings, file, shredder)?;
    let mut offset = 0;
    while offset < sorted.num_rows() {
        let rows = WRITE_ROWS.min(sorted.num_rows() - offset);
        writer.write(&sorted.slice(offset, rows))?;
        offset += rows;
    }
    writer.finish()
}

/// The rows of each hour, hours and rows both newest first. Rows of one moment keep their order.
fn rows_by_hour(batch: &RecordBatch) -> Vec<(i64, Vec<u32>)> {
    let times: Vec<i64> = match batch
        .column_by_name(TIMESTAMP)
        .and_then(|column| column.as_primitive_opt::<Int64Type>())
    {
        Some(column) => (0..column.len())
            .map(|row| {
                if column.is_valid(row) {
                    column.value(row)
                } else {
                    i64::MIN
                }
            })
            .collect(),
        None => vec![i64::MIN; batch.num_rows()],
    };
    let mut rows: Vec<(u32, i64)> = (0u32..).zip(times).collect();
    rows.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    let mut hours: Vec<(i64, Vec<u32>)> = Vec::new();
    for (row, time) in rows {
        let hour = hour_of(time);
        match hours.last_mut() {
            Some((last, rows)) if *last == hour => rows.push(row),
            _ => hours.push((hour, vec![row])),
        }
    }
    hours
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::time_range;
    use crate::clock::TICKS_PER_HOUR;
    use crate::schema::Table;
    use arrow::array::Int64Array;
    use std::sync::Arc;

    #[test]
    fn rows_are_split_by_hour_and_newest_first() {
        let at = |hour: i64, tick: i64| hour * TICKS_PER_HOUR + tick;
        let times = Int64Array::from(vec![at(5, 1), at(6, 0), at(5, 9), at(5, 1), at(7, 3)]);
        let batch = RecordBatch::try_from_iter([(TIMESTAMP, Arc::new(times) as _)]).unwrap();
        let expected = vec![(7, vec![4]), (6, vec![1]), (5, vec![2, 0, 3])];
        assert_eq!(rows_by_hour(&batch), expected);
        assert_eq!(time_range(&batch), (at(5, 1), at(7, 3)));
        assert_eq!(
            rows_by_hour(&RecordBatch::new_empty(Table::Traces.stored_schema())),
            vec![]
        );
    }
}
