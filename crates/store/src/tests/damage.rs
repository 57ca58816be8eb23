//! Damage on the disk: no flipped bit of a segment or of the log is answered from, the error names the file, and one damaged segment is one
//! damaged segment (`D34`).

use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::Duration;

use datafusion::prelude::{col, lit};

use super::*;
use crate::RealFs;
use crate::log;
use crate::segment::filter_reader::FilterReader;
use crate::segment::{FilterBlocks, SegmentFileReader};
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

/// What was read before the damage is still there, and is what was written; everything else is compared with its checksum.
#[tokio::test]
async fn blocks_of_filters_are_kept_as_they_were_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = one_segment(dir.path()).await;
    let bytes = std::fs::read(&path).unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    let segments = store.segments(store.catalogue().segments().await.unwrap());
    let [segment] = segments.as_slice() else {
        panic!("one segment")
    };
    let (kept, none) = (FilterBlocks::new(1 << 20), FilterBlocks::new(0));
    let read = |blocks: &FilterBlocks, from: u64, to: u64| {
        FilterReader::new(segment, blocks).read(&(from..to))
    };
    for blocks in [&kept, &none] {
        assert_eq!(read(blocks, 100, 132).unwrap(), bytes[100..132]);
    }
    let flipped: Vec<u8> = bytes.iter().map(|byte| byte ^ 1).collect();
    std::fs::write(&path, flipped).unwrap();
    assert_eq!(read(&kept, 500, 532).unwrap(), bytes[500..532]);
    let block = 32 << 10;
    for (blocks, from) in [(&none, 100), (&kept, block), (&kept, block - 16)] {
        let error = read(blocks, from, from + 32).expect_err("flipped bits");
        assert!(
            error.to_string().contains(path.to_str().unwrap()),
            "{error}"
        );
    }
    let end = bytes.len() as u64;
    assert!(read(&kept, end - 16, end + 16).is_err(), "beyond the end");
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
    let refused = Store::open(config.clone()).await;
    assert!(
        matches!(&refused, Err(StoreError::DamagedCatalogue { what, .. }) if what.contains("older copy")),
        "{refused:?}"
    );
    // An operator may accept an older copy, and this one does not fit the segments.
    std::fs::remove_file(dir.path().join("catalogue.generation")).unwrap();
    let refused = Store::open(config).await.expect_err("an older catalogue");
    assert!(
        matches!(&refused, StoreError::Foreign { what, .. } if what.contains("older than a merge")),
        "{refused}"
    );
    assert_eq!(files(dir.path()), merged);
}
/// The requests of a log: how many there are and the checksum of their payloads, or why it is refused.
fn replayed(dir: &Path) -> Result<(u64, String), crate::StoreError> {
    let mut content = String::new();
    let end = log::replay(&RealFs, dir, 0, |sequence, payload| {
        let rows = payload.batches.iter().map(|(table, batch)| {
            let id = batch.column_by_name("id").unwrap().as_string_view();
            format!(
                "{sequence} {} {} {}\n",
                payload.app,
                table.name(),
                id.value(0)
            )
        });
        content.extend(rows);
        Ok(())
    })?;
    Ok((end.next, content))
}

#[tokio::test]
async fn simulation_of_flipped_bytes_of_a_log() {
    let dir = tempfile::tempdir().unwrap();
    let config = StoreConfig {
        log_file_bytes: 100,
        ..quiet(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    for number in 0..3 {
        put(&store, app(1), &[item(number, number)]).await.unwrap();
    }
    let crashed = tempfile::tempdir().unwrap();
    copy_dir(dir.path(), crashed.path());
    drop(store);

    let logs = crashed.path().join("log");
    let whole = replayed(&logs).unwrap();
    assert_eq!(whole.0, 4);
    let files: Vec<PathBuf> = std::fs::read_dir(&logs)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(files.len() > 2, "{} files", files.len());
    let (mut found, mut count) = (0, 0);
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        for place in (0..bytes.len()).step_by(if proving() { 1 } else { 5 }) {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1 << (place % 7);
            std::fs::write(&file, &damaged).unwrap();
            count += 1;
            match replayed(&logs) {
                Ok(read) => assert_eq!(read, whole, "{} byte {place}", file.display()),
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains(logs.to_str().unwrap()), "{place}: {text}");
                    found += 1;
                }
            }
        }
        std::fs::write(&file, &bytes).unwrap();
    }
    // The marks of acknowledgement and the header of an empty file may change without harm.
    assert!(found > count * 9 / 10, "{found} of {count}");
}

#[tokio::test]
async fn simulation_of_flipped_bytes_anywhere_in_a_store() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    for number in 0..3 {
        put(&store, app(1), &[item(number, number)]).await.unwrap();
        store.seal_all().await.unwrap();
    }
    put(&store, app(1), &[item("logged", 3)]).await.unwrap();
    let expected = ids(&store, app(1)).await;
    let crashed = tempfile::tempdir().unwrap();
    copy_dir(dir.path(), crashed.path());
    drop(store);

    let mut files = Vec::new();
    let mut folders = vec![crashed.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if entry.metadata().unwrap().len() > 0 {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    assert!(files.len() >= 6, "{files:?}");
    let samples = if proving() { 400 } else { 10 };
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        for sample in 0..samples {
            let place = sample * bytes.len() / samples;
            let copy = tempfile::tempdir().unwrap();
            copy_dir(crashed.path(), copy.path());
            let below = file.strip_prefix(crashed.path()).unwrap();
            let mut damaged = bytes.clone();
            damaged[place] ^= 1 << (place % 8);
            std::fs::write(copy.path().join(below), &damaged).unwrap();
            let answer = match Store::open(quiet(copy.path())).await {
                Ok(store) => frame(&store.snapshot(), app(1))
                    .select_columns(&["id"])
                    .unwrap()
                    .collect()
                    .await
                    .map(|batches| {
                        let columns = batches.iter().map(|batch| batch.column(0).as_string_view());
                        let texts = columns.flat_map(|column| column.iter().flatten());
                        let mut ids: Vec<String> = texts.map(str::to_owned).collect();
                        ids.sort_unstable();
                        ids
                    })
                    .map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            match answer {
                Ok(ids) => assert_eq!(ids, expected, "{} byte {place}", below.display()),
                Err(text) => assert!(
                    text.contains(copy.path().to_str().unwrap()),
                    "{} byte {place}: {text}",
                    below.display()
                ),
            }
        }
    }
}
