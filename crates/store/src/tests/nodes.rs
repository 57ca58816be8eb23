//! Several nodes on one catalogue in PostgreSQL: what each reads of the others, and what their seals, merges and ends do to it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::cluster::{Cluster, HOUR, LIFETIME, all_ids};
use super::postgres_server::PostgresServer;
use super::*;
use crate::clock::ticks;
use crate::objects::memory::Fault;
use crate::{
    Clock, DatabaseError, Forgotten, HotReply, NewApplication, NodeRecord, NodeRole, ObjectsConfig,
    StoreError,
};

#[tokio::test]
async fn each_node_reads_what_the_others_have_acknowledged_and_sealed() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (a, b) = (cluster.node("a").await, cluster.node("b").await);
    let c = cluster.open(cluster.config("c", NodeRole::Query)).await;
    for node in [&a, &b, &c] {
        node.follow().await.unwrap();
        assert_eq!(node.other_nodes().len(), 2);
    }
    let import = AppendRequest {
        app: app(1),
        batches: vec![(Table::Requests, requests(&[item("a1", 1)]))],
    };
    assert!(matches!(
        a.append_unique(import).await,
        Err(StoreError::NotWithNodes { .. })
    ));
    let first = put(&a, app(1), &[item("a1", 1)]).await.unwrap();
    let second = put(&b, app(1), &[item("b1", 2)]).await.unwrap();
    put(&b, app(2), &[item("other", 2)]).await.unwrap();
    assert_eq!(first.sequence, 1);
    assert!(second.sequence > 1 << 44, "{second:?}");
    for node in [&a, &b, &c] {
        assert_eq!(all_ids(node, app(1)).await, ["a1", "b1"]);
        assert_eq!(all_ids(node, app(2)).await, ["other"]);
        assert_eq!(all_ids(node, app(3)).await, Vec::<String>::new());
    }
    // A snapshot keeps what it has seen, whatever the node does meanwhile.
    let snapshot = c.snapshot_of_all(LIFETIME).await.unwrap();
    assert_eq!((a.hot_leases(), b.hot_leases()), (1, 1));
    let reads_others = |snapshot: &Snapshot| {
        let table = snapshot.table(&[app(1)], Table::Requests);
        table.reads_other_nodes()
    };
    assert!(reads_others(&snapshot) && !reads_others(&c.snapshot()));
    a.seal_all().await.unwrap();
    put(&a, app(1), &[item("a2", 3)]).await.unwrap();
    assert_eq!(ids_of(frame(&snapshot, app(1))).await, ["a1", "b1"]);
    drop(snapshot);
    assert_eq!((a.hot_leases(), b.hot_leases()), (0, 0));
    // No node has read the catalogue since the seal.
    for node in [&a, &b, &c] {
        assert_eq!(all_ids(node, app(1)).await, ["a1", "a2", "b1"]);
    }
    b.seal_all().await.unwrap();
    a.seal_all().await.unwrap();
    cluster.clock.pass(3 * HOUR);
    b.follow().await.unwrap();
    assert_eq!(b.compact().await.unwrap(), 1);
    for node in [&a, &b, &c] {
        assert_eq!(all_ids(node, app(1)).await, ["a1", "a2", "b1"]);
    }
    assert_eq!(a.catalogue().segments().await.unwrap().len(), 2);
    // The columns and the time range of a query travel.
    put(&b, app(1), &[item("b2", 7)]).await.unwrap();
    let snapshot = a.snapshot_of_all(LIFETIME).await.unwrap();
    let late = frame(&snapshot, app(1))
        .filter(datafusion::prelude::ident("timestamp").gt(datafusion::prelude::lit(START + 5)));
    let batches = late.unwrap().select_columns(&["timestamp"]).unwrap();
    assert_eq!(times(&batches.collect().await.unwrap()), [START + 7]);
    let count = frame(&snapshot, app(1)).count().await.unwrap();
    assert_eq!(count, 4);
}

#[tokio::test]
async fn a_node_that_is_away_fails_queries_until_it_is_back_or_drained_or_forgotten() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (a, b) = (cluster.node("a").await, cluster.node("b").await);
    put(&a, app(1), &[item("a1", 1)]).await.unwrap();
    assert_eq!(all_ids(&b, app(1)).await, ["a1"]);
    drop(a);
    let failed = b.snapshot_of_all(LIFETIME).await.unwrap_err();
    assert_eq!(failed.to_string(), "the node a is away");
    // It replays its log, and its rows are there again.
    let a = cluster.node("a").await;
    assert_eq!(all_ids(&b, app(1)).await, ["a1"]);
    a.close().await.unwrap();
    drop(a);
    assert_eq!(all_ids(&b, app(1)).await, ["a1"]);
    let a = cluster.node("a").await;
    put(&a, app(1), &[item("a2", 2)]).await.unwrap();
    let id = a.catalogue().node().unwrap().to_string();
    drop(a);
    assert!(b.snapshot_of_all(LIFETIME).await.is_err());
    let forgotten = b.catalogue().forget_node(&id, false).await.unwrap();
    assert_eq!(forgotten, Forgotten::Done);
    b.follow().await.unwrap();
    assert_eq!(all_ids(&b, app(1)).await, ["a1"]);
    let a = cluster.node("a").await;
    b.follow().await.unwrap();
    assert_eq!(all_ids(&b, app(1)).await, ["a1", "a2"]);
    drop(a);
    let unknown = b.catalogue().forget_node("unknown", false).await.unwrap();
    assert_eq!(unknown, Forgotten::Unknown);
}

#[tokio::test]
async fn a_node_has_one_process_and_one_place() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let a = cluster.node("a").await;
    put(&a, app(1), &[item("a1", 1)]).await.unwrap();
    let refusal = async |config: StoreConfig| match Store::open(config).await {
        Err(StoreError::Catalogue { source, .. }) => source,
        other => panic!("{other:?}"),
    };
    // A copy of its folder, while it runs.
    copy_dir(
        &cluster.folders.path().join("a"),
        &cluster.folders.path().join("copy"),
    );
    let held = refusal(cluster.config("copy", NodeRole::All)).await;
    assert!(matches!(held, DatabaseError::Held { .. }), "{held}");
    // Another folder, with segments of its own.
    let local = StoreConfig {
        objects: None,
        ..cluster.config("local", NodeRole::All)
    };
    let refused = Store::open(local).await.unwrap_err();
    assert!(matches!(refused, StoreError::Foreign { .. }), "{refused}");
    // A process that has lost its locks to the copy changes nothing any more.
    a.seal_all().await.unwrap();
    cluster.server.sql(
        "hindsight",
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'",
    );
    let copy = Store::open(cluster.config("copy", NodeRole::All))
        .await
        .unwrap();
    put(&a, app(1), &[item("a2", 2)]).await.unwrap();
    let refused = a.seal_all().await.unwrap_err();
    assert!(refused.to_string().contains("taken over"), "{refused}");
    drop((a, copy));

    // Settings that do not fit together, and segments that are elsewhere.
    let file = StoreConfig {
        catalogue: crate::CataloguePlace::DataFolder,
        ..cluster.config("file", NodeRole::Ingest)
    };
    for config in [
        StoreConfig {
            objects: None,
            ..cluster.config("b", NodeRole::Ingest)
        },
        file,
    ] {
        let refused = Store::open(config).await;
        assert!(
            matches!(refused, Err(StoreError::BadNode(_))),
            "{refused:?}"
        );
    }
    let local = StoreConfig {
        objects: None,
        ..cluster.config("a", NodeRole::All)
    };
    let refused = refusal(local).await;
    assert!(matches!(refused, DatabaseError::Refused(_)), "{refused}");
    let back = cluster.node("a").await;
    assert_eq!(ids(&back, app(1)).await, ["a1", "a2"]);
    drop((back, cluster.node("b").await));
    // A move of the catalogue takes one node.
    let crate::CataloguePlace::Postgres(url) = cluster.server.place() else {
        panic!("the server has no address");
    };
    let folder = cluster.folders.path().join("a");
    let refused = crate::move_catalogue_from_postgres(&folder, &url).await;
    assert!(
        matches!(refused, Err(StoreError::NotWithNodes { .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_node_that_cannot_note_its_turn_leaves_the_turn_to_others() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (a, b) = (cluster.node("a").await, cluster.node("b").await);
    cluster.server.sql(
        "hindsight",
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$; \
         CREATE TRIGGER refuse BEFORE UPDATE OF maintained ON nodes \
         FOR EACH ROW WHEN (NEW.name = 'a') EXECUTE FUNCTION refuse()",
    );
    for _ in 0..2 {
        let refused = a.catalogue().begin_maintenance().await.unwrap_err();
        assert!(refused.to_string().contains("refused"), "{refused}");
        assert!(b.catalogue().begin_maintenance().await.unwrap());
        b.catalogue().end_maintenance().await.unwrap();
    }
}

#[tokio::test]
async fn one_node_at_a_time_maintains_and_two_merges_of_the_same_segments_store_each_item_once() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (a, b) = (cluster.node("a").await, cluster.node("b").await);
    assert!(a.catalogue().begin_maintenance().await.unwrap());
    assert!(!b.catalogue().begin_maintenance().await.unwrap());
    a.catalogue().end_maintenance().await.unwrap();
    assert!(b.catalogue().begin_maintenance().await.unwrap());
    assert!(!a.catalogue().begin_maintenance().await.unwrap());
    drop(b);
    // PostgreSQL notices a moment later.
    for _ in 0..200 {
        if a.catalogue().begin_maintenance().await.unwrap() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let nodes = a.catalogue().nodes().await.unwrap();
    let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    assert!(nodes[0].maintained >= nodes[1].maintained && nodes[1].maintained > 0);
    a.catalogue().end_maintenance().await.unwrap();

    let b = cluster.node("b").await;
    for number in 0..3 {
        put(&a, app(1), &[item(number, 1)]).await.unwrap();
        a.seal_all().await.unwrap();
    }
    b.follow().await.unwrap();
    cluster.clock.pass(3 * HOUR);
    // The second merge finds that its segments are gone.
    assert_eq!(a.compact().await.unwrap(), 1);
    assert_eq!(b.compact().await.unwrap(), 0);
    for node in [&a, &b] {
        assert_eq!(all_ids(node, app(1)).await, ["0", "1", "2"]);
    }
    assert_eq!(a.catalogue().segments().await.unwrap().len(), 1);
    // Objects of merged segments stay for a while, for others that read them, and so does the one that was merged in vain.
    assert_eq!(cluster.objects.segments().len(), 5);
    assert_eq!(a.delete_objects().await.unwrap(), 0);
    cluster.clock.pass(HOUR);
    assert_eq!(a.delete_objects().await.unwrap(), 3);
    assert_eq!(b.delete_objects().await.unwrap(), 1);
    assert_eq!(cluster.objects.segments().len(), 1);
    assert_eq!(all_ids(&b, app(1)).await, ["0", "1", "2"]);
}

#[tokio::test]
async fn a_deleted_application_is_gone_at_all_nodes() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (a, b) = (cluster.node("a").await, cluster.node("b").await);
    let new = NewApplication {
        id: app(1),
        name: "shop".to_owned(),
        instrumentation_key: Uuid::from_u128(9),
        created: 1,
    };
    a.catalogue().create_app(new).await.unwrap();
    put(&a, app(1), &[item("a1", 1)]).await.unwrap();
    put(&b, app(1), &[item("b1", 1)]).await.unwrap();
    a.seal_all().await.unwrap();
    assert_eq!(all_ids(&b, app(1)).await, ["a1", "b1"]);
    let deleted = b.catalogue().delete_app(app(1), START).await;
    assert!(deleted.is_ok(), "{deleted:?}");
    assert_eq!(a.purge_deleted().await.unwrap(), 1);
    // A node that does not know of it yet seals items of it.
    b.seal_all().await.unwrap();
    for node in [&a, &b] {
        node.follow().await.unwrap();
        assert_eq!(all_ids(node, app(1)).await, Vec::<String>::new());
    }
    a.purge_deleted().await.unwrap();
    assert_eq!(a.catalogue().segments().await.unwrap(), []);
}

/// What was acknowledged: when each item was received, in ticks.
type Model = BTreeMap<String, i64>;

/// Compares what a query at a node sees with what was acknowledged. Items past their retention may be there or not.
async fn compare(store: &Store, model: &Model, oldest: i64, about: &str) {
    let snapshot = store.snapshot_of_all(LIFETIME).await.unwrap();
    let found = ids_of(frame(&snapshot, app(1))).await;
    let mut once = found.clone();
    once.dedup();
    assert_eq!(found, once, "{about}: items are doubled");
    for id in &found {
        assert!(model.contains_key(id), "{about}: {id} was never sent");
    }
    let kept = model.iter().filter(|(_, at)| **at > oldest);
    let lost: Vec<&String> = kept
        .map(|(id, _)| id)
        .filter(|id| found.binary_search(id).is_err())
        .collect();
    assert!(lost.is_empty(), "{about}: {lost:?} are lost");
}

#[tokio::test]
async fn random_interleavings_lose_and_double_nothing() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let retention = Duration::from_secs(86_400);
    let config = |name: &str| StoreConfig {
        retention,
        retention_guard: 1.0,
        compaction_fan_in: 4,
        objects: Some(ObjectsConfig {
            orphan_age: HOUR,
            ..ObjectsConfig::new(Arc::new(cluster.objects.clone()))
        }),
        ..cluster.config(name, NodeRole::All)
    };
    let names = ["a", "b", "c"];
    let mut nodes = Vec::new();
    for name in names {
        nodes.push(cluster.open(config(name)).await);
    }
    let seed = 20;
    let mut random = StdRng::seed_from_u64(seed);
    let mut model = Model::new();
    let steps = if proving() { 4000 } else { 400 };
    for step in 0..steps {
        let index = random.random_range(0..nodes.len());
        let node = nodes[index].clone();
        let now = cluster.clock.now_ticks();
        cluster.objects.set_time(now);
        match random.random_range(0..100) {
            0..40 => {
                let count = random.random_range(1..4);
                let items: Vec<Item> = (0..count)
                    .map(|number| item(format!("{step:05}-{number}"), now - START))
                    .collect();
                put(&node, app(1), &items).await.unwrap();
                model.extend(items.into_iter().map(|item| (item.id, now)));
            }
            40..56 => node.seal_all().await.unwrap(),
            56..60 => {
                // A seal that fails is undone, and its items are sealed by the next one.
                let fault = [Fault::PutBefore, Fault::PutAfter][random.random_range(0..2)];
                cluster.objects.fail(fault, 1);
                let is_empty = node.view.sizes().bytes == 0;
                assert_eq!(node.seal_all().await.is_ok(), is_empty);
                cluster.objects.fail(fault, 0);
                cluster.clock.pass(Duration::from_secs(2));
            }
            60..66 => {
                // As a turn of maintenance begins.
                node.follow().await.unwrap();
                node.compact().await.unwrap();
            }
            66..67 => drop(node.delete_objects().await.unwrap()),
            67..68 => drop(node.collect_orphans().await.unwrap()),
            68..72 => drop(node.expire().await.unwrap()),
            72..76 => node.follow().await.unwrap(),
            76..80 => {
                let passed = Duration::from_secs(random.random_range(1..7200));
                cluster.clock.pass(passed);
            }
            80..83 => {
                if random.random_bool(0.5) {
                    node.close().await.unwrap();
                }
                drop(node);
                nodes.remove(index);
                nodes.insert(index, cluster.open(config(names[index])).await);
            }
            _ => {
                let oldest = now - ticks(retention);
                compare(&node, &model, oldest, &format!("seed {seed}, step {step}")).await;
            }
        }
    }
    let oldest = cluster.clock.now_ticks() - ticks(retention);
    for node in &nodes {
        compare(node, &model, oldest, "at the end").await;
    }
    assert!(model.len() > steps / 4);
    // In the end there are the objects of the segments that the catalogue lists, and no others.
    for _ in 0..2 {
        cluster.clock.pass(2 * HOUR);
        for node in &nodes {
            node.delete_objects().await.unwrap();
        }
        nodes[0].collect_orphans().await.unwrap();
    }
    let records = nodes[0].catalogue().all_segments().await.unwrap();
    let listed = records.into_iter().map(|record| record.path);
    let listed: std::collections::BTreeSet<String> = listed.collect();
    let keys = cluster.objects.segments().into_iter();
    let found = keys.filter_map(|key| Some(key.split_once("/segments/")?.1.to_owned()));
    assert_eq!(found.collect::<std::collections::BTreeSet<_>>(), listed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn queries_beside_seals_and_merges_of_other_nodes_see_each_item_once() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let mut nodes = Vec::new();
    for name in ["a", "b"] {
        nodes.push(cluster.node(name).await);
    }
    let model = Arc::new(Mutex::new(Model::new()));
    let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let writers = nodes.iter().enumerate().map(|(index, node)| {
        let (node, model, clock) = (node.clone(), model.clone(), cluster.clock.clone());
        tokio::spawn(async move {
            for step in 0..60 {
                let id = format!("{index}-{step:03}");
                put(&node, app(1), &[item(&id, 1)]).await.unwrap();
                model.lock().insert(id, START);
                if step % 3 == index {
                    node.seal_all().await.unwrap();
                }
                if step % 10 == 9 {
                    clock.pass(HOUR);
                    node.compact().await.unwrap();
                }
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let readers = nodes.iter().map(|node| {
        let (node, model, done) = (node.clone(), model.clone(), done.clone());
        tokio::spawn(async move {
            let mut queries = 0;
            while !done.load(std::sync::atomic::Ordering::Acquire) {
                let before = model.lock().clone();
                let snapshot = node.snapshot_of_all(LIFETIME).await.unwrap();
                let found = ids_of(frame(&snapshot, app(1))).await;
                let mut once = found.clone();
                once.dedup();
                assert_eq!(found, once, "items are doubled");
                for id in before.keys() {
                    assert!(found.binary_search(id).is_ok(), "{id} is lost");
                }
                queries += 1;
            }
            queries
        })
    });
    let readers: Vec<_> = readers.collect();
    for writer in writers {
        writer.await.unwrap();
    }
    done.store(true, std::sync::atomic::Ordering::Release);
    for reader in readers {
        assert!(reader.await.unwrap() > 0);
    }
    for node in &nodes {
        assert_eq!(all_ids(node, app(1)).await.len(), 120);
    }
}

#[tokio::test]
async fn a_node_follows_the_commits_of_others_in_the_background() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let awake = |name: &str| StoreConfig {
        background: true,
        clock: Arc::new(crate::SystemClock::default()),
        ..cluster.config(name, NodeRole::All)
    };
    let a = cluster.node("a").await;
    let b = cluster.open(awake("b")).await;
    put(&a, app(1), &[item("a1", 1)]).await.unwrap();
    a.seal_all().await.unwrap();
    for _ in 0..1000 {
        if ids(&b, app(1)).await == ["a1"] {
            let nodes = b.catalogue().nodes().await.unwrap();
            assert!(nodes.iter().all(NodeRecord::is_live));
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the segment of another node was not seen");
}

#[tokio::test]
async fn a_node_that_is_stopped_gets_no_part_of_a_query_and_one_that_is_lost_still_does() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let a = cluster.node("a").await;
    let (b, c) = (cluster.node("b").await, cluster.node("c").await);
    let names = |store: &Store| {
        let nodes = store.query_nodes().into_iter();
        nodes.map(|node| node.name).collect::<Vec<_>>()
    };
    a.follow().await.unwrap();
    assert_eq!(names(&a), ["b", "c"]);
    b.close().await.unwrap();
    // As if it was killed: it counts as live until it has not reported for a while.
    drop(c);
    a.follow().await.unwrap();
    assert_eq!(names(&a), ["c"]);
    // It runs them again once it is started again.
    drop(b);
    let b = cluster.node("b").await;
    a.follow().await.unwrap();
    assert_eq!(names(&a), ["b", "c"]);
    drop(b);
}

#[tokio::test]
async fn a_catalogue_of_before_there_were_nodes_gets_its_server_as_the_first_one() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let config = |dir: &Path| StoreConfig {
        catalogue: server.place(),
        ..quiet(dir)
    };
    let store = Store::open(config(dir.path())).await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    store.seal_all().await.unwrap();
    put(&store, app(1), &[item("b", 2)]).await.unwrap();
    drop(store);
    // As an earlier version left it.
    server.sql(
        "hindsight",
        "UPDATE log_position SET sequence = (SELECT log_position FROM nodes); DELETE FROM nodes",
    );
    let format = std::fs::read_to_string(dir.path().join("format")).unwrap();
    let lines: Vec<&str> = format.lines().collect();
    assert_eq!(lines.len(), 4, "{format}");
    std::fs::write(dir.path().join("format"), lines[..3].join("\n")).unwrap();
    let store = Store::open(config(dir.path())).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["a", "b"]);
    let nodes = store.catalogue().nodes().await.unwrap();
    assert_eq!(nodes.len(), 1);
    assert_eq!((nodes[0].number, nodes[0].log_position), (0, 1));
    store.seal_all().await.unwrap();
    assert_eq!(store.catalogue().log_position().await.unwrap(), 2);
}

#[tokio::test]
async fn a_memtable_that_another_node_takes_for_sealed_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    let open = async |sealed| store.open_hot(sealed, LIFETIME).await.unwrap();
    assert!(matches!(open(0).await, HotReply::Open { .. }));
    // A catalogue that lists the first request in a segment, before this node has noticed.
    assert!(matches!(open(1).await, HotReply::Behind));
    store.seal_all().await.unwrap();
    assert_eq!(open(1).await, HotReply::Empty);
    assert!(matches!(open(0).await, HotReply::Gone));
}

#[tokio::test]
async fn a_memtable_without_rows_is_not_pinned() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(quiet(dir.path())).await.unwrap();
    let open = async || store.open_hot(0, LIFETIME).await.unwrap();
    assert_eq!(open().await, HotReply::Empty);
    assert_eq!(store.hot_leases(), 0);
    put(&store, app(1), &[item("a", 1)]).await.unwrap();
    assert!(matches!(open().await, HotReply::Open { .. }));
    assert_eq!(store.hot_leases(), 1);
}
