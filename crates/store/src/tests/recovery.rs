//! What is there again after the store was opened anew.

use std::sync::atomic::Ordering;

use super::bad_disk::BadDisk;
use super::*;
use crate::{Health, Quarantine, StoreError};

#[tokio::test]
async fn what_was_acknowledged_is_there_after_a_store_was_dropped_without_closing() {
    for home in Home::each_place() {
        let store = Store::open(home.quiet()).await.unwrap();
        put(&store, app(1), &[item("a", 1), item("b", 2)])
            .await
            .unwrap();
        store.seal_all().await.unwrap();
        let last = put(&store, app(1), &[item("c", 3)]).await.unwrap();
        assert_eq!(ids(&store, app(1)).await, ["a", "b", "c"]);
        drop(store);

        let store = Store::open(home.quiet()).await.unwrap();
        assert_eq!(ids(&store, app(1)).await, ["a", "b", "c"]);
        let next = put(&store, app(1), &[item("d", 4)]).await.unwrap();
        assert_eq!(next.sequence, last.sequence + 1);
        drop(store);

        let store = Store::open(home.quiet()).await.unwrap();
        assert_eq!(ids(&store, app(1)).await, ["a", "b", "c", "d"]);
    }
}

#[tokio::test]
async fn a_clean_end_leaves_only_segments() {
    for home in Home::each_place() {
        let store = Store::open(home.quiet()).await.unwrap();
        put(&store, app(1), &[item("a", 1)]).await.unwrap();
        store.close().await.unwrap();
        assert!(matches!(
            put(&store, app(1), &[item("b", 1)]).await,
            Err(StoreError::Closed)
        ));

        let store = Store::open(home.quiet()).await.unwrap();
        let stats = store.stats();
        assert_eq!((stats.rows(), stats.hot_bytes()), (1, 0));
        assert_eq!(ids(&store, app(1)).await, ["a"]);
    }
}

#[tokio::test]
async fn a_torn_tail_is_cut_and_what_lies_before_it_stays() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    let file = last_log_file(dir.path());
    let whole = std::fs::metadata(&file).unwrap().len() as usize;
    put(&store, app(1), &[item("b", 2)]).await.unwrap();
    drop(store);
    let bytes = std::fs::read(&file).unwrap();

    // The last 24 bytes are the mark that "b" was acknowledged.
    for length in [whole + 1, whole + 15, whole + 16, bytes.len() - 25] {
        let crashed = tempfile::tempdir().unwrap();
        copy_dir(dir.path(), crashed.path());
        std::fs::write(last_log_file(crashed.path()), &bytes[..length]).unwrap();
        let store = Store::open(quiet(crashed.path())).await.unwrap();
        assert_eq!(
            ids(&store, app(1)).await,
            ["a"],
            "cut to {length} of {}",
            bytes.len()
        );
        put(&store, app(1), &[item("c", 3)]).await.unwrap();
        drop(store);
        let store = Store::open(quiet(crashed.path())).await.unwrap();
        assert_eq!(ids(&store, app(1)).await, ["a", "c"]);
    }
}

#[tokio::test]
async fn damage_before_acknowledged_records_is_named_and_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    let file = last_log_file(dir.path());
    let second = std::fs::metadata(&file).unwrap().len();
    put(&store, app(1), &[item("b", 2)]).await.unwrap();
    put(&store, app(1), &[item("c", 3)]).await.unwrap();
    drop(store);

    let mut bytes = std::fs::read(&file).unwrap();
    bytes[second as usize + 40] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    match Store::open(quiet(dir.path())).await {
        Err(StoreError::Damaged { path, offset, what }) => {
            assert_eq!((path, offset), (file.clone(), second), "{what}");
        }
        other => panic!("expected damage to be refused, found {other:?}"),
    }
    assert_eq!(
        std::fs::read(&file).unwrap(),
        bytes,
        "a refused log is left as it is"
    );
}

#[tokio::test]
async fn a_missing_catalogue_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    store.close().await.unwrap();
    drop(store);

    let lost = tempfile::tempdir().unwrap();
    copy_dir(dir.path(), lost.path());
    std::fs::remove_file(lost.path().join("catalogue.db")).unwrap();
    let refused = Store::open(quiet(lost.path())).await;
    assert!(
        matches!(refused, Err(StoreError::Missing { .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn unlisted_segments_are_quarantined_and_only_unfinished_files_removed() {
    for home in Home::each() {
        let store = Store::open(home.quiet()).await.unwrap();
        put(&store, app(1), &[item("a", 1)]).await.unwrap();
        store.close().await.unwrap();
        drop(store);
        let folder = home
            .path()
            .join("segments")
            .join(app(1).to_string())
            .join("requests");
        let (orphan, half) = (folder.join("h1-x.parquet"), folder.join("h1-x.tmp"));
        std::fs::write(&orphan, "x").unwrap();
        std::fs::write(&half, "x").unwrap();

        let store = Store::open(home.quiet()).await.unwrap();
        assert_eq!((orphan.exists(), half.exists()), (false, false));
        let aside = home.path().join("quarantine").join(app(1).to_string());
        let aside = aside.join("requests").join("h1-x.parquet");
        assert_eq!(std::fs::read_to_string(&aside).unwrap(), "x");
        assert_eq!(store.quarantine(), Quarantine { files: 1, bytes: 1 });
        assert_eq!(ids(&store, app(1)).await, ["a"]);
        drop(store);

        std::fs::write(&orphan, "yy").unwrap();
        let store = Store::open(home.quiet()).await.unwrap();
        assert_eq!(store.quarantine(), Quarantine { files: 2, bytes: 3 });
        assert_eq!(std::fs::read_to_string(&aside).unwrap(), "x");
    }
}

#[tokio::test]
async fn after_a_failed_sync_nothing_is_acknowledged_and_reads_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Arc::new(BadDisk::default());
    let config = StoreConfig {
        vfs: disk.clone(),
        ..quiet(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    disk.sync.store(true, Ordering::SeqCst);
    for attempt in 0..2 {
        let refused = put(&store, app(1), &[item("b", 2)]).await;
        assert!(
            matches!(refused, Err(StoreError::ReadOnly { .. })),
            "{attempt}: {refused:?}"
        );
        disk.sync.store(false, Ordering::SeqCst);
    }
    let health = store.health();
    assert!(!health.writable && health.reason.unwrap().contains("cannot sync"));
    assert_eq!(ids(&store, app(1)).await, ["a"]);

    store.maintain_log().await.unwrap();
    assert_eq!(
        store.health(),
        Health {
            writable: true,
            reason: None
        }
    );
    put(&store, app(1), &[item("c", 3)]).await.unwrap();
    drop(store);
    let store = Store::open(quiet(dir.path())).await.unwrap();
    assert_eq!(
        ids(&store, app(1)).await,
        ["a", "c"],
        "what was refused does not come back"
    );
}

#[tokio::test]
async fn damage_to_the_last_acknowledged_record_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    let file = last_log_file(dir.path());
    let last = std::fs::metadata(&file).unwrap().len();
    put(&store, app(1), &[item("b", 2)]).await.unwrap();
    drop(store);
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[last as usize + 40] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    match Store::open(quiet(dir.path())).await {
        Err(StoreError::Damaged { path, offset, .. }) => assert_eq!((path, offset), (file, last)),
        other => panic!("expected damage to be refused, found {other:?}"),
    }
}

#[tokio::test]
async fn a_full_disk_refuses_a_request_whole_and_the_store_recovers_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let disk = Arc::new(BadDisk::default());
    let config = StoreConfig {
        vfs: disk.clone(),
        ..quiet(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    disk.full.store(true, Ordering::SeqCst);
    let refused = put(&store, app(1), &[item("b", 2)]).await;
    assert!(matches!(refused, Err(StoreError::Io { .. })), "{refused:?}");
    assert!(store.health().reason.unwrap().contains("disk full"));
    store
        .seal_all()
        .await
        .expect_err("a segment cannot be written either");
    assert_eq!(
        ids(&store, app(1)).await,
        ["a"],
        "what could not be sealed stays visible"
    );

    disk.full.store(false, Ordering::SeqCst);
    put(&store, app(1), &[item("c", 3)]).await.unwrap();
    store.seal_all().await.unwrap();
    assert_eq!(store.health().reason, None);
    assert_eq!(ids(&store, app(1)).await, ["a", "c"]);
    drop(store);
    let store = Store::open(quiet(dir.path())).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["a", "c"]);
}
