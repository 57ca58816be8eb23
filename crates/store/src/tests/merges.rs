//! What happens while the file of a merge is written.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::bad_disk::{BadDisk, Held};
use super::*;
use crate::clock::manual::ManualClock;
use crate::compaction::WINDOW_ROWS;
use crate::segment::PAGE_ROWS;
use crate::{NewApplication, Result};

const DAY: Duration = Duration::from_secs(86_400);

/// A store in which a merge of two segments has begun to write its file and waits.
struct Merging {
    home: Home,
    store: Arc<Store>,
    clock: Arc<ManualClock>,
    merge: tokio::task::JoinHandle<Result<usize>>,
    held: Held,
}

impl Merging {
    async fn begin(home: Home) -> Merging {
        let (clock, disk) = (manual_clock(), Arc::new(BadDisk::default()));
        let config = StoreConfig {
            clock: clock.clone(),
            vfs: disk.clone(),
            retention_guard: 1.0,
            ..home.quiet()
        };
        let store = Store::open(config).await.unwrap();
        let new = NewApplication {
            id: app(1),
            name: "shop".to_owned(),
            instrumentation_key: Uuid::from_u128(9),
            created: START,
        };
        store.catalogue().create_app(new).await.unwrap();
        for id in ["a", "b"] {
            put(&store, app(1), &[item(id, 1)]).await.unwrap();
            store.seal_all().await.unwrap();
        }
        clock.pass(2 * DAY);
        let mut held = disk.hold_next_file();
        let merge = tokio::spawn({
            let store = store.clone();
            async move { store.compact().await }
        });
        held.begun().await;
        Merging {
            home,
            store,
            clock,
            merge,
            held,
        }
    }

    /// Lets the merge go on; returns how many merges were done, and the store.
    async fn end(self) -> (usize, Arc<Store>, Home) {
        self.held.let_go();
        let done = self.merge.await.unwrap().unwrap();
        (done, self.store, self.home)
    }
}

/// The files of the first application's requests.
fn files(home: &Home) -> usize {
    let folder = home.segments().join(app(1).to_string()).join("requests");
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

#[tokio::test]
async fn segments_of_several_windows_and_row_groups_are_merged_in_order() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), manual_clock());
    let config = StoreConfig {
        clock: clock.clone(),
        row_group_rows: 3 * PAGE_ROWS,
        ..quiet(folder.path())
    };
    let store = Store::open(config).await.unwrap();
    let rows = i64::try_from(WINDOW_ROWS).unwrap() + 100;
    for segment in 0..2 {
        let items = (0..rows).map(|n| item(format!("{segment}-{n}"), 2 * n + segment));
        let items: Vec<Item> = items.collect();
        put(&store, app(1), &items).await.unwrap();
        store.seal_all().await.unwrap();
    }
    clock.pass(2 * DAY);
    assert_eq!(store.compact().await.unwrap(), 1);
    let plan = frame(&store.snapshot(), app(1));
    let found = times(&plan.collect().await.unwrap());
    assert_eq!(found.len() as i64, 2 * rows);
    // Each item has a time of its own.
    assert!(found.is_sorted_by(|one, next| one > next));
}

/// The program purges freed memory then.
#[tokio::test]
async fn after_merge_is_called_once_for_each_merge() {
    static MERGES: AtomicUsize = AtomicUsize::new(0);
    let folder = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let config = StoreConfig {
        clock: clock.clone(),
        after_merge: || {
            MERGES.fetch_add(1, Ordering::Relaxed);
        },
        ..quiet(folder.path())
    };
    let store = Store::open(config).await.unwrap();
    for (id, at) in [
        ("a", 0),
        ("b", 1),
        ("c", crate::TICKS_PER_HOUR),
        ("d", crate::TICKS_PER_HOUR),
    ] {
        put(&store, app(1), &[item(id, at)]).await.unwrap();
        store.seal_all().await.unwrap();
    }
    clock.pass(Duration::from_secs(2 * 3600 + 1800));
    let merges = store.compact().await.unwrap();
    assert_eq!((merges, MERGES.load(Ordering::Relaxed)), (2, 2));
}

/// A merge may take longer than the memory lasts that a seal frees.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_seal_does_not_wait_for_a_merge() {
    for home in Home::each_place() {
        let merging = Merging::begin(home).await;
        let store = &merging.store;
        put(store, app(1), &[item("c", 2)]).await.unwrap();
        let sealed = tokio::time::timeout(Duration::from_secs(20), store.seal_all()).await;
        sealed.expect("the seal waits for the merge").unwrap();
        assert_eq!(store.stats().hot_bytes(), 0);
        assert_eq!(ids(store, app(1)).await, ["a", "b", "c"]);
        let (done, store, home) = merging.end().await;
        // The segment that was sealed meanwhile is of the same hour: a second merge takes it in.
        assert_eq!((done, store.stats().tables[0].segments), (2, 1));
        assert_eq!(
            (ids(&store, app(1)).await, files(&home)),
            (vec!["a".to_owned(), "b".to_owned(), "c".to_owned()], 1)
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_merge_does_not_bring_back_what_expired_meanwhile() {
    for home in Home::each_place() {
        let merging = Merging::begin(home).await;
        merging.clock.jump(91 * 24 * crate::TICKS_PER_HOUR);
        merging.store.trust_clock().await.unwrap();
        assert_eq!(merging.store.expire().await.unwrap(), 2);
        nothing_comes_back(merging).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_merge_does_not_bring_back_a_deleted_application() {
    for home in Home::each_place() {
        let merging = Merging::begin(home).await;
        let store = &merging.store;
        store.catalogue().delete_app(app(1), START).await.unwrap();
        assert_eq!(store.purge_deleted().await.unwrap(), 1);
        nothing_comes_back(merging).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_merge_does_not_bring_back_what_a_reset_took() {
    // A store that is reset shares its catalogue with no other node.
    for home in Home::each() {
        let merging = Merging::begin(home).await;
        merging.store.reset(None);
        let (done, store, _home) = merging.end().await;
        assert_eq!((done, ids(&store, app(1)).await.len()), (0, 0));
    }
}

/// The merge ends without a result, and neither a query nor the next process finds a row.
async fn nothing_comes_back(merging: Merging) {
    let (done, store, home) = merging.end().await;
    assert_eq!((done, files(&home)), (0, 0));
    assert_eq!(ids(&store, app(1)).await.len(), 0);
    store.close().await.unwrap();
    drop(store);
    let store = Store::open(home.quiet()).await.unwrap();
    assert_eq!(ids(&store, app(1)).await.len(), 0);
    assert_eq!(store.quarantine().files, 0);
}
