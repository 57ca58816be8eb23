//! Several nodes over one object store: who deletes objects and when, the cache of each node, nodes that run alone, moves of segments.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::cluster::{Cluster, HOUR, LIFETIME, all_ids};
use super::*;
use crate::{DatabaseError, NodeRole, SegmentMove, StoreError};

/// Why the catalogue refuses a store.
async fn refusal(config: StoreConfig) -> String {
    match Store::open(config).await {
        Err(StoreError::Catalogue {
            source: DatabaseError::Refused(what),
            ..
        }) => what,
        other => panic!("{other:?}"),
    }
}

/// Pauses the node that uploads next for longer than any age after its upload, while `collector` collects twice: `collected` has the
/// objects of the second time.
fn collect_after_put(cluster: &Cluster, collector: &Arc<Store>, collected: &Arc<AtomicUsize>) {
    let (clock, collector) = (cluster.clock.clone(), collector.clone());
    let (count, handle) = (collected.clone(), tokio::runtime::Handle::current());
    cluster.objects.after_put(move || {
        handle.block_on(async {
            clock.pass(Duration::from_secs(8 * 86_400));
            assert_eq!(collector.collect_orphans().await.unwrap(), 0);
            clock.pass(HOUR);
            let objects = collector.collect_orphans().await.unwrap();
            count.store(objects, Ordering::Relaxed);
        });
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_are_not_collected_between_an_upload_and_its_commit_at_another_node() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (a, b) = (cluster.node("a").await, cluster.node("b").await);
    put(&b, app(1), &[item("b1", 1)]).await.unwrap();
    let collected = Arc::new(AtomicUsize::new(0));
    collect_after_put(&cluster, &a, &collected);
    let refused = b.seal_all().await.unwrap_err();
    assert!(
        refused.to_string().contains("collected since the upload"),
        "{refused}"
    );
    assert_eq!(collected.load(Ordering::Relaxed), 1);
    assert_eq!(all_ids(&a, app(1)).await, ["b1"]);
    b.seal_all().await.unwrap();
    for node in [&a, &b] {
        assert_eq!(all_ids(node, app(1)).await, ["b1"]);
    }
    assert_eq!(cluster.objects.segments().len(), 1);

    // A merge is refused likewise, and is repeated at once.
    for id in ["b2", "b3"] {
        put(&b, app(1), &[item(id, 1)]).await.unwrap();
        b.seal_all().await.unwrap();
    }
    a.follow().await.unwrap();
    collect_after_put(&cluster, &b, &collected);
    assert_eq!(a.compact().await.unwrap(), 1);
    assert_eq!(collected.load(Ordering::Relaxed), 1);
    for node in [&a, &b] {
        assert_eq!(all_ids(node, app(1)).await, ["b1", "b2", "b3"]);
    }
}

#[tokio::test]
async fn each_node_has_a_cache_of_its_own() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (a, b) = (cluster.node("a").await, cluster.node("b").await);
    let c = cluster.open(cluster.config("c", NodeRole::Query)).await;
    for number in 0..3 {
        put(&a, app(1), &[item(number, 1)]).await.unwrap();
        a.seal_all().await.unwrap();
    }
    let figures = |node: &Store| {
        let figures = node.object_figures().unwrap();
        (figures.downloads, figures.cached_files)
    };
    for node in [&a, &b] {
        assert_eq!(all_ids(node, app(1)).await, ["0", "1", "2"]);
    }
    assert_eq!((figures(&a), figures(&b)), ((0, 3), (3, 3)));
    let before = c.snapshot_of_all(LIFETIME).await.unwrap();
    cluster.clock.pass(3 * HOUR);
    assert_eq!(a.compact().await.unwrap(), 1);
    // The copies of merged segments leave each cache; their objects stay for queries that have begun.
    for node in [&b, &c] {
        node.follow().await.unwrap();
    }
    assert_eq!(
        (figures(&a), figures(&b), figures(&c)),
        ((0, 1), (3, 0), (0, 0))
    );
    assert_eq!(ids_of(frame(&before, app(1))).await, ["0", "1", "2"]);
    assert_eq!(figures(&c), (3, 3));
    drop(before);
    assert_eq!(figures(&c), (3, 0));
    assert_eq!(all_ids(&b, app(1)).await, ["0", "1", "2"]);
    assert_eq!(figures(&b), (4, 1));
    cluster.clock.pass(Duration::from_secs(15 * 60));
    for (node, deleted) in [(&b, 0), (&c, 0), (&a, 3)] {
        assert_eq!(node.delete_objects().await.unwrap(), deleted);
    }
    assert_eq!(cluster.objects.segments().len(), 1);
    assert_eq!(all_ids(&c, app(1)).await, ["0", "1", "2"]);
}

#[tokio::test]
async fn a_node_without_an_address_runs_alone() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let alone = |cluster: &Cluster| {
        let mut config = cluster.config("a", NodeRole::All);
        config.node.address.clear();
        config.node_client = None;
        config
    };
    let a = cluster.open(alone(&cluster)).await;
    put(&a, app(1), &[item("a1", 1)]).await.unwrap();
    a.seal_all().await.unwrap();
    let refused = refusal(cluster.config("b", NodeRole::Query)).await;
    assert!(refused.contains("the node a takes telemetry"), "{refused}");
    // Without PostgreSQL it goes on: no other node may have taken telemetry.
    cluster.server.stop();
    cluster.clock.pass(HOUR);
    put(&a, app(1), &[item("a2", 2)]).await.unwrap();
    assert_eq!(all_ids(&a, app(1)).await, ["a1", "a2"]);
    cluster.server.go_on();
    a.close().await.unwrap();
    drop(a);

    // A node that runs queries, and a start beside it.
    let b = cluster.open(cluster.config("b", NodeRole::Query)).await;
    assert_eq!(all_ids(&b, app(1)).await, ["a1", "a2"]);
    let refused = refusal(alone(&cluster)).await;
    assert!(refused.contains("the node b runs"), "{refused}");
    // It is paused for so long that it counts as gone. Its queries fail, and it changes nothing, because a node runs alone.
    cluster
        .server
        .sql("hindsight", "UPDATE nodes SET heartbeat = 0");
    let a = cluster.open(alone(&cluster)).await;
    put(&a, app(1), &[item("a3", 3)]).await.unwrap();
    let failed = b.snapshot_of_all(LIFETIME).await.unwrap_err();
    assert!(failed.to_string().contains("node.address"), "{failed}");
    let refused = b.catalogue().set_drained(false).await.unwrap_err();
    assert!(refused.to_string().contains("taken over"), "{refused}");
    assert_eq!(all_ids(&a, app(1)).await, ["a1", "a2", "a3"]);
}

#[tokio::test]
async fn segments_of_one_node_move_to_where_others_reach_them() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let local = || StoreConfig {
        objects: None,
        ..cluster.config("a", NodeRole::All)
    };
    let store = Store::open(local()).await.unwrap();
    put(&store, app(1), &[item("a1", 1)]).await.unwrap();
    store.close().await.unwrap();
    drop(store);
    let refused = refusal(cluster.config("a", NodeRole::All)).await;
    assert!(refused.contains("in the data folder"), "{refused}");
    let (folder, place) = (cluster.folders.path().join("a"), cluster.server.place());
    let segments = SegmentMove {
        root: folder,
        catalogue: place,
        storage: Arc::new(cluster.objects.clone()),
        clock: cluster.clock.clone(),
        progress: Arc::new(()),
    };
    let to = || segments.clone().to_objects();
    let back = || segments.clone().from_objects();
    assert_eq!(to().await.unwrap().segments, 1);
    assert_eq!(to().await.unwrap().segments, 0);
    assert_eq!(back().await.unwrap().segments, 1);
    let store = Store::open(local()).await.unwrap();
    assert_eq!(ids(&store, app(1)).await, ["a1"]);
    drop(store);
    assert_eq!(to().await.unwrap().segments, 1);
    let refused = refusal(local()).await;
    assert!(refused.contains("in an object store"), "{refused}");
    // As if it had ended before the catalogue knew of it: the start of the node notes it.
    cluster
        .server
        .sql("hindsight", "UPDATE catalogue_state SET shared = 0");
    let refused = refusal(cluster.config("b", NodeRole::All)).await;
    assert!(refused.contains("in the data folder"), "{refused}");
    let a = cluster.node("a").await;
    put(&a, app(1), &[item("a2", 2)]).await.unwrap();
    let b = cluster.node("b").await;
    for node in [&a, &b] {
        assert_eq!(all_ids(node, app(1)).await, ["a1", "a2"]);
    }
    a.close().await.unwrap();
    b.close().await.unwrap();
    drop((a, b));
    let refused = back().await.unwrap_err();
    assert!(
        matches!(refused, StoreError::NotWithNodes { .. }),
        "{refused}"
    );
    let a = cluster.node("a").await;
    assert_eq!(all_ids(&a, app(1)).await, ["a1", "a2"]);
}
