//! A catalogue in PostgreSQL: restarts, lost connections, two servers, folders that do not belong to it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::runtime::Runtime;

use super::postgres_server::{PostgresServer, place_at};
use super::*;
use crate::{CataloguePlace, DatabaseError, NewApplication, StoreError};

fn over(place: CataloguePlace, dir: &Path) -> StoreConfig {
    StoreConfig {
        catalogue: place,
        ..quiet(dir)
    }
}

fn new(name: &str) -> NewApplication {
    NewApplication {
        id: AppId(Uuid::new_v4()),
        name: name.to_owned(),
        instrumentation_key: Uuid::new_v4(),
        created: 7,
    }
}

/// What a proxy does with the next `COMMIT`. It closes the connection of the client in each case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// PostgreSQL does not get it, and loses the connection too.
    Before,
    /// PostgreSQL gets it.
    After,
    /// PostgreSQL gets it half a second later.
    Late,
}

/// A proxy between a store and PostgreSQL.
struct Proxy {
    folder: tempfile::TempDir,
    cut: Arc<Mutex<Option<Cut>>>,
}

impl Proxy {
    fn start(server: &Path) -> Proxy {
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let cut = Arc::new(Mutex::new(None));
        let (socket, shared) = (server.join(".s.PGSQL.5432"), cut.clone());
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = UnixStream::connect(&socket).await else {
                    continue;
                };
                tokio::spawn(forward(client, server, shared.clone()));
            }
        });
        Proxy { folder, cut }
    }

    fn cut_next_commit(&self, cut: Cut) {
        *self.cut.lock() = Some(cut);
    }
}

async fn forward(client: UnixStream, server: UnixStream, cut: Arc<Mutex<Option<Cut>>>) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let replies =
        tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
    let mut bytes = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from_client.read(&mut bytes).await {
        let is_commit = bytes[..length].windows(6).any(|part| part == b"COMMIT");
        let cut = cut.lock().take_if(|_| is_commit);
        if let Some(cut) = cut {
            replies.abort();
            let _ = replies.await;
            drop(from_client);
            if cut == Cut::Late {
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
            if cut != Cut::Before {
                to_server.write_all(&bytes[..length]).await.unwrap();
            }
            return;
        }
        if to_server.write_all(&bytes[..length]).await.is_err() {
            break;
        }
    }
    drop(to_server);
    let _ = replies.await;
}

#[tokio::test]
async fn a_seal_and_a_merge_whose_commit_loses_its_connection_store_each_item_once() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let proxy = Proxy::start(server.folder());
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    let config = || StoreConfig {
        clock: clock.clone(),
        ..over(place_at(proxy.folder.path()), dir.path())
    };
    let store = Store::open(config()).await.unwrap();
    let mut expected = Vec::new();
    for (number, cut) in [Cut::Before, Cut::After, Cut::Late].into_iter().enumerate() {
        put(&store, app(1), &[item(number, 1)]).await.unwrap();
        expected.push(number.to_string());
        proxy.cut_next_commit(cut);
        let sealed = store.seal_all().await;
        assert_eq!(*proxy.cut.lock(), None, "the commit was not cut");
        assert_eq!(sealed.is_ok(), cut != Cut::Before, "{cut:?}: {sealed:?}");
        assert_eq!(ids(&store, app(1)).await, expected, "{cut:?}");
        store.seal_all().await.unwrap();
        assert_eq!(ids(&store, app(1)).await, expected, "{cut:?}");
    }
    assert_eq!(store.catalogue().segments().await.unwrap().len(), 3);

    clock.pass(Duration::from_secs(3 * 3600));
    proxy.cut_next_commit(Cut::Late);
    store.compact().await.unwrap();
    assert_eq!(*proxy.cut.lock(), None, "the commit was not cut");
    assert_eq!(ids(&store, app(1)).await, expected);
    assert_eq!(store.catalogue().segments().await.unwrap().len(), 1);
    drop(store);

    let store = Store::open(config()).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, expected);
    assert_eq!(
        store.quarantine().files,
        1,
        "the segment of the seal that was undone"
    );
}

#[tokio::test]
async fn a_store_that_is_killed_during_a_commit_opens_with_its_outcome() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let proxy = Proxy::start(server.folder());
    let dir = tempfile::tempdir().unwrap();
    let config = || over(place_at(proxy.folder.path()), dir.path());
    let store = Store::open(config()).await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    proxy.cut_next_commit(Cut::Late);
    let (process, sealed) = (Runtime::new().unwrap(), store.clone());
    let sealing = process.spawn(async move { sealed.seal_all().await });
    while proxy.cut.lock().is_some() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // The seal waits for the outcome when its process goes away.
    assert!(!sealing.is_finished());
    let end = move || process.shutdown_timeout(Duration::from_secs(10));
    tokio::task::spawn_blocking(end).await.unwrap();
    assert!(sealing.await.unwrap_err().is_cancelled());
    drop(store);

    let store = Store::open(config()).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["a"]);
    assert_eq!(store.catalogue().segments().await.unwrap().len(), 1);
    assert_eq!(store.quarantine().files, 0);
}

#[tokio::test]
async fn ingestion_goes_on_while_postgresql_is_away_and_is_sealed_afterwards() {
    let Some(mut server) = PostgresServer::start() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(over(server.place(), dir.path())).await.unwrap();
    store.catalogue().create_app(new("shop")).await.unwrap();
    let version = store.catalogue().version().await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();

    server.stop();
    put(&store, app(1), &[item("b", 2)]).await.unwrap();
    let failed = store.seal_all().await.unwrap_err();
    assert!(failed.is_catalogue_unavailable(), "{failed}");
    assert!(
        failed.to_string().contains("postgres://hindsight@"),
        "{failed}"
    );
    assert!(store.health().reason.unwrap().contains("sealing failed"));
    assert_eq!(store.catalogue().version().await.unwrap(), version);
    assert_eq!(store.catalogue().latest_version().await.unwrap(), version);
    assert!(store.catalogue().apps().await.is_err());
    assert_eq!(ids(&store, app(1)).await, ["a", "b"]);

    server.go_on();
    assert_eq!(store.catalogue().apps().await.unwrap().len(), 1);
    put(&store, app(1), &[item("c", 3)]).await.unwrap();
    store.seal_all().await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["a", "b", "c"]);
    assert_eq!(store.stats().hot_bytes(), 0);
    assert_eq!(store.health().reason, None);
    drop(store);
    let store = Store::open(over(server.place(), dir.path())).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["a", "b", "c"]);
}

#[tokio::test]
async fn a_catalogue_has_one_store_at_a_time() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let (dir, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = Store::open(over(server.place(), dir.path())).await.unwrap();
    put(&first, app(1), &[item("a", 1)]).await.unwrap();
    copy_dir(dir.path(), copy.path());
    let refused = Store::open(over(server.place(), copy.path()))
        .await
        .unwrap_err();
    let text = refused.to_string();
    let holder = format!(
        "process {} on the machine of PostgreSQL uses it",
        std::process::id()
    );
    assert!(text.contains(&holder), "{text}");

    // Its connection with the lock is lost, and another process takes the catalogue before it can take the lock again.
    server.sql(
        "hindsight",
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'",
    );
    let second = Store::open(over(server.place(), copy.path()))
        .await
        .unwrap();
    let refused = first.seal_all().await.unwrap_err();
    assert!(
        matches!(
            &refused,
            StoreError::Catalogue {
                source: DatabaseError::TakenOver { .. },
                ..
            }
        ),
        "{refused}"
    );
    second.seal_all().await.unwrap();
    assert_eq!(second.catalogue().segments().await.unwrap().len(), 1);
}

#[tokio::test]
async fn the_lock_of_a_store_is_taken_again_after_a_restart_of_postgresql() {
    let Some(mut server) = PostgresServer::start() else {
        return;
    };
    let (dir, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = Store::open(over(server.place(), dir.path())).await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    copy_dir(dir.path(), copy.path());
    server.stop();
    server.go_on();
    store.seal_all().await.unwrap();
    let refused = Store::open(over(server.place(), copy.path()))
        .await
        .unwrap_err();
    assert!(
        matches!(
            &refused,
            StoreError::Catalogue {
                source: DatabaseError::Held { .. },
                ..
            }
        ),
        "{refused}"
    );
}

#[tokio::test]
async fn a_folder_and_a_catalogue_that_do_not_belong_together_are_refused() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let nothing = server.place().open(dir.path()).await.unwrap_err();
    assert!(
        nothing.to_string().contains("holds no catalogue"),
        "{nothing}"
    );
    let store = Store::open(over(server.place(), dir.path())).await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    store.close().await.unwrap();
    drop(store);

    // The folder without its database, and the operations that know SQLite alone.
    for refused in [
        Store::open(quiet(dir.path())).await.map(drop),
        crate::Catalogue::open(dir.path()).await.map(drop),
        crate::Catalogue::open_or_create(dir.path()).await.map(drop),
    ] {
        assert!(
            matches!(refused, Err(StoreError::CatalogueElsewhere { .. })),
            "{refused:?}"
        );
    }
    let target = tempfile::tempdir().unwrap();
    let progress = || Arc::new(());
    for refused in [
        crate::create_backup(dir.path(), target.path(), &[], 0, progress())
            .await
            .map(drop),
        crate::check(dir.path(), None, progress()).await.map(drop),
        crate::recover(dir.path(), &[], 0, progress())
            .await
            .map(drop),
    ] {
        assert!(
            matches!(refused, Err(StoreError::NotWithPostgres { .. })),
            "{refused:?}"
        );
    }

    // Another folder, new or of a store of its own. Commands need no folder.
    let (empty, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let refused = Store::open(over(server.place(), empty.path())).await;
    assert!(
        matches!(refused, Err(StoreError::Foreign { .. })),
        "{refused:?}"
    );
    let absent = empty.path().join("absent");
    assert!(
        server
            .place()
            .open(&absent)
            .await
            .unwrap()
            .apps()
            .await
            .unwrap()
            .is_empty()
    );
    Store::open(quiet(other.path()))
        .await
        .unwrap()
        .close()
        .await
        .unwrap();
    let refused = Store::open(over(server.place(), other.path())).await;
    assert!(
        matches!(refused, Err(StoreError::Foreign { .. })),
        "{refused:?}"
    );
    std::fs::remove_file(other.path().join("catalogue.db")).unwrap();
    for refused in [
        Store::open(over(server.place(), other.path()))
            .await
            .map(drop),
        server.place().open(other.path()).await.map(drop),
    ] {
        assert!(
            matches!(refused, Err(StoreError::Foreign { .. })),
            "{refused:?}"
        );
    }

    // The folder that belongs to it.
    let store = Store::open(over(server.place(), dir.path())).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["a"]);
}

#[tokio::test]
async fn commands_work_beside_a_server_that_sees_their_changes_within_a_second() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(over(server.place(), dir.path())).await.unwrap();
    let before = store.catalogue().version().await.unwrap();
    let command = server.place().open(dir.path()).await.unwrap();
    let created = command.create_app(new("shop")).await.unwrap();
    command.close().await;
    assert_eq!(store.catalogue().apps().await.unwrap(), [created]);
    for _ in 0..1000 {
        if store.catalogue().version().await.unwrap() != before {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the change was not seen");
}

#[tokio::test]
async fn a_transaction_without_changes_and_one_that_fails_leave_no_trace() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let catalogue = server.place().open_or_create(dir.path()).await.unwrap();
    catalogue.create_app(new("shop")).await.unwrap();
    let before = catalogue.latest_version().await.unwrap();
    assert!(!catalogue.delete_key("none").await.unwrap());
    let taken = catalogue.create_app(new("shop")).await.unwrap_err();
    assert!(matches!(taken, StoreError::NameTaken { .. }), "{taken}");
    assert!(!taken.is_catalogue_unavailable());
    assert_eq!(catalogue.latest_version().await.unwrap(), before);
    catalogue.create_app(new("bank")).await.unwrap();
    assert_eq!(catalogue.latest_version().await.unwrap(), before + 1);
    // The order of texts is that of their bytes, whatever the collation of the database is.
    catalogue.create_app(new("Zoo")).await.unwrap();
    let names: Vec<String> = catalogue
        .apps()
        .await
        .unwrap()
        .into_iter()
        .map(|app| app.name)
        .collect();
    assert_eq!(names, ["Zoo", "bank", "shop"]);
}

#[tokio::test]
async fn the_certificate_of_the_server_is_verified() {
    let certificate = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (pem, key) = (
        certificate.cert.pem(),
        certificate.signing_key.serialize_pem(),
    );
    let port = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port()
    };
    let settings = [
        "ssl=on".to_owned(),
        "listen_addresses=127.0.0.1".to_owned(),
        format!("port={port}"),
    ];
    let files = [("server.crt", pem.as_str()), ("server.key", key.as_str())];
    let Some(_server) = PostgresServer::start_with(&files, &settings) else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let authority = dir.path().join("ca.pem");
    std::fs::write(&authority, &pem).unwrap();
    let authority = authority.display();
    let open = async |host: &str, parameters: &str| {
        let url = format!("postgres://hindsight@{host}:{port}/hindsight?{parameters}");
        let place: CataloguePlace = url.parse().unwrap();
        place.open_or_create(&dir.path().join("data")).await
    };
    let trusted = open("localhost", &format!("sslrootcert={authority}"))
        .await
        .unwrap();
    trusted.create_app(new("shop")).await.unwrap();
    for (host, parameters) in [
        ("localhost", "sslmode=verify-full".to_owned()),
        ("127.0.0.1", format!("sslrootcert={authority}")),
        (
            "localhost",
            format!("sslrootcert={}", dir.path().join("absent").display()),
        ),
    ] {
        let refused = open(host, &parameters).await;
        assert!(
            matches!(refused, Err(StoreError::Catalogue { .. })),
            "{host} {parameters}: {refused:?}"
        );
    }
}

/// What administration and queries show of a catalogue.
async fn content(catalogue: &crate::Catalogue) -> String {
    let mut segments = catalogue.segments().await.unwrap();
    for segment in &mut segments {
        segment.id = 0;
    }
    let apps = catalogue.apps().await.unwrap();
    let mut keys = Vec::new();
    for app in &apps {
        keys.push(catalogue.keys(app.id).await.unwrap());
    }
    let (users, roles) = (
        catalogue.users().await.unwrap(),
        catalogue.roles().await.unwrap(),
    );
    let (audit, position) = (
        catalogue.audit(0, 100).await.unwrap(),
        catalogue.log_position().await.unwrap(),
    );
    let mark = catalogue.time_mark().await.unwrap();
    format!("{apps:?} {keys:?} {users:?} {roles:?} {audit:?} {position} {mark:?} {segments:?}")
}

#[tokio::test]
async fn a_catalogue_moves_to_postgresql_and_back() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let CataloguePlace::Postgres(url) = server.place() else {
        panic!("the server has no address");
    };
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    let shop = store.catalogue().create_app(new("shop")).await.unwrap();
    let key = crate::NewKey {
        id: "k".to_owned(),
        app: shop.id,
        name: "reader".to_owned(),
        hash: vec![0, 1, 255],
        scopes: "query".to_owned(),
        created: 8,
        expires: None,
    };
    store.catalogue().create_key(key).await.unwrap();
    let ada = crate::UserRecord {
        id: "u".to_owned(),
        name: "Ada".to_owned(),
        password: "hash".to_owned(),
        created: 9,
    };
    store.catalogue().create_user(&ada).await.unwrap();
    for at in [3, 1, 2] {
        let note = crate::AuditRecord {
            at,
            actor: "Ada".to_owned(),
            action: "sign-in".to_owned(),
            subject: String::new(),
            address: String::new(),
        };
        store.catalogue().note(&note).await.unwrap();
    }
    put(&store, shop.id, &[item("a", 1)]).await.unwrap();
    store.seal_all().await.unwrap();
    put(&store, shop.id, &[item("b", 2)]).await.unwrap();
    let refused = crate::move_catalogue_to_postgres(dir.path(), &url).await;
    assert!(
        matches!(refused, Err(StoreError::Locked { .. })),
        "{refused:?}"
    );
    let before = content(store.catalogue()).await;
    drop(store);

    let kept = crate::move_catalogue_to_postgres(dir.path(), &url)
        .await
        .unwrap()
        .unwrap();
    assert!(kept.exists() && !dir.path().join("catalogue.db").exists());
    let catalogue = server.place().open(dir.path()).await.unwrap();
    assert_eq!(content(&catalogue).await, before);
    catalogue.close().await;
    let store = Store::open(over(server.place(), dir.path())).await.unwrap();
    assert_eq!(ids(&store, shop.id).await, ["a", "b"]);
    put(&store, shop.id, &[item("c", 3)]).await.unwrap();
    store.seal_all().await.unwrap();
    store.catalogue().create_app(new("bank")).await.unwrap();
    let before = content(store.catalogue()).await;
    let refused = crate::move_catalogue_from_postgres(dir.path(), &url).await;
    assert!(
        matches!(refused, Err(StoreError::Locked { .. })),
        "{refused:?}"
    );
    drop(store);

    // Another folder cannot take the database.
    let other = tempfile::tempdir().unwrap();
    Store::open(quiet(other.path()))
        .await
        .unwrap()
        .close()
        .await
        .unwrap();
    let refused = crate::move_catalogue_to_postgres(other.path(), &url).await;
    assert!(
        matches!(refused, Err(StoreError::Foreign { .. })),
        "{refused:?}"
    );

    crate::move_catalogue_from_postgres(dir.path(), &url)
        .await
        .unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    assert_eq!(content(store.catalogue()).await, before);
    assert_eq!(ids(&store, shop.id).await, ["a", "b", "c"]);
    assert_eq!(store.quarantine().files, 0);
    put(&store, shop.id, &[item("d", 4)]).await.unwrap();
    store.seal_all().await.unwrap();
    assert_eq!(ids(&store, shop.id).await, ["a", "b", "c", "d"]);
}
