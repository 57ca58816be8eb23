//! Backups hold each acknowledged item once, say what is damaged, and are restored to new folders alone.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::{
    BackupReport, Restored, StoreError, TICKS_PER_HOUR, create_backup, restore_backup,
    verify_backup,
};

async fn backed_up(root: &Path, backup: &Path) -> BackupReport {
    create_backup(root, backup, &[], START, Arc::new(()))
        .await
        .unwrap()
}

async fn restored(backup: &Path, root: &Path, accept_damage: bool) -> Restored {
    restore_backup(backup, root, accept_damage, Arc::new(()))
        .await
        .unwrap()
}

/// The ids in a folder, sorted.
async fn ids_in(root: &Path) -> Vec<String> {
    let store = Store::open(quiet(root)).await.unwrap();
    let found = ids(&store, app(1)).await;
    store.close().await.unwrap();
    found
}

/// The files of a folder below `name`.
fn files(root: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.join(name)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A store with segments of two hours and requests in its log.
async fn filled(root: &Path) -> Arc<Store> {
    let store = Store::open(quiet(root)).await.unwrap();
    put(&store, app(1), &[item("a", 0), item("b", TICKS_PER_HOUR)])
        .await
        .unwrap();
    store.seal_all().await.unwrap();
    put(&store, app(1), &[item("c", 2)]).await.unwrap();
    store
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backups_under_load_hold_each_acknowledged_item_once() {
    let dir = tempfile::tempdir().unwrap();
    let (root, backup) = (dir.path().join("data"), dir.path().join("backup"));
    let store = Store::open(quiet(&root)).await.unwrap();
    let (acknowledged, stop) = (
        Arc::new(parking_lot::Mutex::new(Vec::new())),
        Arc::new(AtomicBool::new(false)),
    );
    let writer = {
        let (store, acknowledged, stop) = (store.clone(), acknowledged.clone(), stop.clone());
        tokio::spawn(async move {
            let mut number = 0;
            while !stop.load(Ordering::Relaxed) {
                let id = format!("{number:06}");
                let at = (number % 5) * TICKS_PER_HOUR;
                put(&store, app(1), &[item(&id, at)]).await.unwrap();
                acknowledged.lock().push(id);
                number += 1;
                if number % 20 == 0 {
                    store.seal_all().await.unwrap();
                }
                if number % 100 == 0 {
                    store.compact().await.unwrap();
                }
            }
        })
    };
    for round in 0..6 {
        // A writer that failed adds no more: the test then ends below with its failure.
        while acknowledged.lock().len() < (round + 1) * 60 && !writer.is_finished() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        let before = acknowledged.lock().clone();
        let report = backed_up(&root, &backup).await;
        assert_eq!(report.damage, vec![]);
        let after = acknowledged.lock().len();
        let copy = dir.path().join(format!("restored-{round}"));
        let done = restored(&backup, &copy, false).await;
        assert!(matches!(done, Restored::Done(_)), "{done:?}");
        let found = ids_in(&copy).await;
        let mut unique = found.clone();
        unique.dedup();
        assert_eq!(found, unique, "an item is there twice");
        assert_eq!(found.get(..before.len()), Some(&before[..]));
        // One request may be on disk and not acknowledged yet.
        assert!(found.len() <= after + 1, "{} of {after}", found.len());
        assert_eq!(report.sequence, found.len() as u64);
    }
    stop.store(true, Ordering::Relaxed);
    writer.await.unwrap();
}

#[tokio::test]
async fn a_backup_of_a_closed_folder_is_verified_and_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let (root, backup) = (dir.path().join("data"), dir.path().join("backup"));
    let store = filled(&root).await;
    let first = backed_up(&root, &backup).await;
    assert_eq!((first.segments, first.kept, first.sequence), (2, 0, 2));
    store.close().await.unwrap();
    drop(store);
    std::fs::write(root.join("daily-use"), "of another part").unwrap();
    std::fs::create_dir(root.join("tls")).unwrap();
    std::fs::write(root.join("tls/ca.pem"), "a certificate").unwrap();
    let beside = ["daily-use", "tls", "absent"].map(PathBuf::from);
    let second = create_backup(&root, &backup, &beside, START + 1, Arc::new(()))
        .await
        .unwrap();
    // Closing sealed the request of the log.
    assert_eq!((second.segments, second.kept), (3, 2));
    let report = verify_backup(&backup, Arc::new(())).await.unwrap();
    assert_eq!((report.created, report.damage), (START + 1, vec![]));
    assert_eq!(report.bytes, second.bytes);
    assert!(second.copied < second.bytes);
    // Nothing of the first backup is left but what the second needs.
    assert!(!backup.join("state-1").exists());
    assert_eq!(files(&backup, "segments").len(), 3);

    let copy = dir.path().join("copy");
    assert!(matches!(
        restored(&backup, &copy, false).await,
        Restored::Done(_)
    ));
    for name in ["daily-use", "tls/ca.pem"] {
        assert_eq!(
            std::fs::read(copy.join(name)).unwrap(),
            std::fs::read(root.join(name)).unwrap()
        );
    }
    for name in ["db-wal", "db-shm", "generation"] {
        assert!(!copy.join("catalogue").with_extension(name).exists());
    }
    let checked = crate::check(&copy, None, Arc::new(())).await.unwrap();
    assert_eq!((checked.damage, checked.notes), (vec![], vec![]));
    assert_eq!(ids_in(&copy).await, ["a", "b", "c"]);
    // The restored folder is a store like any other.
    let store = Store::open(quiet(&copy)).await.unwrap();
    put(&store, app(1), &[item("d", 3)]).await.unwrap();
    store.close().await.unwrap();
    assert_eq!(ids_in(&copy).await, ["a", "b", "c", "d"]);
}

#[tokio::test]
async fn every_damaged_file_of_a_backup_is_named_and_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (root, backup) = (dir.path().join("data"), dir.path().join("backup"));
    filled(&root).await.close().await.unwrap();
    backed_up(&root, &backup).await;
    let list: Vec<PathBuf> = ["segments", "state-1"]
        .into_iter()
        .flat_map(|name| files(&backup, name))
        .collect();
    assert!(list.len() >= 6, "{list:?}");
    for (number, file) in list.iter().enumerate() {
        let whole = std::fs::read(file).unwrap();
        let mut bytes = whole.clone();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(file, bytes).unwrap();
        let report = verify_backup(&backup, Arc::new(())).await.unwrap();
        let paths: Vec<_> = report.damage.iter().map(|found| &found.path).collect();
        assert_eq!(paths, [file]);
        let copy = dir.path().join(format!("copy-{number}"));
        let refused = restored(&backup, &copy, false).await;
        assert!(matches!(refused, Restored::Refused(_)), "{refused:?}");
        assert!(!copy.exists(), "a refused restore writes nothing");
        let accepted = restored(&backup, &copy, true).await;
        if file.starts_with(backup.join("segments")) {
            assert!(matches!(&accepted, Restored::Done(done) if done.damage.len() == 1));
        } else {
            assert!(matches!(accepted, Restored::Refused(_)), "{accepted:?}");
        }
        std::fs::write(file, whole).unwrap();
    }
    std::fs::remove_file(&list[0]).unwrap();
    let report = verify_backup(&backup, Arc::new(())).await.unwrap();
    assert_eq!(report.damage[0].what, "missing");
}

#[tokio::test]
async fn damage_of_the_data_folder_is_reported_and_the_rest_is_backed_up() {
    let dir = tempfile::tempdir().unwrap();
    let (root, backup) = (dir.path().join("data"), dir.path().join("backup"));
    filled(&root).await.close().await.unwrap();
    let segments = files(&root, "segments");
    let mut bytes = std::fs::read(&segments[0]).unwrap();
    bytes[9] ^= 1;
    std::fs::write(&segments[0], bytes).unwrap();
    std::fs::remove_file(&segments[1]).unwrap();
    let report = backed_up(&root, &backup).await;
    let found: Vec<_> = report.damage.iter().map(|one| one.path.clone()).collect();
    assert_eq!(found, segments[..2]);
    let verified = verify_backup(&backup, Arc::new(())).await.unwrap();
    assert_eq!(verified.damage.len(), 1, "{verified:?}");
    let copy = dir.path().join("copy");
    assert!(matches!(
        restored(&backup, &copy, true).await,
        Restored::Done(_)
    ));
    let store = Store::open(quiet(&copy)).await.unwrap();
    assert_eq!(store.stats().rows() + store.stats().damaged_segments(), 3);
    assert_eq!(
        store.damaged_segments(),
        1,
        "the size of the other is right"
    );
}

#[tokio::test]
async fn other_folders_are_left_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let (root, backup) = (dir.path().join("data"), dir.path().join("backup"));
    let store = filled(&root).await;
    std::fs::create_dir(&backup).unwrap();
    std::fs::write(backup.join("letter"), "dear").unwrap();
    let refused = create_backup(&root, &backup, &[], START, Arc::new(())).await;
    assert!(matches!(refused, Err(StoreError::NotEmpty { .. })));
    std::fs::remove_file(backup.join("letter")).unwrap();
    backed_up(&root, &backup).await;
    let refused = restore_backup(&backup, &root, false, Arc::new(())).await;
    assert!(matches!(refused, Err(StoreError::NotEmpty { .. })));

    let other = dir.path().join("other");
    filled(&other).await.close().await.unwrap();
    let refused = create_backup(&other, &backup, &[], START, Arc::new(())).await;
    assert!(matches!(refused, Err(StoreError::Foreign { .. })));
    let none = verify_backup(&root, Arc::new(())).await;
    assert!(matches!(none, Err(StoreError::NoBackup { .. })));
    let none = create_backup(&dir.path().join("none"), &backup, &[], START, Arc::new(())).await;
    assert!(matches!(none, Err(StoreError::NoStore { .. })));
    drop(store);
}

#[tokio::test]
async fn an_interrupted_backup_leaves_the_earlier_one_and_is_begun_again() {
    let dir = tempfile::tempdir().unwrap();
    let (root, backup) = (dir.path().join("data"), dir.path().join("backup"));
    let store = filled(&root).await;
    backed_up(&root, &backup).await;
    let earlier = std::fs::read(backup.join("manifest")).unwrap();
    put(&store, app(1), &[item("d", 3)]).await.unwrap();
    store.seal_all().await.unwrap();
    backed_up(&root, &backup).await;
    // As if the second had been interrupted before its manifest, and had left more than it needs.
    copy_dir(&backup.join("state-2"), &backup.join("state-1"));
    std::fs::write(backup.join("segments/left over.parquet"), "x").unwrap();
    let late = std::fs::read(backup.join("manifest")).unwrap();
    assert_ne!(earlier, late);
    backed_up(&root, &backup).await;
    assert!(!backup.join("segments/left over.parquet").exists());
    let report = verify_backup(&backup, Arc::new(())).await.unwrap();
    assert_eq!(report.damage, vec![]);
    let copy = dir.path().join("copy");
    restored(&backup, &copy, false).await;
    assert_eq!(ids_in(&copy).await, ["a", "b", "c", "d"]);
}
