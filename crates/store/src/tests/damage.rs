//! Damage on the disk: no flipped bit of a segment is answered from, and one damaged segment is one damaged segment (`D34`).

use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::Duration;

use datafusion::prelude::{col, lit};

use super::*;
use crate::segment::SegmentFileReader;
use crate::{MissingData, StoreError, TICKS_PER_HOUR};

/// A closed store with one segment; its file.
async fn one_segment(root: &Path) -> PathBuf {
    let store = Store::open(quiet(root)).await.unwrap();
    let items: Vec<Item> = (0..4000).map(|n| item(format!("id-{n}"), n)).collect();
    put(&store, app(1), &items).await.unwrap();
    store.close().await.unwrap();
    let folder = root.join("segments").join(app(1).to_string());
    let mut files = std::fs::read_dir(folder.join("requests")).unwrap();
    let file = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none(), "one segment");
    file
}

#[tokio::test]
async fn every_flipped_byte_of_a_segment_is_noticed_where_it_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = one_segment(dir.path()).await;
    let bytes = std::fs::read(&path).unwrap();
    assert!(
        bytes.len() > 32 << 10,
        "it has several blocks: {}",
        bytes.len()
    );
    let store = Store::open(quiet(dir.path())).await.unwrap();
    let segments = store.segments(store.catalogue().segments().await.unwrap());
    let whole = 0..bytes.len() as u64;
    let reader = SegmentFileReader::open(&segments[0]).unwrap();
    assert_eq!(reader.read(&whole).unwrap(), bytes);

    let mut file = std::fs::File::options().write(true).open(&path).unwrap();
    let mut put = |place: usize, byte: u8| {
        file.seek(SeekFrom::Start(place as u64)).unwrap();
        file.write_all(&[byte]).unwrap();
    };
    for (place, byte) in bytes.iter().enumerate() {
        put(place, byte ^ (1 << (place % 8)));
        let near = place as u64..place as u64 + 1;
        let error = SegmentFileReader::open(&segments[0]).unwrap().read(&near);
        let error = error.expect_err("a flipped bit").to_string();
        assert!(
            error.contains(path.to_str().unwrap()),
            "byte {place}: {error}"
        );
        put(place, *byte);
    }
}

/// The first query that meets damage fails and names the file. From then on the segment is left out, which each query says.
#[tokio::test]
async fn a_query_that_meets_damage_fails_and_later_ones_leave_the_segment_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = one_segment(dir.path()).await;
    let bytes = std::fs::read(&path).unwrap();
    for part in 0..20 {
        let mut damaged = bytes.clone();
        let place = bytes.len() * part / 20;
        damaged[place] ^= 0x10;
        std::fs::write(&path, &damaged).unwrap();
        let store = Store::open(quiet(dir.path())).await.unwrap();
        let snapshot = store.snapshot();
        let error = frame(&snapshot, app(1)).collect().await;
        let error = error.expect_err("damage is no answer").to_string();
        assert!(
            error.contains("is damaged at byte") && error.contains(path.to_str().unwrap()),
            "byte {place}: {error}"
        );
        assert!(snapshot.has_new_damage());
        let snapshot = store.snapshot();
        assert_eq!(frame(&snapshot, app(1)).count().await.unwrap(), 0);
        assert_eq!(snapshot.missing(), [hours(0, 1)]);
        assert!(!snapshot.has_new_damage());
        store.close().await.unwrap();
        drop(store);

        // The file is restored: the next opening reads it and finds it whole.
        std::fs::write(&path, &bytes).unwrap();
        let store = Store::open(quiet(dir.path())).await.unwrap();
        let snapshot = store.snapshot();
        assert_eq!(frame(&snapshot, app(1)).count().await.unwrap(), 4000);
        assert_eq!((snapshot.missing(), store.health().reason), (vec![], None));
    }
}

/// Hours of the requests of application 1 after [`START`].
fn hours(from: i64, to: i64) -> MissingData {
    MissingData {
        app: app(1),
        table: Table::Requests,
        from: START + from * TICKS_PER_HOUR,
        to: START + to * TICKS_PER_HOUR,
    }
}

/// A closed store with a segment in each of these hours; their files in this order.
async fn segments_of_hours(root: &Path, count: i64) -> Vec<PathBuf> {
    let store = Store::open(quiet(root)).await.unwrap();
    let items: Vec<Item> = (0..count)
        .map(|hour| item(format!("h{hour}"), hour * TICKS_PER_HOUR))
        .collect();
    put(&store, app(1), &items).await.unwrap();
    store.close().await.unwrap();
    files(root)
}

/// The files of requests of application 1, by hour.
fn files(root: &Path) -> Vec<PathBuf> {
    let folder = root.join("segments").join(app(1).to_string());
    let entries = std::fs::read_dir(folder.join("requests")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[tokio::test]
async fn missing_and_short_segments_do_not_stop_the_start_and_other_hours_are_served_and_merged() {
    let dir = tempfile::tempdir().unwrap();
    let lost = segments_of_hours(dir.path(), 4).await;
    std::fs::remove_file(&lost[1]).unwrap();
    let bytes = std::fs::read(&lost[2]).unwrap();
    std::fs::write(&lost[2], &bytes[..bytes.len() - 1]).unwrap();
    let clock = manual_clock();
    let config = StoreConfig {
        clock: clock.clone(),
        ..quiet(dir.path())
    };
    let store = Store::open(config.clone()).await.unwrap();
    let reason = store.health().reason.unwrap();
    assert!(reason.contains("2 segments are damaged"), "{reason}");
    assert!(store.health().writable);
    let stats = store.stats();
    assert_eq!((stats.rows(), stats.damaged_segments()), (2, 2));
    let snapshot = store.snapshot();
    assert_eq!(ids_of(frame(&snapshot, app(1))).await, ["h0", "h3"]);
    assert_eq!(snapshot.missing(), [hours(1, 3)]);

    // A query of other hours is whole and says nothing.
    let snapshot = store.snapshot();
    let late = col("timestamp").gt_eq(lit(START + 3 * TICKS_PER_HOUR));
    let late = frame(&snapshot, app(1)).filter(late).unwrap();
    assert_eq!(ids_of(late).await, ["h3"]);
    assert_eq!(snapshot.missing(), []);
    let other = store.snapshot();
    assert_eq!(frame(&other, app(2)).count().await.unwrap(), 0);
    assert_eq!(other.missing(), []);

    // The other hours of the day are merged, and the damaged segments stay as they are.
    clock.pass(Duration::from_secs(3 * 86_400));
    assert_eq!(store.compact().await.unwrap(), 1);
    assert_eq!(ids(&store, app(1)).await, ["h0", "h3"]);
    assert_eq!(store.stats().damaged_segments(), 2);
    store.close().await.unwrap();
    drop(store);

    std::fs::write(&lost[2], &bytes).unwrap();
    let store = Store::open(config).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["h0", "h2", "h3"]);
    assert_eq!(store.stats().damaged_segments(), 1);
}

#[tokio::test]
async fn a_merge_that_meets_damage_leaves_the_segment_out_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let found = segments_of_hours(dir.path(), 4).await;
    let mut bytes = std::fs::read(&found[1]).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&found[1], &bytes).unwrap();
    let clock = manual_clock();
    clock.pass(Duration::from_secs(3 * 86_400));
    let config = StoreConfig {
        clock,
        ..quiet(dir.path())
    };
    let store = Store::open(config.clone()).await.unwrap();
    assert_eq!(store.stats().damaged_segments(), 0, "it has the right size");
    assert_eq!(store.compact().await.unwrap(), 1);
    let snapshot = store.snapshot();
    assert_eq!(ids_of(frame(&snapshot, app(1))).await, ["h0", "h2", "h3"]);
    assert_eq!(snapshot.missing(), [hours(1, 2)]);
    drop(store);

    // It was not marked in the catalogue: its next reader finds it again.
    let store = Store::open(config).await.unwrap();
    frame(&store.snapshot(), app(1))
        .collect()
        .await
        .unwrap_err();
    assert_eq!(ids(&store, app(1)).await, ["h0", "h2", "h3"]);
    store.save_damage().await.unwrap();
    let marked = store.catalogue().segments().await.unwrap();
    let marked = marked.iter().filter(|segment| segment.damage.is_some());
    assert_eq!(marked.count(), 1);
}

/// Its segments would be taken for lost ones, and what replaced them would go to the quarantine.
#[tokio::test]
async fn a_catalogue_that_is_older_than_a_merge_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    segments_of_hours(dir.path(), 3).await;
    let older = std::fs::read(dir.path().join("catalogue.db")).unwrap();
    let clock = manual_clock();
    clock.pass(Duration::from_secs(3 * 86_400));
    let config = StoreConfig {
        clock,
        ..quiet(dir.path())
    };
    let store = Store::open(config.clone()).await.unwrap();
    assert_eq!(store.compact().await.unwrap(), 1);
    store.close().await.unwrap();
    drop(store);
    let merged = files(dir.path());
    std::fs::write(dir.path().join("catalogue.db"), older).unwrap();
    let refused = Store::open(config).await.expect_err("an older catalogue");
    assert!(
        matches!(&refused, StoreError::Foreign { what, .. } if what.contains("older than a merge")),
        "{refused}"
    );
    assert_eq!(files(dir.path()), merged);
}
