//! Damage on the disk: no flipped bit of a segment or of the log is answered from, and the error names the file.

use super::*;
use crate::RealFs;
use crate::log;
use crate::segment::SegmentFileReader;
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;

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

#[tokio::test]
async fn a_query_over_a_damaged_segment_fails_and_names_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = one_segment(dir.path()).await;
    let bytes = std::fs::read(&path).unwrap();
    for part in 0..20 {
        let mut damaged = bytes.clone();
        let place = bytes.len() * part / 20;
        damaged[place] ^= 0x10;
        std::fs::write(&path, &damaged).unwrap();
        let store = Store::open(quiet(dir.path())).await.unwrap();
        let error = frame(&store.snapshot(), app(1)).collect().await;
        let error = error.expect_err("damage is no answer").to_string();
        assert!(
            error.contains("is damaged at byte") && error.contains(path.to_str().unwrap()),
            "byte {place}: {error}"
        );
    }
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
