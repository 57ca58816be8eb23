//! The default of `store.replicas`: a second copy of the log as long as another node can have it.

use super::cluster::{Cluster, Cut, all_ids};
use super::*;
use crate::{Forgotten, NodeId, NodeRole, Replicas, StoreError};

fn id_of(node: &Store) -> NodeId {
    node.catalogue().node().unwrap()
}

/// The node with the copy of a node's log, as the catalogue names it.
async fn holder_of(origin: &Store) -> Option<NodeId> {
    let copies = origin.catalogue().log_copies().await.unwrap();
    let copy = copies.iter().find(|copy| copy.origin == id_of(origin))?;
    copy.holder
}

/// What the background task does every second.
async fn tick(nodes: &[&Arc<Store>]) {
    for node in nodes {
        node.beat().await.unwrap();
    }
    for node in nodes {
        node.follow().await.unwrap();
        if node.has_silent_holder() {
            node.replace_holder().await.unwrap();
        }
        node.tend_copies().await.unwrap();
    }
}

/// Lets nodes count as gone, of which `condition` holds.
fn silence(cluster: &Cluster, condition: &str) {
    let statement = format!("UPDATE nodes SET heartbeat = 0 WHERE {condition}");
    cluster.server.sql("hindsight", &statement);
}

async fn forget_and_seal(lost: NodeId, holder: &Store) {
    let lost = lost.to_string();
    let forgotten = holder.catalogue().forget_node(&lost, false);
    assert_eq!(
        forgotten.await.unwrap(),
        Forgotten::Recovering(id_of(holder))
    );
    holder.follow().await.unwrap();
    holder.tend_copies().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_alone_has_no_copy_until_another_one_joins() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let a = cluster.automatic("a").await;
    put(&a, app(1), &[item("a1", 1)]).await.unwrap();
    tick(&[&a]).await;
    assert_eq!(holder_of(&a).await, None);
    let b = cluster.automatic("b").await;
    tick(&[&a, &b]).await;
    // Nothing was sent since, and the copy has what was acknowledged before.
    assert_eq!(holder_of(&a).await, Some(id_of(&b)));
    put(&a, app(1), &[item("a2", 2)]).await.unwrap();
    tick(&[&a, &b]).await;
    assert_eq!(holder_of(&b).await, None, "it has taken nothing");
    let lost = id_of(&a);
    drop(a);
    std::fs::remove_dir_all(cluster.folders.path().join("a")).unwrap();
    forget_and_seal(lost, &b).await;
    assert_eq!(all_ids(&b, app(1)).await, ["a1", "a2"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_goes_on_alone_once_the_last_holder_counts_as_gone() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (a, b) = (cluster.automatic("a").await, cluster.automatic("b").await);
    put(&a, app(1), &[item("a1", 1)]).await.unwrap();
    assert_eq!(holder_of(&a).await, Some(id_of(&b)));
    // While the holder counts as running, nothing is acknowledged without it.
    cluster.wires.cut("b", 0, Cut::Request);
    let refused = put(&a, app(1), &[item("refused", 1)]).await;
    assert!(matches!(refused, Err(StoreError::NoCopy { .. })));
    silence(&cluster, &format!("id = '{}'", id_of(&b)));
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    put(&a, app(1), &[item("a2", 2)]).await.unwrap();
    assert_eq!(holder_of(&a).await, None);
    // What the holder has of before does not count any more, although it replies again.
    cluster.wires.mend();
    b.tend_copies().await.unwrap();
    assert_eq!(all_ids(&b, app(1)).await, ["a1", "a2"]);
    tick(&[&a, &b]).await;
    assert_eq!(holder_of(&a).await, Some(id_of(&b)));
    // The new copy is not taken for one of before.
    tick(&[&b, &a]).await;
    put(&a, app(1), &[item("a3", 3)]).await.unwrap();
    let lost = id_of(&a);
    drop(a);
    forget_and_seal(lost, &b).await;
    assert_eq!(all_ids(&b, app(1)).await, ["a1", "a2", "a3"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_others_do_not_reach_needs_no_copy() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let config = cluster.config("a", NodeRole::All);
    let a = Store::open(StoreConfig {
        replicas: Replicas::Auto,
        node_client: None,
        ..config
    });
    let a = a.await.unwrap();
    a.join().await.unwrap();
    put(&a, app(1), &[item("a1", 1)]).await.unwrap();
    assert_eq!(holder_of(&a).await, None);
}
