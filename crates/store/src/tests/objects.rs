//! Segments in an object store: the folder is a cache, and no failure of the object store loses, doubles or shortens anything.

use std::path::PathBuf;
use std::time::Duration;

use datafusion::prelude::{col, lit};

use super::*;
use crate::clock::manual::ManualClock;
use crate::object_recovery::{self, FolderParts};
use crate::objects::memory::{Fault, MemoryObjects};
use crate::{CataloguePlace, ObjectsConfig, RealFs, SegmentMove, StoreError, TICKS_PER_HOUR};

/// A data folder, its object store and its clock.
struct Place {
    folder: tempfile::TempDir,
    objects: MemoryObjects,
    clock: Arc<ManualClock>,
}

impl Place {
    fn new() -> Place {
        let place = Place {
            folder: tempfile::tempdir().unwrap(),
            objects: MemoryObjects::default(),
            clock: manual_clock(),
        };
        place.objects.set_time(START);
        place
    }

    fn local(&self) -> StoreConfig {
        StoreConfig {
            clock: self.clock.clone(),
            ..quiet(self.folder.path())
        }
    }

    fn config(&self) -> StoreConfig {
        StoreConfig {
            objects: Some(ObjectsConfig::new(Arc::new(self.objects.clone()))),
            ..self.local()
        }
    }

    async fn open(&self) -> Arc<Store> {
        Store::open(self.config()).await.unwrap()
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("segment-cache")
    }

    fn cached(&self) -> Vec<PathBuf> {
        crate::quarantine::files_below(&RealFs, &self.cache(), 2).unwrap()
    }

    /// The only object of a segment.
    fn only(&self) -> String {
        let mut keys = self.objects.segments();
        assert_eq!(keys.len(), 1, "{keys:?}");
        keys.pop().unwrap()
    }

    /// Forgets the cache, as a new machine does.
    fn lose_cache(&self) {
        std::fs::remove_dir_all(self.cache()).unwrap();
    }

    /// Lets a failure of the object store be forgotten.
    fn pass(&self) {
        self.clock.pass(Duration::from_secs(2));
    }
}

/// A closed store with a segment of these many items in an object store.
async fn one_segment(place: &Place, items: i64) {
    let store = place.open().await;
    let items: Vec<Item> = (0..items).map(|n| item(format!("{n:05}"), n)).collect();
    put(&store, app(1), &items).await.unwrap();
    store.close().await.unwrap();
}

async fn count(store: &Store) -> usize {
    // Without a look at the number of rows in the catalogue.
    ids(store, app(1)).await.len()
}

#[tokio::test]
async fn a_folder_without_its_cache_has_the_same_rows() {
    let place = Place::new();
    let store = place.open().await;
    for n in 0..3 {
        put(&store, app(1), &[item(n, n)]).await.unwrap();
        store.seal_all().await.unwrap();
    }
    assert_eq!(ids(&store, app(1)).await, ["0", "1", "2"]);
    let marker = place.objects.gets();
    assert_eq!(
        store.object_figures().unwrap().downloads,
        0,
        "what was written is in the cache"
    );
    assert_eq!(place.objects.segments().len(), 3);
    assert!(
        !place
            .folder
            .path()
            .join("segments")
            .join(app(1).to_string())
            .exists()
    );
    store.close().await.unwrap();
    drop(store);

    place.lose_cache();
    let store = place.open().await;
    assert_eq!(ids(&store, app(1)).await, ["0", "1", "2"]);
    assert_eq!(ids(&store, app(1)).await, ["0", "1", "2"]);
    let figures = store.object_figures().unwrap();
    assert_eq!((figures.downloads, figures.cached_files), (3, 3));
    assert!(place.objects.gets() >= marker + 3);
    drop(store);

    // What is in the cache is not downloaded again by the next process, and what the catalogue does not list is removed.
    let stray = place.cached()[0].with_file_name("h1-x.parquet");
    std::fs::write(&stray, "x").unwrap();
    let store = place.open().await;
    assert_eq!(ids(&store, app(1)).await, ["0", "1", "2"]);
    assert_eq!(store.object_figures().unwrap().downloads, 0);
    assert!(!stray.exists());
}

#[tokio::test]
async fn an_upload_that_fails_leaves_rows_where_they_were_and_is_repeated() {
    for fault in [Fault::PutBefore, Fault::PutAfter] {
        let place = Place::new();
        let store = place.open().await;
        put(&store, app(1), &[item("a", 1)]).await.unwrap();
        place.objects.fail(fault, 1);
        let error = store.seal_all().await.unwrap_err();
        assert!(error.is_object_unavailable(), "{error}");
        assert!(error.to_string().contains("memory://test/"), "{error}");
        let reason = store.health().reason.unwrap();
        assert!(reason.contains("memory://test/"), "{reason}");
        assert!(store.health().writable && place.cached().is_empty());
        assert!(store.seal_is_due(), "frozen rows wait for no bound");
        put(&store, app(1), &[item("b", 2)]).await.unwrap();
        assert_eq!(ids(&store, app(1)).await, ["a", "b"]);
        assert!(
            place.objects.segments().is_empty(),
            "what was uploaded is not listed"
        );

        // While the object store does not reply, no segment is written.
        place.objects.fail(Fault::Get, 1);
        assert!(store.seal_all().await.unwrap_err().is_object_unavailable());
        store.seal_all().await.unwrap();
        assert!(!store.seal_is_due());
        assert_eq!(store.health().reason, None);
        assert_eq!(ids(&store, app(1)).await, ["a", "b"]);
        place.only();
        drop(store);
        assert_eq!(ids(&*place.open().await, app(1)).await, ["a", "b"]);
    }
}

#[tokio::test]
async fn a_full_memtable_is_refused_while_the_object_store_is_away() {
    let place = Place::new();
    let config = StoreConfig {
        hot_limit_bytes: 1 << 20,
        ..place.config()
    };
    let store = Store::open(config).await.unwrap();
    place.objects.fail(Fault::PutBefore, usize::MAX);
    let mut taken = 0;
    let refused = loop {
        match put(&store, app(1), &[item(taken, taken)]).await {
            Ok(_) => taken += 1,
            Err(error) => break error,
        }
        if taken % 50 == 0 {
            assert!(store.seal_all().await.is_err());
        }
    };
    assert!(
        matches!(refused, StoreError::Overloaded { .. }),
        "{refused}"
    );
    assert_eq!(count(&store).await, taken as usize);
    place.objects.fail(Fault::PutBefore, 0);
    store.seal_all().await.unwrap();
    put(&store, app(1), &[item(taken, taken)]).await.unwrap();
    assert_eq!(count(&store).await, taken as usize + 1);
}

#[tokio::test]
async fn an_object_that_exists_is_compared() {
    let place = Place::new();
    one_segment(&place, 10).await;
    let store = place.open().await;
    let record = store.catalogue().segments().await.unwrap().remove(0);
    let objects = store.segment_settings.objects.clone().unwrap();
    objects.upload(&record).unwrap();
    place.objects.change(&place.only(), |bytes| bytes[100] ^= 1);
    let error = objects.upload(&record).unwrap_err().to_string();
    assert!(
        error.contains("it exists already") && error.contains(&place.only()),
        "{error}"
    );
    // A file that is not as it was written is not uploaded.
    let file = place.cached().remove(0);
    std::fs::write(&file, "x").unwrap();
    let error = objects.upload(&record).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
}

#[tokio::test]
async fn a_query_of_an_object_that_cannot_be_read_fails_and_names_it() {
    let place = Place::new();
    one_segment(&place, 10).await;
    place.lose_cache();
    let store = place.open().await;
    for fault in [Fault::Get, Fault::CutGet] {
        place.objects.fail(fault, 2);
        for _ in 0..2 {
            let error = frame(&store.snapshot(), app(1))
                .collect()
                .await
                .unwrap_err();
            let error = error.to_string();
            assert!(error.contains(&place.only()), "{error}");
        }
        assert!(store.health().reason.is_some() && store.health().writable);
        assert!(store.object_figures().unwrap().is_failing);
        assert_eq!(store.damaged_segments(), 0, "nothing is said of the object");
        place.objects.fail(fault, 0);
        place.pass();
        assert_eq!(count(&store).await, 10);
        assert_eq!(store.health().reason, None);
        drop(std::fs::remove_file(place.cached().remove(0)));
    }
    // One lost connection is repeated.
    place.objects.fail(Fault::CutGet, 1);
    assert_eq!(count(&store).await, 10);
}

#[tokio::test]
async fn a_damaged_object_is_a_damaged_segment() {
    let place = Place::new();
    one_segment(&place, 10).await;
    place.lose_cache();
    let store = place.open().await;
    place.objects.fail(Fault::WrongByte, 1);
    assert_eq!(count(&store).await, 10, "it is downloaded again");
    drop(store);
    place.lose_cache();
    place.objects.change(&place.only(), |bytes| bytes[100] ^= 1);
    let store = place.open().await;
    let error = frame(&store.snapshot(), app(1))
        .collect()
        .await
        .unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains(&place.only()) && error.contains("damaged"),
        "{error}"
    );
    assert_eq!(store.damaged_segments(), 1);
    let snapshot = store.snapshot();
    assert_eq!(frame(&snapshot, app(1)).count().await.unwrap(), 0);
    assert_eq!(snapshot.missing().len(), 1, "and queries say so");
    store.close().await.unwrap();
    drop(store);
    place.objects.change(&place.only(), |bytes| bytes[100] ^= 1);
    assert_eq!(count(&*place.open().await).await, 10, "it was restored");
}

#[tokio::test]
async fn a_damaged_file_of_the_cache_is_downloaded_again() {
    let place = Place::new();
    one_segment(&place, 4000).await;
    let file = place.cached().remove(0);
    let bytes = std::fs::read(&file).unwrap();
    for part in 0..10 {
        let store = place.open().await;
        let mut damaged = bytes.clone();
        damaged[bytes.len() * part / 10] ^= 0x10;
        std::fs::write(&file, &damaged).unwrap();
        assert_eq!(ids(&store, app(1)).await.len(), 4000);
        assert_eq!(std::fs::read(&file).unwrap(), bytes);
        assert_eq!((store.damaged_segments(), store.health().reason), (0, None));
        // It is cut, or gone.
        std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
        assert_eq!(ids(&store, app(1)).await.len(), 4000);
        assert_eq!(store.damaged_segments(), 0);
    }
}

/// A store whose cache is empty, with this many segments of two items each.
async fn far_segments(place: &Place, segments: i64) -> Arc<Store> {
    let store = place.open().await;
    for n in 0..segments {
        put(&store, app(1), &[item(n, n), item(n + 100, n)])
            .await
            .unwrap();
        store.seal_all().await.unwrap();
    }
    store.close().await.unwrap();
    drop(store);
    place.lose_cache();
    place.open().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_downloads_what_it_reads_next() {
    let place = Place::new();
    let store = far_segments(&place, 24).await;
    place.objects.delay_reads(Duration::from_millis(20));
    assert_eq!(ids(&store, app(1)).await.len(), 48);
    let figures = store.object_figures().unwrap();
    assert_eq!(figures.downloads, 24, "each once");
    let at_once = place.objects.most_reads();
    assert!(at_once >= 6, "{at_once} of 24 segments at once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_up_looks_into_many_segments_at_once() {
    let place = Place::new();
    let store = far_segments(&place, 24).await;
    place.objects.delay_reads(Duration::from_millis(20));
    let found = frame(&store.snapshot(), app(1)).filter(col("id").eq(lit("7")));
    assert_eq!(ids_of(found.unwrap()).await, ["7"]);
    let at_once = place.objects.most_reads();
    assert!(at_once >= 8, "{at_once} of 24 segments at once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_of_a_few_rows_downloads_no_other_segments() {
    let place = Place::new();
    let store = far_segments(&place, 24).await;
    let few = frame(&store.snapshot(), app(1)).limit(0, Some(1)).unwrap();
    assert_eq!(few.count().await.unwrap(), 1);
    let downloads = store.object_figures().unwrap().downloads;
    assert!(downloads <= 4, "{downloads} of 24 segments");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scan_whose_downloads_fail_fails_and_is_answered_again_later() {
    let place = Place::new();
    let store = far_segments(&place, 24).await;
    place.objects.fail(Fault::CutGet, usize::MAX);
    let failed = frame(&store.snapshot(), app(1)).collect().await;
    assert!(failed.unwrap_err().to_string().contains("memory://test/"));
    place.objects.fail(Fault::CutGet, 0);
    // Downloads of that scan may end only now, and their failure counts for the next second.
    for _ in 0..100 {
        place.pass();
        if frame(&store.snapshot(), app(1)).collect().await.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(ids(&store, app(1)).await.len(), 48);
}

#[tokio::test]
async fn a_look_up_reads_parts_of_what_is_not_in_the_cache() {
    let place = Place::new();
    let store = place.open().await;
    for part in 0..3 {
        let name = |n| format!("{part}-{n}");
        let items: Vec<Item> = (0..20_000).map(|n| item(name(n), n)).collect();
        put(&store, app(1), &items).await.unwrap();
        store.seal_all().await.unwrap();
    }
    store.close().await.unwrap();
    drop(store);
    place.lose_cache();
    let mut config = place.config();
    config.objects.as_mut().unwrap().parts_from = 0;
    let store = Store::open(config).await.unwrap();
    let found = frame(&store.snapshot(), app(1)).filter(col("id").eq(lit("1-777")));
    assert_eq!(ids_of(found.unwrap()).await, ["1-777"]);
    let figures = store.object_figures().unwrap();
    assert_eq!(figures.downloads, 1, "the segment that has the id");
    drop(store);
    // Small segments are downloaded whole: a request takes longer than they do.
    place.lose_cache();
    let store = place.open().await;
    let found = frame(&store.snapshot(), app(1)).filter(col("id").eq(lit("1-777")));
    assert_eq!(ids_of(found.unwrap()).await, ["1-777"]);
    assert_eq!(store.object_figures().unwrap().downloads, 3);
}

#[tokio::test]
async fn the_cache_is_bounded() {
    let place = Place::new();
    one_segment(&place, 10).await;
    let size = std::fs::metadata(place.cached().remove(0)).unwrap().len();
    let mut config = place.config();
    config.objects.as_mut().unwrap().cache_bytes = size * 5 / 2;
    let store = Store::open(config).await.unwrap();
    for n in 0..5 {
        put(&store, app(1), &[item(n, TICKS_PER_HOUR * (n + 1))])
            .await
            .unwrap();
        store.seal_all().await.unwrap();
    }
    assert_eq!(count(&store).await, 15);
    let figures = store.object_figures().unwrap();
    assert!(figures.cached_bytes <= size * 5 / 2, "{figures:?}");
    assert_eq!(figures.cached_files, place.cached().len() as u64);
    assert!(place.cached().len() < 6 && place.objects.segments().len() == 6);
}

#[tokio::test]
async fn merged_objects_are_deleted_after_the_grace() {
    let place = Place::new();
    let store = place.open().await;
    for n in 0..3 {
        put(&store, app(1), &[item(n, n)]).await.unwrap();
        store.seal_all().await.unwrap();
    }
    let before = place.objects.segments();
    place.clock.pass(Duration::from_secs(2 * 86_400));
    let reader = store.snapshot();
    assert!(store.compact().await.unwrap() > 0);
    let all = place.objects.segments();
    assert_eq!(all.len(), 4);
    place.clock.pass(Duration::from_secs(3600));
    assert_eq!(
        store.delete_objects().await.unwrap(),
        0,
        "a query may read them"
    );
    assert_eq!(frame(&reader, app(1)).count().await.unwrap(), 3);
    drop(reader);
    assert_eq!(
        store.delete_objects().await.unwrap(),
        0,
        "one of another machine may"
    );
    assert_eq!(store.object_figures().unwrap().retired, 3);
    place.clock.pass(Duration::from_secs(3600));
    place.objects.fail(Fault::Delete, 1);
    assert!(store.delete_objects().await.is_err());
    assert_eq!(store.object_figures().unwrap().retired, 3);
    place.clock.pass(Duration::from_secs(61));
    assert_eq!(store.delete_objects().await.unwrap(), 3);
    assert!(!before.contains(&place.only()));
    assert_eq!(ids(&store, app(1)).await, ["0", "1", "2"]);
}

#[tokio::test]
async fn expired_objects_stay_for_a_while() {
    let place = Place::new();
    let config = StoreConfig {
        retention: Duration::from_secs(86_400),
        retention_guard: 1.0,
        ..place.config()
    };
    let store = Store::open(config.clone()).await.unwrap();
    put(&store, app(1), &[item("old", 0)]).await.unwrap();
    store.seal_all().await.unwrap();
    place.clock.pass(Duration::from_secs(3 * 86_400));
    assert_eq!(store.expire().await.unwrap(), 1);
    place.only();
    assert!(place.cached().is_empty());
    assert_eq!(store.catalogue().restore_expired().await.unwrap(), 1);
    store.close().await.unwrap();
    drop(store);
    let store = Store::open(config).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["old"]);
    assert_eq!(store.expire().await.unwrap(), 1);
    place.clock.pass(Duration::from_secs(86_401));
    place.objects.fail(Fault::Delete, 1);
    store.expire().await.unwrap();
    assert_eq!(store.catalogue().expired_size().await.unwrap(), (0, 0));
    assert!(store.delete_objects().await.is_err());
    place.clock.pass(Duration::from_secs(61));
    assert_eq!(store.delete_objects().await.unwrap(), 1);
    assert!(place.objects.segments().is_empty());
}

#[tokio::test]
async fn objects_that_no_catalogue_lists_go_when_they_are_old() {
    let place = Place::new();
    one_segment(&place, 1).await;
    let key = place.only();
    let orphan = key.replace(".parquet", "-orphan.parquet");
    place.objects.add(&orphan, b"x");
    let store = place.open().await;
    assert_eq!(store.collect_orphans().await.unwrap(), 0);
    assert_eq!(store.object_figures().unwrap().orphans, 1);
    place.clock.pass(Duration::from_secs(6 * 86_400));
    assert_eq!(store.collect_orphans().await.unwrap(), 0, "it is not old");
    place.clock.pass(Duration::from_secs(2 * 86_400));
    drop(store);
    let store = place.open().await;
    store.trust_clock().await.unwrap();
    assert_eq!(
        store.collect_orphans().await.unwrap(),
        0,
        "it was seen for the first time"
    );
    place.clock.pass(Duration::from_secs(3600));
    assert_eq!(store.collect_orphans().await.unwrap(), 1);
    assert_eq!(place.only(), key);
    assert_eq!(store.object_figures().unwrap().orphans, 0);
    assert_eq!(count(&store).await, 1);
}

#[tokio::test]
async fn an_object_store_of_another_store_is_refused() {
    let (place, other) = (Place::new(), Place::new());
    one_segment(&place, 1).await;
    let config = StoreConfig {
        objects: Some(ObjectsConfig::new(Arc::new(place.objects.clone()))),
        ..other.local()
    };
    let error = Store::open(config).await.unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    assert!(error.to_string().contains("memory://test"), "{error}");
    // An empty one is not that of a store with segments.
    let config = StoreConfig {
        objects: other.config().objects,
        ..place.local()
    };
    let error = Store::open(config).await.unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    let error = Store::open(place.local()).await.unwrap_err();
    assert!(
        matches!(error, StoreError::SegmentsElsewhere { .. }),
        "{error}"
    );
    let error = crate::check(place.folder.path(), None, Arc::new(())).await;
    assert!(matches!(error, Err(StoreError::SegmentsElsewhere { .. })));
    let error = crate::recover(place.folder.path(), &[], START, Arc::new(())).await;
    assert!(matches!(error, Err(StoreError::NotWithObjects { .. })));
    assert_eq!(count(&*place.open().await).await, 1);
}

#[tokio::test]
async fn a_store_opens_while_its_object_store_is_away() {
    let place = Place::new();
    one_segment(&place, 10).await;
    place.objects.fail(Fault::Get, usize::MAX);
    place.objects.fail(Fault::List, usize::MAX);
    let store = place.open().await;
    assert_eq!(count(&store).await, 10, "it is in the cache");
    put(&store, app(1), &[item("new", 1)]).await.unwrap();
    assert_eq!(count(&store).await, 11);
}

#[tokio::test]
async fn a_missing_object_is_a_damaged_segment_unless_a_merge_took_its_place() {
    let place = Place::new();
    let store = place.open().await;
    for n in 0..2 {
        put(&store, app(1), &[item(n, n)]).await.unwrap();
        store.seal_all().await.unwrap();
    }
    let old = store.catalogue().segments().await.unwrap();
    place.clock.pass(Duration::from_secs(2 * 86_400));
    assert!(store.compact().await.unwrap() > 0);
    place.clock.pass(Duration::from_secs(3600));
    assert_eq!(store.delete_objects().await.unwrap(), 2);
    // A catalogue of before the merge.
    let segments = store.segments(old.clone());
    let objects = store.segment_settings.objects.clone().unwrap();
    let parts = FolderParts {
        vfs: Arc::new(RealFs),
        root: place.folder.path().to_owned(),
        segments: place.folder.path().join("segments"),
        cache: place.cache(),
    };
    let names = ("the catalogue", store.segment_settings.store);
    let refused = object_recovery::examine(&objects, &parts, names, &segments, &old).unwrap_err();
    assert!(
        refused.to_string().contains("older than a merge")
            && refused.to_string().contains("memory://test"),
        "{refused}"
    );
    store.close().await.unwrap();
    drop((store, segments));

    place.objects.lose(&place.only());
    let store = place.open().await;
    assert_eq!(store.damaged_segments(), 1);
    let snapshot = store.snapshot();
    assert_eq!(frame(&snapshot, app(1)).count().await.unwrap(), 0);
    assert_eq!(snapshot.missing().len(), 1);
    let report = crate::check(
        place.folder.path(),
        place.config().objects.map(|o| o.storage),
        Arc::new(()),
    )
    .await;
    let damage = report.unwrap().damage;
    assert_eq!(damage.len(), 1);
    assert_eq!(damage[0].what, "missing");
}

#[tokio::test]
async fn segments_move_to_an_object_store_and_back() {
    let place = Place::new();
    let store = Store::open(place.local()).await.unwrap();
    for n in 0..3 {
        put(&store, app(1), &[item(n, n)]).await.unwrap();
        store.seal_all().await.unwrap();
    }
    store.close().await.unwrap();
    drop(store);
    let refused = Store::open(place.config()).await.unwrap_err();
    assert!(
        matches!(refused, StoreError::SegmentsInFolder { .. }),
        "{refused}"
    );

    let storage = || Arc::new(place.objects.clone());
    let root = place.folder.path();
    let segments = SegmentMove {
        root: root.to_owned(),
        catalogue: CataloguePlace::DataFolder,
        storage: storage(),
        clock: place.clock.clone(),
        progress: Arc::new(()),
    };
    let to = || segments.clone().to_objects();
    place.objects.fail(Fault::PutAfter, 1);
    assert!(to().await.is_err());
    assert_eq!(
        count(&Store::open(place.local()).await.unwrap()).await,
        3,
        "nothing was moved"
    );
    let moved = to().await.unwrap();
    assert_eq!(moved.segments, 3);
    assert_eq!(place.objects.segments().len(), 3);
    assert!(Store::open(place.local()).await.is_err());
    let store = place.open().await;
    assert_eq!(ids(&store, app(1)).await, ["0", "1", "2"]);
    assert_eq!(
        store.object_figures().unwrap().downloads,
        0,
        "the files are the cache"
    );
    put(&store, app(1), &[item(3, 3)]).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    let report = crate::check(root, Some(storage()), Arc::new(()))
        .await
        .unwrap();
    assert_eq!((report.damage.len(), report.segments), (0, 4), "{report:?}");

    let back = || segments.clone().from_objects();
    place.objects.fail(Fault::Get, usize::MAX);
    assert!(back().await.is_err());
    place.objects.fail(Fault::Get, 0);
    assert_eq!(back().await.unwrap().segments, 4);
    assert!(back().await.is_err(), "they are in the folder");
    let store = Store::open(place.local()).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["0", "1", "2", "3"]);
    assert_eq!(place.objects.segments().len(), 4, "the objects stay");
    assert_eq!(store.quarantine().files, 0);
}
