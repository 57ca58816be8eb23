//! A wrong clock deletes nothing, and what expires is kept for a while (`D33`).

use std::path::PathBuf;
use std::time::Duration;

use super::*;
use crate::clock::manual::ManualClock;
use crate::{ClockTrust, TICKS_PER_HOUR};

const DAY: i64 = 24 * TICKS_PER_HOUR;

fn days(count: u64) -> Duration {
    Duration::from_secs(count * 86_400)
}

/// A store with an item of the first day and one of the 20th, sealed.
async fn filled(root: &Path, clock: &Arc<ManualClock>) -> Arc<Store> {
    let store = reopen(root, clock).await;
    put(&store, app(1), &[item("a", 0), item("b", 20 * DAY)])
        .await
        .unwrap();
    store.seal_all().await.unwrap();
    store
}

async fn reopen(root: &Path, clock: &Arc<ManualClock>) -> Arc<Store> {
    let config = StoreConfig {
        clock: clock.clone(),
        retention_guard: 1.0,
        ..quiet(root)
    };
    Store::open(config).await.unwrap()
}

/// All files of segments below a folder of the data folder.
fn files(root: &Path, folder: &str) -> Vec<PathBuf> {
    let folder = root.join(folder);
    if !folder.exists() {
        return Vec::new();
    }
    crate::quarantine::files_below(&crate::RealFs, &folder, 2).unwrap()
}

#[tokio::test]
async fn a_clock_that_jumps_while_the_store_runs_expires_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let store = filled(dir.path(), &clock).await;
    store.expire().await.unwrap();
    clock.jump(3650 * DAY);
    for _ in 0..200 {
        clock.pass(Duration::from_secs(6 * 3600));
        assert_eq!(store.expire().await.unwrap(), 0);
    }
    assert!(matches!(store.clock_trust(), ClockTrust::Ahead { .. }));
    assert_eq!(store.health().reason.unwrap(), "the clock is suspect");
    clock.jump(-3650 * DAY);
    assert!(store.clock_trust().is_trusted(), "it is right again");
    clock.pass(days(50));
    assert_eq!(store.expire().await.unwrap(), 1, "50 + 50 days have passed");
}

#[tokio::test]
async fn a_start_with_a_clock_years_ahead_expires_nothing_until_it_is_confirmed() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    filled(dir.path(), &clock).await.close().await.unwrap();
    let clock = Arc::new(ManualClock::at(START + 3650 * DAY));
    for _ in 0..3 {
        let store = reopen(dir.path(), &clock).await;
        for _ in 0..20 {
            clock.pass(days(1));
            assert_eq!(store.expire().await.unwrap(), 0);
        }
        store.close().await.unwrap();
    }
    let store = reopen(dir.path(), &clock).await;
    assert!(!store.clock_trust().is_trusted());
    let now = crate::Clock::now_ticks(clock.as_ref());
    store.catalogue().confirm_time(now).await.unwrap();
    store.follow_confirmation().await.unwrap();
    assert!(store.clock_trust().is_trusted());
    assert_eq!(store.expire().await.unwrap(), 2);
    assert_eq!(ids(&store, app(1)).await, Vec::<String>::new());
}

/// The mark is the latest time of a catalogue of before there were marks.
#[tokio::test]
async fn a_catalogue_without_a_mark_begins_with_its_latest_entry() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let store = filled(dir.path(), &clock).await;
    store.close().await.unwrap();
    drop(store);
    let catalogue = crate::Catalogue::open(dir.path()).await.unwrap();
    catalogue.forget_time_mark().await;
    catalogue.close().await;
    clock.jump(3650 * DAY);
    let store = reopen(dir.path(), &clock).await;
    let mark = store.catalogue().time_mark().await.unwrap().unwrap();
    assert_eq!(mark.ticks, START);
    assert!(!store.clock_trust().is_trusted());
}

#[tokio::test]
async fn what_expires_is_kept_for_a_while_and_can_be_restored() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let store = filled(dir.path(), &clock).await;
    clock.pass(days(95));
    assert_eq!(files(dir.path(), "segments").len(), 2);
    let running = store.snapshot();
    assert_eq!(store.expire().await.unwrap(), 1);
    assert_eq!(ids(&store, app(1)).await, ["b"]);
    assert_eq!(frame(&running, app(1)).count().await.unwrap(), 2);
    assert_eq!(files(dir.path(), "expired").len(), 0, "a query may read it");
    drop(running);
    let moved = files(dir.path(), "expired");
    assert_eq!((moved.len(), files(dir.path(), "segments").len()), (1, 1));
    let (count, bytes) = store.catalogue().expired_size().await.unwrap();
    let size = std::fs::metadata(&moved[0]).unwrap().len();
    assert_eq!((count, bytes), (1, size));
    store.close().await.unwrap();
    drop(store);

    let store = reopen(dir.path(), &clock).await;
    assert_eq!(ids(&store, app(1)).await, ["b"]);
    assert_eq!(files(dir.path(), "expired"), moved);
    assert_eq!(store.catalogue().restore_expired().await.unwrap(), 1);
    drop(store);

    let store = reopen(dir.path(), &clock).await;
    assert_eq!(ids(&store, app(1)).await, ["a", "b"]);
    assert_eq!(files(dir.path(), "expired"), Vec::<PathBuf>::new());
    assert_eq!(store.stats().damaged_segments(), 0);
    assert_eq!(store.expire().await.unwrap(), 1);
    clock.pass(Duration::from_secs(86_399));
    store.expire().await.unwrap();
    assert_eq!(files(dir.path(), "expired").len(), 1);
    clock.pass(Duration::from_secs(1));
    store.expire().await.unwrap();
    assert_eq!(files(dir.path(), "expired").len(), 0);
    assert_eq!(store.catalogue().expired_segments().await.unwrap(), []);
}

#[tokio::test]
async fn a_crash_between_the_transaction_and_the_move_is_made_good_at_the_next_opening() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let store = filled(dir.path(), &clock).await;
    clock.pass(days(95));
    let running = store.snapshot();
    assert_eq!(store.expire().await.unwrap(), 1);
    let crashed = tempfile::tempdir().unwrap();
    copy_dir(dir.path(), crashed.path());
    drop(running);
    let store = reopen(crashed.path(), &clock).await;
    assert_eq!(ids(&store, app(1)).await, ["b"]);
    assert_eq!(files(crashed.path(), "expired").len(), 1);
    assert_eq!(files(crashed.path(), "segments").len(), 1);
    assert_eq!(store.quarantine().files, 0);
}

#[tokio::test]
async fn the_expired_files_of_a_deleted_application_are_deleted_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let store = filled(dir.path(), &clock).await;
    let new = crate::NewApplication {
        id: app(1),
        name: "one".to_owned(),
        instrumentation_key: Uuid::from_u128(1),
        created: START,
    };
    store.catalogue().create_app(new).await.unwrap();
    clock.pass(days(95));
    assert_eq!(store.expire().await.unwrap(), 1);
    store.catalogue().delete_app(app(1), START).await.unwrap();
    store.purge_deleted().await.unwrap();
    let left = [files(dir.path(), "expired"), files(dir.path(), "segments")];
    assert_eq!(left.concat(), Vec::<PathBuf>::new());
}
