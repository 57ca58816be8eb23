//! Items that are there already are not stored again, wherever they lie.

use std::time::Duration;

use super::bad_disk::BadDisk;
use super::*;
use crate::{StoreError, TICKS_PER_HOUR, UniqueAck};

async fn import(store: &Arc<Store>, items: &[Item]) -> crate::Result<UniqueAck> {
    let batches = vec![(Table::Requests, requests(items))];
    let request = AppendRequest {
        app: app(1),
        batches,
    };
    store.append_unique(request).await
}

#[tokio::test]
async fn repeated_imports_store_each_item_once_in_memory_in_segments_and_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    let (one, two) = (item("a", 0), item("b", 30 * TICKS_PER_HOUR));
    let done = import(&store, &[one.clone(), one.clone()]).await.unwrap();
    assert_eq!((done.stored, done.duplicates), (1, 1));
    put(&store, app(2), std::slice::from_ref(&two))
        .await
        .unwrap();
    let done = import(&store, &[one.clone(), two.clone()]).await.unwrap();
    assert_eq!(
        (done.stored, done.duplicates),
        (1, 1),
        "another application's item"
    );
    store.seal_all().await.unwrap();
    let done = import(&store, &[two.clone(), one.clone()]).await.unwrap();
    assert_eq!((done.stored, done.duplicates, done.ack.sequence), (0, 2, 0));
    drop(store);
    let store = Store::open(quiet(dir.path())).await.unwrap();
    // The same identity at another time is another item.
    let later = item("a", 1);
    let done = import(&store, &[one, two, later, item("", 0), item("", 0)])
        .await
        .unwrap();
    assert_eq!((done.stored, done.duplicates), (3, 2));
    assert_eq!(ids(&store, app(1)).await, ["", "", "a", "a", "b"]);
}

#[tokio::test]
async fn a_cancelled_import_that_is_repeated_at_once_stores_each_item_once() {
    let (dir, disk) = (tempfile::tempdir().unwrap(), Arc::new(BadDisk::default()));
    let config = StoreConfig {
        vfs: disk.clone(),
        // Each request begins a file, which the disk can hold.
        log_file_bytes: 1,
        ..quiet(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    import(&store, &[item("a", 0)]).await.unwrap();
    let importing = || {
        let store = store.clone();
        tokio::spawn(async move { import(&store, &[item("b", 1)]).await })
    };
    let mut held = disk.hold_next_file();
    let cancelled = importing();
    held.begun().await;
    cancelled.abort();
    assert!(cancelled.await.unwrap_err().is_cancelled());
    let repeated = importing();
    tokio::time::sleep(Duration::from_millis(50)).await;
    held.let_go();
    let done = repeated.await.unwrap().unwrap();
    assert_eq!((done.stored, done.duplicates), (0, 1));
    assert_eq!(ids(&store, app(1)).await, ["a", "b"]);
}

#[tokio::test]
async fn imports_over_damaged_hours_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    put(&store, app(1), &[item("a", 0)]).await.unwrap();
    store.close().await.unwrap();
    let folder = dir.path().join(format!("segments/{}/requests", app(1)));
    let file = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap();
    std::fs::remove_file(file.path()).unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    let refused = import(&store, &[item("a", 0)]).await;
    assert!(
        matches!(refused, Err(StoreError::Uncertain { .. })),
        "{refused:?}"
    );
    let done = import(&store, &[item("b", TICKS_PER_HOUR)]).await.unwrap();
    assert_eq!(done.stored, 1);
}
