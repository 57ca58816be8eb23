//! The check of a data folder finds damage, names the file, and changes nothing.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;
use crate::{CheckReport, StoreError, TICKS_PER_HOUR, check};

/// A store with segments of two hours and requests in its log.
async fn filled(root: &Path) -> Arc<Store> {
    let store = Store::open(quiet(root)).await.unwrap();
    put(&store, app(1), &[item("a", 0), item("b", TICKS_PER_HOUR)])
        .await
        .unwrap();
    store.seal_all().await.unwrap();
    for id in ["c", "d", "e"] {
        put(&store, app(1), &[item(id, 2)]).await.unwrap();
    }
    store
}

/// Every file of a folder with the checksum of its bytes.
fn content(root: &Path) -> BTreeMap<PathBuf, u32> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let bytes = std::fs::read(&path).unwrap();
                found.insert(path, crc32c::crc32c(&bytes));
            }
        }
    }
    found
}

async fn checked(root: &Path) -> CheckReport {
    check(root, None, Arc::new(())).await.unwrap()
}

/// The only damage that a check finds is in this file.
async fn is_found(root: &Path, path: &Path, what: &str) {
    let report = checked(root).await;
    let found: Vec<_> = report.damage.iter().collect();
    assert!(
        found.len() == 1 && found[0].path == path && found[0].what.contains(what),
        "{found:?}, expected {what} in {}",
        path.display()
    );
}

fn segment(root: &Path) -> PathBuf {
    let folder = root.join("segments").join(app(1).to_string());
    let mut files: Vec<_> = std::fs::read_dir(folder.join("requests"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files.remove(0)
}

fn flip(path: &Path, place: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[place] ^= 4;
    std::fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn a_sound_folder_has_no_findings_open_or_closed_and_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path()).await;
    let before = content(&dir.path().join("segments"));
    for _ in 0..2 {
        let report = checked(dir.path()).await;
        assert_eq!((report.damage, report.notes), (vec![], vec![]));
        assert_eq!((report.segments, report.log_records), (2, 3));
        let sizes = before.keys().map(|path| path.metadata().unwrap().len());
        let segments: u64 = sizes.sum();
        // Each segment is read once, and the small log.
        assert!((segments..2 * segments).contains(&report.bytes));
    }
    put(&store, app(1), &[item("f", 3)]).await.unwrap();
    assert_eq!(checked(dir.path()).await.log_records, 4);
    store.close().await.unwrap();
    drop(store);
    let closed = content(dir.path());
    let report = checked(dir.path()).await;
    assert_eq!((report.damage, report.notes), (vec![], vec![]));
    assert_eq!((report.segments, report.log_records), (3, 0));
    assert_eq!(content(dir.path()), closed);
    assert!(before.len() == 2 && closed.len() > before.len());
}

#[tokio::test]
async fn a_check_beside_a_busy_store_finds_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    clock.pass(std::time::Duration::from_secs(3 * 86_400));
    let config = StoreConfig {
        clock,
        ..quiet(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    let busy = async {
        for round in 0..40 {
            for hour in 0..3 {
                let item = item(format!("{round}-{hour}"), hour * TICKS_PER_HOUR);
                put(&store, app(1), &[item]).await.unwrap();
            }
            store.seal_all().await.unwrap();
            store.compact().await.unwrap();
        }
    };
    let watch = async {
        for _ in 0..20 {
            let report = checked(dir.path()).await;
            assert_eq!((report.damage, report.notes), (vec![], vec![]));
        }
    };
    tokio::join!(busy, watch);
}

#[tokio::test]
async fn damage_is_found_and_named() {
    let dir = tempfile::tempdir().unwrap();
    drop(filled(dir.path()).await);
    let copy = || {
        let copy = tempfile::tempdir().unwrap();
        copy_dir(dir.path(), copy.path());
        copy
    };
    let file = copy();
    let path = segment(file.path());
    flip(&path, 100);
    is_found(file.path(), &path, "damaged at byte 0").await;
    std::fs::write(&path, "x").unwrap();
    is_found(file.path(), &path, "it has 1 bytes").await;
    std::fs::remove_file(&path).unwrap();
    is_found(file.path(), &path, "missing").await;

    let file = copy();
    let path = last_log_file(file.path());
    flip(&path, 100);
    is_found(
        file.path(),
        &path,
        "damaged at byte 16: record 2 does not read back",
    )
    .await;
    let length = std::fs::metadata(&path).unwrap().len();
    std::fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(length - 1)
        .unwrap();
    is_found(file.path(), &path, "record 2").await;
    std::fs::remove_file(&path).unwrap();
    is_found(file.path(), &file.path().join("log"), "are gone").await;

    let file = copy();
    let path = file.path().join("format");
    std::fs::write(
        &path,
        "hindsight 1\nstore 00000000-0000-0000-0000-000000000001\n",
    )
    .unwrap();
    is_found(
        file.path(),
        &file.path().join("catalogue.db"),
        "not the catalogue of the store",
    )
    .await;
    std::fs::write(&path, "?").unwrap();
    is_found(file.path(), &path, "format version").await;

    let file = copy();
    let path = file.path().join("catalogue.db");
    for name in ["catalogue.db", "catalogue.db-wal"] {
        let _ = std::fs::write(file.path().join(name), "no database, surely not one");
    }
    is_found(file.path(), &path, "not a database").await;
    std::fs::remove_file(&path).unwrap();
    is_found(file.path(), &path, "missing").await;
}

#[tokio::test]
async fn a_changed_row_of_the_catalogue_and_an_older_copy_are_found() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path()).await.close().await.unwrap();
    let path = dir.path().join("catalogue.db");
    let older = std::fs::read(&path).unwrap();
    let name = segment(dir.path());
    let name = name.file_name().unwrap().as_encoded_bytes();
    let places = older.windows(name.len()).enumerate();
    let places: Vec<usize> = places
        .filter(|(_, bytes)| *bytes == name)
        .map(|(place, _)| place)
        .collect();
    assert!(!places.is_empty());
    let mut changed = older.clone();
    for place in places {
        changed[place + 1] ^= 1;
    }
    std::fs::write(&path, changed).unwrap();
    let report = checked(dir.path()).await;
    let found = report
        .damage
        .iter()
        .find(|finding| finding.path == path)
        .unwrap();
    assert!(
        found.what.contains("table 'segments'") || found.what.contains("index"),
        "{found:?}"
    );

    std::fs::write(&path, &older).unwrap();
    assert_eq!(checked(dir.path()).await.damage, vec![]);
    let store = Store::open(quiet(dir.path())).await.unwrap();
    store.catalogue().confirm_time(START).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    std::fs::write(&path, older).unwrap();
    is_found(dir.path(), &path, "an older copy").await;
}

/// A power failure may bring back a file that was removed.
#[tokio::test]
async fn a_file_of_the_log_before_the_position_is_no_damage() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path()).await;
    let removed = last_log_file(dir.path());
    let bytes = std::fs::read(&removed).unwrap();
    store.seal_all().await.unwrap();
    put(&store, app(1), &[item("f", 2)]).await.unwrap();
    store.seal_all().await.unwrap();
    drop(store);
    assert!(!removed.exists());
    std::fs::write(&removed, &bytes[..bytes.len() / 2]).unwrap();
    let report = checked(dir.path()).await;
    assert_eq!(report.damage, vec![]);
    let store = Store::open(quiet(dir.path())).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["a", "b", "c", "d", "e", "f"]);
}

#[tokio::test]
async fn what_opening_tidies_is_noted_and_no_damage() {
    let dir = tempfile::tempdir().unwrap();
    drop(filled(dir.path()).await);
    let listed = segment(dir.path());
    let (unlisted, half) = (
        listed.with_file_name("h1-x.parquet"),
        listed.with_file_name("h1-x.tmp"),
    );
    std::fs::write(&unlisted, "x").unwrap();
    std::fs::write(&half, "x").unwrap();
    let log = last_log_file(dir.path());
    let length = std::fs::metadata(&log).unwrap().len();
    let file = std::fs::File::options().write(true).open(&log).unwrap();
    file.set_len(length - 1).unwrap();
    let report = checked(dir.path()).await;
    assert_eq!(report.damage, vec![]);
    let noted: Vec<PathBuf> = report.notes.into_iter().map(|note| note.path).collect();
    for path in [&unlisted, &half, &log] {
        assert!(noted.contains(path), "{noted:?}");
    }
}

#[tokio::test]
async fn where_there_is_no_store_the_check_fails() {
    let dir = tempfile::tempdir().unwrap();
    let refused = check(dir.path(), None, Arc::new(())).await;
    assert!(matches!(refused, Err(StoreError::NoStore { .. })));
}
