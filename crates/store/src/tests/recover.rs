//! A lost catalogue is rebuilt: what was served is served again, nothing is doubled, and doubts are named.

use std::path::PathBuf;
use std::time::Duration;

use super::*;
use crate::{Doubt, NewApplication, Recovery, RecoveryReport, StoreError, TICKS_PER_HOUR, recover};

async fn attempt(root: &Path, accepted: &[Doubt]) -> Recovery {
    recover(root, accepted, START, Arc::new(())).await.unwrap()
}

async fn done(root: &Path, accepted: &[Doubt]) -> RecoveryReport {
    match attempt(root, accepted).await {
        Recovery::Done(report) => report,
        Recovery::Refused(doubts) => panic!("refused: {doubts:?}"),
    }
}

/// The recovery refuses with this doubt alone, and changes nothing.
async fn refuses(root: &Path, doubt: Doubt) {
    match attempt(root, &[]).await {
        Recovery::Refused(doubts) => assert_eq!(doubts.kinds(), [doubt], "{doubts:?}"),
        Recovery::Done(report) => panic!("done: {report:?}"),
    }
    let refused = Store::open(quiet(root)).await;
    assert!(refused.is_err(), "the catalogue is still lost");
}

fn lose_catalogue(root: &Path) {
    for name in ["catalogue.db", "catalogue.db-wal", "catalogue.db-shm"] {
        let _ = std::fs::remove_file(root.join(name));
    }
}

/// The files of requests of application 1.
fn files(root: &Path) -> Vec<PathBuf> {
    let folder = root.join("segments").join(app(1).to_string());
    let entries = std::fs::read_dir(folder.join("requests")).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

async fn create(store: &Store, number: u128, name: &str) {
    let new = NewApplication {
        id: app(number),
        name: name.to_owned(),
        instrumentation_key: Uuid::from_u128(100 + number),
        created: START,
    };
    store.catalogue().create_app(new).await.unwrap();
}

/// Requests whose rows carry the application's name and key, as ingestion stores them.
fn named(ids: &[&str], name: &str, number: u128) -> RecordBatch {
    let items: Vec<Item> = ids.iter().map(|id| item(id, 1)).collect();
    let batch = requests(&items);
    let key = Uuid::from_u128(100 + number).to_string();
    let text = |text: &str| -> ArrayRef {
        Arc::new(ids.iter().map(|_| Some(text)).collect::<StringViewArray>())
    };
    let mut columns: Vec<(String, ArrayRef)> = batch
        .schema()
        .fields()
        .iter()
        .zip(batch.columns())
        .map(|(field, column)| (field.name().clone(), column.clone()))
        .collect();
    columns.push(("appName".to_owned(), text(name)));
    columns.push(("iKey".to_owned(), text(&key)));
    RecordBatch::try_from_iter(columns).unwrap()
}

#[tokio::test]
async fn sealed_merged_and_logged_items_are_there_once_again() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    clock.pass(Duration::from_secs(3 * 86_400));
    let config = StoreConfig {
        clock: clock.clone(),
        ..quiet(dir.path())
    };
    let store = Store::open(config.clone()).await.unwrap();
    let mut due = Vec::new();
    for round in 0..4 {
        for hour in 0..3 {
            let id = format!("{round}-{hour}");
            put(&store, app(1), &[item(&id, hour * TICKS_PER_HOUR)])
                .await
                .unwrap();
            due.push(id);
        }
        store.seal_all().await.unwrap();
        // The sources of a merge stay while a query reads them: they are found beside it.
        let running = store.snapshot();
        if round == 2 {
            assert!(store.compact().await.unwrap() > 0);
            let crashed = tempfile::tempdir().unwrap();
            copy_dir(dir.path(), crashed.path());
            lose_catalogue(crashed.path());
            let report = done(crashed.path(), &[]).await;
            assert!(!report.superseded.is_empty(), "{report:?}");
            let store = Store::open(quiet(crashed.path())).await.unwrap();
            assert_eq!(ids(&store, app(1)).await, sorted(&due));
            assert_eq!(store.quarantine().files as usize, report.superseded.len());
        }
        drop(running);
    }
    put(&store, app(1), &[item("logged", 5)]).await.unwrap();
    due.push("logged".to_owned());
    drop(store);
    lose_catalogue(dir.path());

    let report = done(dir.path(), &[]).await;
    assert_eq!((report.kept, report.took_over), (None, false));
    assert_eq!(report.rows, 12);
    let store = Store::open(config).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, sorted(&due));
    assert_eq!(store.snapshot().missing(), []);
    // The rebuilt catalogue is as good as the old one.
    store.compact().await.unwrap();
    put(&store, app(1), &[item("after", 6)]).await.unwrap();
    store.close().await.unwrap();
    let checked = crate::check(dir.path(), None, Arc::new(())).await.unwrap();
    assert_eq!(checked.damage, vec![]);
}

fn sorted(ids: &[String]) -> Vec<String> {
    let mut ids = ids.to_vec();
    ids.sort();
    ids
}

/// A seal writes segments before the catalogue lists them: the log has their rows too.
#[tokio::test]
async fn a_seal_that_was_cut_off_doubles_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    put(&store, app(1), &[item("a", 1), item("b", TICKS_PER_HOUR)])
        .await
        .unwrap();
    let before = tempfile::tempdir().unwrap();
    copy_dir(dir.path(), before.path());
    store.seal_all().await.unwrap();
    drop(store);
    copy_dir(
        &dir.path().join("segments"),
        &before.path().join("segments"),
    );
    lose_catalogue(before.path());
    let report = done(before.path(), &[]).await;
    assert_eq!((report.segments, report.superseded.len()), (0, 2));
    let store = Store::open(quiet(before.path())).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["a", "b"]);
}

#[tokio::test]
async fn applications_get_the_names_and_keys_that_their_items_have() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    for (number, name, batch) in [
        (1, "shop", named(&["a"], "shop", 1)),
        (2, "shop", named(&["b"], "shop", 2)),
        (3, "", requests(&[item("c", 1)])),
    ] {
        if !name.is_empty() {
            create(&store, number, &format!("{name} {number}")).await;
        }
        let batches = vec![(Table::Requests, batch)];
        let request = AppendRequest {
            app: app(number),
            batches,
        };
        store.append(request).await.unwrap();
        if number == 1 {
            store.seal_all().await.unwrap();
        }
    }
    drop(store);
    lose_catalogue(dir.path());
    let report = done(dir.path(), &[]).await;
    let told: Vec<_> = report
        .apps
        .into_iter()
        .map(|app| (app.name, app.instrumentation_key))
        .collect();
    let key = |number: u128| Some(Uuid::from_u128(100 + number));
    assert_eq!(
        told,
        [
            ("shop".to_owned(), key(1)),
            (format!("shop-{}", app(2)), key(2)),
            (format!("recovered-{}", app(3)), None),
        ]
    );
    let store = Store::open(quiet(dir.path())).await.unwrap();
    let apps = store.catalogue().apps().await.unwrap();
    assert_eq!(apps.len(), 3);
    let mut found = apps.iter().map(|app| app.instrumentation_key);
    assert!(found.any(|key| key == Uuid::from_u128(101)));
}

#[tokio::test]
async fn a_sound_catalogue_that_is_too_old_keeps_its_applications() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    create(&store, 1, "shop").await;
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    let older = std::fs::read(dir.path().join("catalogue.db")).unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    put(&store, app(1), &[item("b", 2)]).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    std::fs::write(dir.path().join("catalogue.db"), &older).unwrap();
    refuses(dir.path(), Doubt::OlderCatalogue).await;
    let report = done(dir.path(), &[Doubt::OlderCatalogue]).await;
    assert!(report.took_over && report.apps.is_empty(), "{report:?}");
    assert!(report.kept.unwrap().exists());
    let store = Store::open(quiet(dir.path())).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["a", "b"]);
    assert_eq!(store.catalogue().apps().await.unwrap()[0].name, "shop");
}

#[tokio::test]
async fn a_damaged_catalogue_is_kept_aside() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    let path = dir.path().join("catalogue.db");
    for number in 1..3 {
        std::fs::write(&path, "no database").unwrap();
        let report = done(dir.path(), &[]).await;
        let kept = dir.path().join(format!("catalogue-kept-{number}.db"));
        assert_eq!(report.kept, Some(kept.clone()));
        assert_eq!(std::fs::read_to_string(kept).unwrap(), "no database");
        let store = Store::open(quiet(dir.path())).await.unwrap();
        assert_eq!(ids(&store, app(1)).await, ["a"]);
        store.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_damaged_segment_is_a_doubt_and_never_served() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    put(&store, app(1), &[item("a", 0), item("b", TICKS_PER_HOUR)])
        .await
        .unwrap();
    store.close().await.unwrap();
    drop(store);
    let path = files(dir.path()).remove(0);
    let bytes = std::fs::read(&path).unwrap();
    let mut damaged = bytes.clone();
    damaged[20] ^= 1;
    std::fs::write(&path, damaged).unwrap();
    lose_catalogue(dir.path());
    refuses(dir.path(), Doubt::DamagedSegments).await;
    let report = done(dir.path(), &[Doubt::DamagedSegments]).await;
    assert_eq!(report.damaged.len(), 1);
    for _ in 0..2 {
        let store = Store::open(quiet(dir.path())).await.unwrap();
        let snapshot = store.snapshot();
        assert_eq!(ids_of(frame(&snapshot, app(1))).await, ["b"]);
        assert_eq!(snapshot.missing().len(), 1);
        store.close().await.unwrap();
    }
    std::fs::write(&path, bytes).unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["a", "b"]);
}

#[tokio::test]
async fn a_lost_log_is_a_doubt() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    put(&store, app(1), &[item("sealed", 0)]).await.unwrap();
    store.seal_all().await.unwrap();
    put(&store, app(1), &[item("logged", 0)]).await.unwrap();
    put(&store, app(1), &[item("more", 0)]).await.unwrap();
    drop(store);
    lose_catalogue(dir.path());
    let log = last_log_file(dir.path());
    let mut bytes = std::fs::read(&log).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&log, &bytes).unwrap();
    refuses(dir.path(), Doubt::LostLog).await;
    let gone = tempfile::tempdir().unwrap();
    copy_dir(dir.path(), gone.path());
    std::fs::remove_dir_all(gone.path().join("log")).unwrap();
    refuses(gone.path(), Doubt::LostLog).await;
    for root in [dir.path(), gone.path()] {
        done(root, &[Doubt::LostLog]).await;
        let store = Store::open(quiet(root)).await.unwrap();
        assert_eq!(ids(&store, app(1)).await, ["sealed"]);
        put(&store, app(1), &[item("new", 0)]).await.unwrap();
        store.close().await.unwrap();
    }
    let kept = dir.path().join("quarantine").join("log-1");
    let kept = kept.join(log.file_name().unwrap());
    assert_eq!(std::fs::read(kept).unwrap(), bytes);
}

#[tokio::test]
async fn a_segment_of_another_store_or_place_is_a_doubt_and_left_out() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for root in [dir.path(), other.path()] {
        let store = Store::open(quiet(root)).await.unwrap();
        put(&store, app(1), &[item("a", 0)]).await.unwrap();
        store.close().await.unwrap();
    }
    let foreign = files(other.path()).remove(0);
    let name = foreign.file_name().unwrap();
    let target = files(dir.path())[0].with_file_name(name);
    std::fs::copy(&foreign, &target).unwrap();
    lose_catalogue(dir.path());
    refuses(dir.path(), Doubt::ForeignSegments).await;
    let report = done(dir.path(), &[Doubt::ForeignSegments]).await;
    assert_eq!(report.left_out[0].path, target);
    let store = Store::open(quiet(dir.path())).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["a"]);
}

#[tokio::test]
async fn segments_of_before_checksums_are_a_doubt() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    put(&store, app(1), &[item("a", 0)]).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    let path = files(dir.path()).remove(0);
    let name = path.file_stem().unwrap().to_str().unwrap();
    let older = name.rsplit_once('-').unwrap().0;
    std::fs::rename(&path, path.with_file_name(format!("{older}.parquet"))).unwrap();
    lose_catalogue(dir.path());
    refuses(dir.path(), Doubt::UnverifiedSegments).await;
    done(dir.path(), &[Doubt::UnverifiedSegments]).await;
    let store = Store::open(quiet(dir.path())).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["a"]);
}

#[tokio::test]
async fn expired_segments_stay_expired() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let config = StoreConfig {
        clock: clock.clone(),
        retention_guard: 1.0,
        ..quiet(dir.path())
    };
    let store = Store::open(config.clone()).await.unwrap();
    put(
        &store,
        app(1),
        &[item("old", 0), item("new", 30 * 24 * TICKS_PER_HOUR)],
    )
    .await
    .unwrap();
    store.seal_all().await.unwrap();
    clock.pass(Duration::from_secs(95 * 86_400));
    assert_eq!(store.expire().await.unwrap(), 1);
    store.close().await.unwrap();
    drop(store);
    lose_catalogue(dir.path());
    done(dir.path(), &[]).await;
    let store = Store::open(config).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["new"]);
    assert_eq!(store.catalogue().expired_segments().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_held_folder_and_an_empty_one_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let refused = recover(dir.path(), &[], START, Arc::new(())).await;
    assert!(matches!(refused, Err(StoreError::NoStore { .. })));
    let _store = Store::open(quiet(dir.path())).await.unwrap();
    let refused = recover(dir.path(), &[], START, Arc::new(())).await;
    assert!(matches!(refused, Err(StoreError::Locked { .. })));
}
