//! Sealing (flush): the frozen memtable becomes segments.
//!
//! Live telemetry is of one hour or two, and each hour gets a segment of its own, which compaction merges with the others of that hour.
//! Telemetry that arrives late, or is loaded from elsewhere, is of many hours with few rows each. A query pays for each file that it opens, so
//! neighbouring small hours of one day share a segment.

use arrow::array::{Array, AsArray};
use arrow::compute::interleave_record_batch;
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;

use crate::catalogue::SegmentRecord;
use crate::clock::hour_of;
use crate::error::Result;
use crate::promote::{KeyCounts, Shredder};
use crate::schema::{TIMESTAMP, Table};
use crate::segment::{Covers, SegmentFile, SegmentSettings, SegmentWriter};
use crate::usage::Usage;
use crate::view::{Chunks, Key, View};

/// Rows given to the Parquet writer at once.
const WRITE_ROWS: usize = 8192;

/// An hour with at least this share of a table's rows gets a segment of its own.
const OWN_SEGMENT_SHARE: usize = 4;
/// Hours of a day: the hours of a segment are of one day, so that retention by age drops whole segments at most a day late.
const DAY: i64 = 24;

/// Writes the frozen memtable of a view as segments, adds them to `records`, also if a later one fails, and their items to `usage`. Blocks.
pub(crate) fn write_frozen(
    settings: &SegmentSettings,
    view: &View,
    now: i64,
    records: &mut Vec<SegmentRecord>,
    usage: &mut Usage,
) -> Result<()> {
    let states = view.tables.iter();
    for (key, state) in states.filter(|(_, state)| !state.frozen.list.is_empty()) {
        write_segments(settings, *key, &state.frozen, now, records)?;
        for chunk in &state.frozen.list {
            usage.add_batch(*key, &chunk.batch);
        }
    }
    Ok(())
}

/// Writes the rows of one application's table as segments, each of an hour or of small hours of one day, newest row first, and adds
/// them to `records`, also if a later one fails. Blocks.
fn write_segments(
    settings: &SegmentSettings,
    (app, table): Key,
    chunks: &Chunks,
    now: i64,
    records: &mut Vec<SegmentRecord>,
) -> Result<()> {
    let batches: Vec<&RecordBatch> = chunks.list.iter().map(|chunk| &chunk.batch).collect();
    for part in parts(rows_by_hour(&batches), chunks.rows) {
        let mut covers = Covers::default();
        for hour in &part.hours {
            covers.add(&Covers::of(*hour, chunks.min_seq, chunks.max_seq));
        }
        let file = SegmentFile {
            app,
            table,
            hour: part.hours.last().copied().unwrap_or_default(),
            level: 0,
            min_seq: chunks.min_seq,
            max_seq: chunks.max_seq,
            covers: Some(covers),
            rows: part.rows.len(),
            created: now,
        };
        records.push(write_one(settings, file, &batches, &part.rows)?);
    }
    Ok(())
}

/// Writes rows of batches as a segment. A copy of a few thousand rows at a time is made in their order, and none of all of them: the memtable
/// is large, and telemetry goes on arriving in another one.
fn write_one(
    settings: &SegmentSettings,
    file: SegmentFile,
    batches: &[&RecordBatch],
    rows: &[Place],
) -> Result<SegmentRecord> {
    let counts = count_keys(file.table, batches, rows)?;
    let shredder = Shredder::new(file.table, counts.choose(settings.promotion));
    let mut writer = SegmentWriter::create(settings, file, shredder)?;
    for rows in rows.chunks(WRITE_ROWS) {
        writer.write(&interleave_record_batch(batches, rows)?)?;
    }
    writer.finish()
}

/// Counts the bag keys of rows of batches.
fn count_keys(table: Table, batches: &[&RecordBatch], rows: &[Place]) -> Result<KeyCounts> {
    let mut counts = KeyCounts::new(table);
    let bags = KeyCounts::columns(&table.stored_schema());
    if bags.is_empty() {
        return Ok(counts);
    }
    let batches = batches.iter().map(|batch| batch.project(&bags));
    let batches = batches.collect::<std::result::Result<Vec<_>, _>>()?;
    let batches: Vec<&RecordBatch> = batches.iter().collect();
    for rows in rows.chunks(WRITE_ROWS) {
        counts.add(&interleave_record_batch(&batches, rows)?);
    }
    Ok(counts)
}

/// A row of some batches: the number of its batch, and its own there.
type Place = (usize, usize);

/// The rows of each hour, hours and rows both newest first. Rows of one moment keep their order.
fn rows_by_hour(batches: &[&RecordBatch]) -> Vec<(i64, Vec<Place>)> {
    let mut rows: Vec<(i64, Place)> = Vec::new();
    for (number, batch) in batches.iter().enumerate() {
        let times = batch.column_by_name(TIMESTAMP);
        let times = times.and_then(|column| column.as_primitive_opt::<Int64Type>());
        let time = |row: usize| {
            let times = times.filter(|times| times.is_valid(row));
            times.map_or(i64::MIN, |times| times.value(row))
        };
        rows.extend((0..batch.num_rows()).map(|row| (time(row), (number, row))));
    }
    rows.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    let mut hours: Vec<(i64, Vec<Place>)> = Vec::new();
    for (time, place) in rows {
        let hour = hour_of(time);
        match hours.last_mut() {
            Some((last, rows)) if *last == hour => rows.push(place),
            _ => hours.push((hour, vec![place])),
        }
    }
    hours
}

/// What becomes one segment: hours, the newest first, and their rows in that order.
#[derive(Debug, Default, PartialEq, Eq)]
struct Part {
    hours: Vec<i64>,
    rows: Vec<Place>,
}

/// Joins neighbouring small hours of one day. `hours` are in descending order and have `total` rows together.
fn parts(hours: Vec<(i64, Vec<Place>)>, total: usize) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut joins = false;
    for (hour, rows) in hours {
        let small = rows.len().saturating_mul(OWN_SEGMENT_SHARE) < total;
        let same_day = |part: &&mut Part| {
            let day = part.hours.first().map(|first| first.div_euclid(DAY));
            day == Some(hour.div_euclid(DAY))
        };
        match parts.last_mut().filter(|_| joins && small).filter(same_day) {
            Some(part) => {
                part.hours.push(hour);
                part.rows.extend(rows);
            }
            None => parts.push(Part {
                hours: vec![hour],
                rows,
            }),
        }
        joins = small;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::time_range;
    use crate::clock::TICKS_PER_HOUR;
    use arrow::array::{ArrayRef, Int64Array};
    use std::sync::Arc;

    #[test]
    fn rows_are_split_by_hour_and_newest_first() {
        let at = |hour: i64, tick: i64| hour * TICKS_PER_HOUR + tick;
        let batch = |times: Vec<i64>| {
            let times: ArrayRef = Arc::new(Int64Array::from(times));
            RecordBatch::try_from_iter([(TIMESTAMP, times)]).unwrap()
        };
        let first = batch(vec![at(5, 1), at(6, 0), at(5, 9)]);
        let second = batch(vec![at(5, 1), at(7, 3)]);
        let expected = vec![
            (7, vec![(1, 1)]),
            (6, vec![(0, 1)]),
            (5, vec![(0, 2), (0, 0), (1, 0)]),
        ];
        assert_eq!(rows_by_hour(&[&first, &second]), expected);
        assert_eq!(time_range(&first), (at(5, 1), at(6, 0)));
        let empty = RecordBatch::new_empty(Table::Traces.stored_schema());
        assert_eq!(rows_by_hour(&[&empty]), vec![]);
    }

    #[test]
    fn neighbouring_small_hours_of_a_day_share_a_segment() {
        let check = |hours: &[(i64, usize)], expected: &[&[i64]]| {
            let mut row = (0..).map(|row| (0, row));
            let hours: Vec<(i64, Vec<Place>)> = hours
                .iter()
                .map(|(hour, rows)| (*hour, row.by_ref().take(*rows).collect()))
                .collect();
            let total = hours.iter().map(|(_, rows)| rows.len()).sum();
            let parts = parts(hours, total);
            let found: Vec<&[i64]> = parts.iter().map(|part| part.hours.as_slice()).collect();
            assert_eq!(found, expected);
            let rows: Vec<Place> = parts.iter().flat_map(|part| part.rows.clone()).collect();
            assert_eq!(rows, (0..total).map(|row| (0, row)).collect::<Vec<_>>());
        };
        check(&[], &[]);
        check(&[(50, 1)], &[&[50]]);
        check(&[(50, 9), (49, 1)], &[&[50], &[49]]);
        // The border between two days is at 48.
        check(
            &[(50, 1), (49, 1), (48, 1), (47, 1), (46, 1), (3, 1)],
            &[&[50, 49, 48], &[47, 46], &[3]],
        );
        check(
            &[(53, 1), (52, 90), (51, 1), (49, 1)],
            &[&[53], &[52], &[51, 49]],
        );
    }
}
