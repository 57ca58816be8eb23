//! What planning costs as the store grows. The segments are simulated: planning reads the catalogue's entries and no file.
//!
//! The table is printed by `bench/growth.py`.

use std::time::{Duration, Instant};

use datafusion::prelude::{col, lit};

use super::*;
use crate::TICKS_PER_HOUR;
use crate::catalogue::SegmentRecord;

/// Rows of a simulated segment, a merged hour.
const SEGMENT_ROWS: u64 = 100_000;
/// Runs of each measurement, of which the shortest counts.
const RUNS: usize = 5;

/// A store whose view lists simulated segments of `rows` rows, an hour each.
async fn simulated(dir: &Path, rows: u64) -> Arc<Store> {
    let store = Store::open(quiet(dir)).await.unwrap();
    let records = (0..rows / SEGMENT_ROWS).map(|number| {
        let hour = START + i64::try_from(number).unwrap() * TICKS_PER_HOUR;
        SegmentRecord {
            id: i64::try_from(number).unwrap() + 1,
            app: app(1),
            table: Table::Requests,
            path: format!("simulated/{number}.parquet"),
            rows: SEGMENT_ROWS,
            bytes: SEGMENT_ROWS * 100,
            min_ts: hour,
            max_ts: hour + TICKS_PER_HOUR - 1,
            min_seq: number,
            max_seq: number,
            level: 1,
            promoted: Vec::new(),
            created: hour,
            checksums: None,
            damage: None,
            expired: None,
        }
    });
    let segments = store.segments(records.collect());
    store.view.replace(&[], segments);
    store
}

/// The shortest time in which a query is planned, and how many segments it reads.
async fn planned(store: &Store, from: Option<i64>) -> (Duration, usize) {
    let mut best = Duration::MAX;
    let filter = from.map(|from| col("timestamp").gt_eq(lit(from)));
    for _ in 0..RUNS {
        let snapshot = store.snapshot();
        let begun = Instant::now();
        let mut frame = frame(&snapshot, app(1));
        if let Some(filter) = &filter {
            frame = frame.filter(filter.clone()).unwrap();
        }
        let frame = frame.select_columns(&["timestamp", "name", "duration"]);
        frame.unwrap().create_physical_plan().await.unwrap();
        best = best.min(begun.elapsed());
    }
    let table = store.snapshot().table(&[app(1)], Table::Requests);
    (best, table.segments_in(filter.as_slice()))
}

/// A query of the last hour is planned in nearly constant time, one of all rows in linear time.
#[tokio::test]
async fn planning_grows_with_the_segments_that_are_read() {
    let sizes: &[u64] = if proving() {
        &[1_000_000, 10_000_000, 100_000_000, 1_000_000_000]
    } else {
        &[1_000_000, 10_000_000]
    };
    eprintln!(
        "rows            segments   last hour, ms   all rows, ms   all rows, µs for each segment"
    );
    for rows in sizes {
        let dir = tempfile::tempdir().unwrap();
        let store = simulated(dir.path(), *rows).await;
        let segments = usize::try_from(rows / SEGMENT_ROWS).unwrap();
        let last = START + i64::try_from(segments - 1).unwrap() * TICKS_PER_HOUR;
        let (of_hour, one) = planned(&store, Some(last)).await;
        let (of_all, all) = planned(&store, None).await;
        assert_eq!((one, all), (1, segments));
        let milliseconds = |time: Duration| time.as_secs_f64() * 1000.0;
        eprintln!(
            "{rows:<13} {segments:>10} {:>15.2} {:>14.2} {:>12.1}",
            milliseconds(of_hour),
            milliseconds(of_all),
            milliseconds(of_all) * 1000.0 / segments as f64
        );
        assert!(
            of_all < Duration::from_secs(5),
            "planning over {segments} segments takes {of_all:?}"
        );
    }
}
