//! Reset and restore, also while rows move from the memtable to segments.

use std::time::Duration;

use super::*;
use crate::MemoryFs;

/// Every place that rows may be in: memory, a segment, a merged segment.
async fn fill(store: &Arc<Store>, prefix: &str, owner: AppId) {
    for (number, sealed) in [(1, true), (2, true), (3, false)] {
        put(store, owner, &[item(format!("{prefix}{number}"), number)])
            .await
            .unwrap();
        if sealed {
            store.seal_all().await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_reset_takes_the_rows_of_one_application_or_all() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    fill(&store, "a", app(1)).await;
    fill(&store, "b", app(2)).await;
    let before = store.snapshot();
    store.reset(Some(app(1)));
    assert_eq!(ids(&store, app(1)).await, Vec::<String>::new());
    assert_eq!(ids(&store, app(2)).await, ["b1", "b2", "b3"]);
    put(&store, app(1), &[item("later", 1)]).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["later"]);
    assert_eq!(
        ids_of(frame(&before, app(1))).await,
        ["a1", "a2", "a3"],
        "a running query keeps what it reads"
    );
    store.reset(None);
    for owner in [app(1), app(2)] {
        assert_eq!(ids(&store, owner).await, Vec::<String>::new());
    }
    store.seal_all().await.unwrap();
    assert_eq!(ids(&store, app(1)).await, Vec::<String>::new());
}

/// The items that are counted for an application.
fn counted(store: &Store, owner: AppId) -> u64 {
    let usage = store.snapshot().usage(&[owner]);
    usage.iter().map(|record| record.items).sum()
}

#[tokio::test]
async fn usage_follows_resets_and_restores_and_survives_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let config = quiet(dir.path());
    let store = Store::open(config.clone()).await.unwrap();
    fill(&store, "a", app(1)).await;
    fill(&store, "b", app(2)).await;
    let saved = store.snapshot();
    store.reset(Some(app(1)));
    assert_eq!((counted(&store, app(1)), counted(&store, app(2))), (0, 3));
    store.restore(&saved);
    assert_eq!((counted(&store, app(1)), counted(&store, app(2))), (3, 3));

    let dir = tempfile::tempdir().unwrap();
    let config = StoreConfig {
        data_dir: dir.path().to_owned(),
        ..config
    };
    let store = Store::open(config.clone()).await.unwrap();
    fill(&store, "a", app(1)).await;
    let before = store.snapshot().usage(&[app(1)]);
    let copy = tempfile::tempdir().unwrap();
    copy_dir(dir.path(), copy.path());
    let config = StoreConfig {
        data_dir: copy.path().to_owned(),
        ..config
    };
    let store = Store::open(config).await.unwrap();
    assert_eq!(store.snapshot().usage(&[app(1)]), before);
}

#[tokio::test]
async fn a_restore_brings_back_what_was_there_as_often_as_asked() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let config = StoreConfig {
        clock: clock.clone(),
        ..quiet(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    fill(&store, "a", app(1)).await;
    let saved = store.snapshot();
    clock.pass(Duration::from_secs(2 * 86_400));
    for round in 0..3 {
        fill(&store, "b", app(1)).await;
        fill(&store, "c", app(2)).await;
        store.seal_all().await.unwrap();
        assert!(store.compact().await.unwrap() > 0, "round {round}");
        if round == 1 {
            store.reset(None);
        }
        store.restore(&saved);
        assert_eq!(ids(&store, app(1)).await, ["a1", "a2", "a3"], "{round}");
        assert_eq!(ids(&store, app(2)).await, Vec::<String>::new(), "{round}");
        // Restored rows are sealed and merged as others are.
        store.seal_all().await.unwrap();
        store.compact().await.unwrap();
        assert_eq!(ids(&store, app(1)).await, ["a1", "a2", "a3"], "{round}");
    }
}

#[tokio::test]
async fn a_deleted_application_is_not_restored() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    let new = crate::NewApplication {
        id: app(1),
        name: "shop".to_owned(),
        instrumentation_key: Uuid::from_u128(9),
        created: START,
    };
    store.catalogue().create_app(new).await.unwrap();
    fill(&store, "a", app(1)).await;
    let saved = store.snapshot();
    store.catalogue().delete_app(app(1), START).await.unwrap();
    store.purge_deleted().await.unwrap();
    store.restore(&saved);
    assert_eq!(ids(&store, app(1)).await, Vec::<String>::new());
}

/// A reset or a restore in the middle of a seal or a merge: whatever these had read is not added.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reset_beside_seals_and_merges_leaves_nothing_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let config = StoreConfig {
        clock: clock.clone(),
        vfs: Arc::new(MemoryFs::default()),
        ..quiet(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    clock.pass(Duration::from_secs(2 * 86_400));
    fill(&store, "a", app(1)).await;
    let saved = store.snapshot();
    let moving = {
        let store = store.clone();
        tokio::spawn(async move {
            for _ in 0..60 {
                store.seal_all().await.unwrap();
                store.compact().await.unwrap();
            }
        })
    };
    let mut round = 0;
    while !moving.is_finished() {
        round += 1;
        put(&store, app(1), &[item("x", round)]).await.unwrap();
        put(&store, app(2), &[item("y", round)]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(round as u64 % 7)).await;
        if round % 3 == 0 {
            store.reset(Some(app(1)));
            assert_eq!(ids(&store, app(1)).await, Vec::<String>::new(), "{round}");
        } else {
            store.restore(&saved);
            assert_eq!(ids(&store, app(1)).await, ["a1", "a2", "a3"], "{round}");
            assert_eq!(ids(&store, app(2)).await, Vec::<String>::new(), "{round}");
        }
    }
    moving.await.unwrap();
    assert!(round > 5, "{round}");
    put(&store, app(1), &[item("kept", 1)]).await.unwrap();
    store.restore(&saved);
    store.seal_all().await.unwrap();
    store.compact().await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["a1", "a2", "a3"]);
}

#[tokio::test]
async fn a_store_in_memory_writes_no_telemetry_to_the_folder() {
    let dir = tempfile::tempdir().unwrap();
    let config = StoreConfig {
        vfs: Arc::new(MemoryFs::default()),
        ..quiet(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    fill(&store, "a", app(1)).await;
    store.seal_all().await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["a1", "a2", "a3"]);
    assert_eq!(store.stats().tables[0].segments, 3);
    let names: Vec<String> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(
        names.iter().all(|name| name.starts_with("catalogue.db")),
        "{names:?}"
    );
    store.close().await.unwrap();
}

/// A clock that a test sets is trusted, and what is past its retention expires at once, rows of the memtable included.
#[tokio::test]
async fn a_trusted_jump_of_the_clock_expires() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let config = StoreConfig {
        clock: clock.clone(),
        retention_guard: 1.0,
        ..quiet(dir.path())
    };
    let store = Store::open(config).await.unwrap();
    fill(&store, "a", app(1)).await;
    let day = 24 * crate::TICKS_PER_HOUR;
    clock.jump(89 * day);
    store.trust_clock().await.unwrap();
    assert_eq!(store.expire_with_memory().await.unwrap(), 0);
    assert_eq!(ids(&store, app(1)).await, ["a1", "a2", "a3"]);
    clock.jump(2 * day);
    store.trust_clock().await.unwrap();
    assert_eq!(store.expire_with_memory().await.unwrap(), 3);
    assert_eq!(ids(&store, app(1)).await, Vec::<String>::new());
    clock.jump(-91 * day);
    store.trust_clock().await.unwrap();
    assert!(store.clock_trust().is_trusted());
}
