//! Opening never destroys: a catalogue that is empty, older or another store's is refused, and every file stays (`D31`).

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;
use crate::{Catalogue, StoreError};

/// Every file of telemetry with its bytes.
fn telemetry(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.join("segments"), root.join("log")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                found.insert(entry.path(), std::fs::read(entry.path()).unwrap());
            }
        }
    }
    found
}

/// A closed store with two sealed segments and, where asked for, a request in its log.
async fn filled(root: &Path) {
    let store = Store::open(quiet(root)).await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    store.seal_all().await.unwrap();
    put(&store, app(1), &[item("b", 2)]).await.unwrap();
    store.close().await.unwrap();
}

fn remove_catalogue(root: &Path) {
    for name in ["catalogue.db", "catalogue.db-wal", "catalogue.db-shm"] {
        // SQLite removes the two beside the file when it is closed.
        let _ = std::fs::remove_file(root.join(name));
    }
}

/// Opening fails with an error that `expected` accepts, twice, and changes no file of telemetry.
async fn is_refused(root: &Path, expected: fn(&StoreError) -> bool) {
    let before = telemetry(root);
    assert!(before.len() >= 2, "there is telemetry to lose");
    for _ in 0..2 {
        match Store::open(quiet(root)).await {
            Err(error) => assert!(expected(&error), "{error}"),
            Ok(_) => panic!("the store was opened"),
        }
        assert_eq!(telemetry(root), before);
    }
}

#[tokio::test]
async fn an_empty_catalogue_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path()).await;
    remove_catalogue(dir.path());
    std::fs::write(dir.path().join("catalogue.db"), "").unwrap();
    is_refused(dir.path(), |e| matches!(e, StoreError::Foreign { .. })).await;
    let refused = Catalogue::open(dir.path()).await;
    assert!(matches!(refused, Err(StoreError::Foreign { .. })));
}

#[tokio::test]
async fn the_catalogue_of_another_store_is_refused() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    filled(dir.path()).await;
    filled(other.path()).await;
    remove_catalogue(dir.path());
    std::fs::copy(
        other.path().join("catalogue.db"),
        dir.path().join("catalogue.db"),
    )
    .unwrap();
    is_refused(dir.path(), |e| matches!(e, StoreError::Foreign { .. })).await;
}

#[tokio::test]
async fn an_older_catalogue_than_the_log_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    let older = std::fs::read(dir.path().join("catalogue.db")).unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    put(&store, app(1), &[item("b", 2)]).await.unwrap();
    store.close().await.unwrap();
    drop(store);

    std::fs::write(dir.path().join("catalogue.db"), older).unwrap();
    is_refused(dir.path(), |e| {
        matches!(e, StoreError::DamagedCatalogue { .. })
    })
    .await;
    std::fs::remove_file(dir.path().join("catalogue.generation")).unwrap();
    is_refused(dir.path(), |e| matches!(e, StoreError::Missing { .. })).await;
}

#[tokio::test]
async fn an_empty_catalogue_of_before_stores_had_identities_is_refused_by_the_log() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path()).await;
    remove_catalogue(dir.path());
    std::fs::write(dir.path().join("catalogue.db"), "").unwrap();
    std::fs::write(dir.path().join("format"), "hindsight 1\n").unwrap();
    std::fs::remove_file(dir.path().join("catalogue.generation")).unwrap();
    is_refused(dir.path(), |e| matches!(e, StoreError::Missing { .. })).await;
}

#[tokio::test]
async fn a_log_without_files_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path()).await;
    for entry in std::fs::read_dir(dir.path().join("log")).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    is_refused(dir.path(), |e| matches!(e, StoreError::Missing { .. })).await;
}

#[tokio::test]
async fn a_folder_of_before_stores_had_identities_opens_and_gets_one() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path()).await;
    std::fs::write(dir.path().join("format"), "hindsight 1\n").unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["a", "b"]);
    let format = std::fs::read_to_string(dir.path().join("format")).unwrap();
    assert!(format.starts_with("hindsight 1\nstore "), "{format}");
}

/// The modes of everything below a folder that others than the owner may use.
#[cfg(unix)]
fn open_to_others(root: &Path) -> Vec<(PathBuf, u32)> {
    use std::os::unix::fs::PermissionsExt;
    let mut found = Vec::new();
    let mut paths = vec![root.to_owned()];
    while let Some(path) = paths.pop() {
        let metadata = std::fs::metadata(&path).unwrap();
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            found.push((path.clone(), mode));
        }
        if metadata.is_dir() {
            paths.extend(
                std::fs::read_dir(path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
    }
    found
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_the_files_of_a_store() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("data");
    filled(&root).await;
    assert_eq!(open_to_others(&root), []);
    for folder in ["log", "segments"] {
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(root.join(folder), open).unwrap();
    }
    let store = Store::open(quiet(&root)).await.unwrap();
    store.announce("http://127.0.0.1:1", None).unwrap();
    put(&store, app(1), &[item("c", 3)]).await.unwrap();
    assert_eq!(open_to_others(&root), []);
}

#[tokio::test]
async fn nothing_is_made_where_nothing_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("data");
    let config = StoreConfig {
        create: false,
        ..quiet(&folder)
    };
    let refused = Store::open(config).await;
    assert!(matches!(refused, Err(StoreError::NoStore { .. })));
    let refused = Catalogue::open(&folder).await;
    assert!(matches!(refused, Err(StoreError::NoStore { .. })));
    assert!(!folder.exists());
}

#[tokio::test]
async fn a_seal_that_was_cut_off_before_its_transaction_loses_and_doubles_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    let before = tempfile::tempdir().unwrap();
    copy_dir(dir.path(), before.path());
    store.seal_all().await.unwrap();
    drop(store);
    // The segment is there, and the catalogue and the log are those of before it was registered.
    copy_dir(
        &dir.path().join("segments"),
        &before.path().join("segments"),
    );

    let store = Store::open(quiet(before.path())).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["a"]);
    assert_eq!(store.quarantine().files, 1);
}

/// The catalogue of a folder as the program wrote it before damage and trusted time were in it.
async fn make_older(root: &Path) {
    let migrations = tempfile::tempdir().unwrap();
    for name in [
        "0001_first",
        "0002_identity",
        "0003_store_id",
        "0004_segment_checksums",
    ] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
        let name = format!("{name}.sql");
        std::fs::copy(source.join(&name), migrations.path().join(&name)).unwrap();
    }
    let (path, newer) = (root.join("catalogue.db"), root.join("newer.db"));
    std::fs::rename(&path, &newer).unwrap();
    let options = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(&path)
        .create_if_missing(true);
    let pool = sqlx::sqlite::SqlitePoolOptions::new()
        .max_connections(1)
        .connect_with(options)
        .await
        .unwrap();
    let migrator = sqlx::migrate::Migrator::new(migrations.path());
    migrator.await.unwrap().run(&pool).await.unwrap();
    sqlx::query("ATTACH ? AS newer")
        .bind(newer.display().to_string())
        .execute(&pool)
        .await
        .unwrap();
    for copy in [
        "INSERT INTO segments SELECT id, app_id, table_name, path, rows, bytes, min_ts, max_ts, min_seq, max_seq, level, \
         promoted, created, checksums FROM newer.segments",
        "INSERT INTO store SELECT * FROM newer.store",
        "UPDATE log_position SET sequence = (SELECT sequence FROM newer.log_position)",
    ] {
        sqlx::query(copy).execute(&pool).await.unwrap();
    }
    pool.close().await;
    std::fs::remove_file(newer).unwrap();
    // It did not count transactions.
    std::fs::remove_file(root.join("catalogue.generation")).unwrap();
}

#[tokio::test]
async fn an_older_catalogue_is_checked_as_it_is_and_opens() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path()).await;
    make_older(dir.path()).await;
    let before = std::fs::read(dir.path().join("catalogue.db")).unwrap();
    let report = crate::check(dir.path(), None, Arc::new(())).await.unwrap();
    assert_eq!((report.damage, report.segments), (vec![], 2));
    let after = std::fs::read(dir.path().join("catalogue.db")).unwrap();
    assert!(before == after, "a check migrates nothing");
    let store = Store::open(quiet(dir.path())).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["a", "b"]);
    let mark = store.catalogue().time_mark().await.unwrap().unwrap();
    assert_eq!(mark.ticks, START, "the latest entry");
}
