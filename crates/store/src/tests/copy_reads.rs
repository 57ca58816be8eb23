//! Queries read the copy of a log while its node does not reply: they see all that was acknowledged, once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::cluster::{Away, Cluster, Cut, LIFETIME, all_ids};
use super::*;
use crate::{NodeRole, StoreError};

/// The nodes that have, or may have, the copy of the first one's log.
async fn three(cluster: &Cluster) -> [Arc<Store>; 3] {
    [
        cluster.replicated("a").await,
        cluster.replicated("b").await,
        cluster.replicated("c").await,
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_reads_the_copy_of_a_node_that_is_dead() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let [a, b, c] = three(&cluster).await;
    put(&a, app(1), &[item("a1", 1)]).await.unwrap();
    a.seal_all().await.unwrap();
    for id in ["a2", "a3"] {
        put(&a, app(1), &[item(id, 2)]).await.unwrap();
    }
    put(&b, app(1), &[item("b1", 3)]).await.unwrap();
    drop(a);
    // One of them has the copy, and the other one reads it there.
    for node in [&b, &c] {
        assert_eq!(all_ids(node, app(1)).await, ["a1", "a2", "a3", "b1"]);
        assert_eq!(all_ids(node, app(2)).await, Vec::<String>::new());
    }
    assert!(b.copy_bytes() + c.copy_bytes() > 0);
    let a = cluster.replicated("a").await;
    put(&a, app(1), &[item("a4", 4)]).await.unwrap();
    for node in [&b, &c] {
        assert_eq!(all_ids(node, app(1)).await, ["a1", "a2", "a3", "a4", "b1"]);
    }
    // The node replies, and no copy is needed any more.
    for node in [&b, &c] {
        node.look_for_away().await;
        cluster.clock.pass(Duration::from_secs(11));
        node.follow().await.unwrap();
        node.release_copies();
        assert_eq!(node.copy_bytes(), 0);
        assert_eq!(all_ids(node, app(1)).await, ["a1", "a2", "a3", "a4", "b1"]);
    }
    assert_eq!(b.copy_bytes() + c.copy_bytes(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_queries_do_not_reach_may_go_on() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let [a, b, c] = three(&cluster).await;
    put(&a, app(1), &[item("a1", 1)]).await.unwrap();
    cluster.wires.part("a", Away::Hangs);
    let began = Instant::now();
    assert_eq!(all_ids(&b, app(1)).await, ["a1"]);
    assert!(began.elapsed() < Duration::from_secs(8));
    // The node counts as away now.
    let began = Instant::now();
    put(&a, app(1), &[item("a2", 1)]).await.unwrap();
    assert_eq!(all_ids(&b, app(1)).await, ["a1", "a2"]);
    a.seal_all().await.unwrap();
    assert_eq!(all_ids(&b, app(1)).await, ["a1", "a2"]);
    put(&a, app(1), &[item("a3", 1)]).await.unwrap();
    assert_eq!(all_ids(&b, app(1)).await, ["a1", "a2", "a3"]);
    assert!(began.elapsed() < Duration::from_secs(2));
    // A snapshot stays as it is, whatever becomes of the copy.
    let before = b.snapshot_of_all(LIFETIME).await.unwrap();
    a.seal_all().await.unwrap();
    for node in [&b, &c] {
        node.tend_copies().await.unwrap();
        node.follow().await.unwrap();
        node.release_copies();
    }
    put(&a, app(1), &[item("a4", 1)]).await.unwrap();
    assert_eq!(ids_of(frame(&before, app(1))).await, ["a1", "a2", "a3"]);
    cluster.wires.mend();
    b.look_for_away().await;
    for node in [&a, &b, &c] {
        assert_eq!(all_ids(node, app(1)).await, ["a1", "a2", "a3", "a4"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_that_does_not_fit_into_memory_is_refused() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let a = cluster.replicated("a").await;
    let b = StoreConfig {
        replicas: crate::Replicas::One,
        hot_limit_bytes: 64 << 10,
        ..cluster.config("b", NodeRole::All)
    };
    let b = cluster.open(b).await;
    for number in 0..200 {
        put(&a, app(1), &[item(format!("{number:03}"), 1)])
            .await
            .unwrap();
    }
    cluster.wires.part("a", Away::Refuses);
    let refused = b.snapshot_of_all(LIFETIME).await.unwrap_err();
    assert!(refused.to_string().contains("`store.memory`"), "{refused}");
    assert!(refused.to_string().contains("65536"), "{refused}");
    assert_eq!(b.copy_bytes(), 0);
    // Once the rows are in segments the copy has less.
    a.seal_all().await.unwrap();
    put(&a, app(1), &[item("200", 1)]).await.unwrap();
    assert_eq!(all_ids(&b, app(1)).await.len(), 201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_node_takes_the_place_of_a_holder_that_does_not_report() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let nodes = three(&cluster).await;
    let a = &nodes[0];
    put(a, app(1), &[item("a1", 1)]).await.unwrap();
    for node in &nodes {
        node.follow().await.unwrap();
        assert!(!node.has_silent_holder());
    }
    let copy = (*a.nodes.own_copy.lock()).unwrap();
    let id_of = |node: &Store| node.catalogue().node().unwrap();
    let [_, b, c] = &nodes;
    let (lost, other) = if copy.holder == id_of(b) {
        (b, c)
    } else {
        (c, b)
    };
    let silence = format!(
        "UPDATE nodes SET heartbeat = 0 WHERE id = '{}'",
        copy.holder
    );
    cluster.server.sql("hindsight", &silence);
    a.follow().await.unwrap();
    assert!(a.has_silent_holder());
    a.replace_holder().await.unwrap();
    assert!(!a.has_silent_holder());
    let now = (*a.nodes.own_copy.lock()).unwrap();
    assert_eq!(now.holder, id_of(other));
    assert!(now.generation > copy.generation);
    // Nothing was sent since, and the copy has what the lost one had.
    lost.tend_copies().await.unwrap();
    cluster.wires.part("a", Away::Refuses);
    assert_eq!(all_ids(other, app(1)).await, ["a1"]);
    // No other node is left, so the last holder stays, though it does not report.
    cluster
        .server
        .sql("hindsight", "UPDATE nodes SET heartbeat = 0");
    a.follow().await.unwrap();
    assert!(!a.has_silent_holder());
    put(a, app(1), &[item("a2", 1)]).await.unwrap();
    assert_eq!(all_ids(other, app(1)).await, ["a1", "a2"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn queries_beside_writers_miss_and_double_nothing() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let seed = 5;
    let nodes = three(&cluster).await;
    let acknowledged: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let stop = Arc::new(AtomicBool::new(false));
    let names = ["a", "b", "c"];
    let writers = (0..2).map(|index| {
        let (node, acknowledged) = (nodes[index].clone(), Arc::clone(&acknowledged));
        let stop = stop.clone();
        tokio::spawn(async move {
            let mut random = StdRng::seed_from_u64(seed + index as u64);
            for number in 0_u32.. {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                let id = format!("{index}-{number:06}");
                if put(&node, app(1), &[item(&id, 1)]).await.is_ok() {
                    acknowledged.lock().insert(id);
                }
                if random.random_range(0..40) == 0 {
                    node.seal_all().await.unwrap();
                }
                if random.random_range(0..20) == 0 {
                    node.tend_copies().await.unwrap();
                }
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let mut random = StdRng::seed_from_u64(seed);
    let (mut answers, mut copies, rounds) = (0, 0, if proving() { 3000 } else { 300 });
    // How many queries meet a node that is away depends on the scheduling of the tasks, too.
    let enough = |answers: usize, copies: usize| answers > rounds / 2 && copies > rounds / 10;
    for round in 0..10 * rounds {
        if round >= rounds && enough(answers, copies) {
            break;
        }
        match random.random_range(0..20) {
            0..4 => cluster
                .wires
                .part(names[random.random_range(0..2)], Away::Refuses),
            4..7 => {
                let cut = [Cut::Request, Cut::Reply][random.random_range(0..2)];
                cluster.wires.cut(names[random.random_range(0..3)], 0, cut);
            }
            7..10 => cluster.wires.mend(),
            10..12 => nodes[2].look_for_away().await,
            12 => nodes[2].release_copies(),
            13 => nodes[2].tend_copies().await.unwrap(),
            _ => {}
        }
        if round % 50 == 0 {
            for node in &nodes {
                node.beat().await.unwrap();
            }
        }
        let before: BTreeSet<String> = acknowledged.lock().clone();
        let away = nodes[2].nodes.away.lock().len();
        let snapshot = match nodes[2].snapshot_of_all(LIFETIME).await {
            Ok(snapshot) => snapshot,
            Err(StoreError::Node { .. }) => continue,
            Err(error) => panic!("round {round}: {error}"),
        };
        answers += 1;
        copies += usize::from(away > 0);
        let found = ids_of(frame(&snapshot, app(1))).await;
        let mut once = found.clone();
        once.dedup();
        assert_eq!(found, once, "round {round}: items are doubled");
        let found: BTreeSet<String> = found.into_iter().collect();
        let lost: Vec<&String> = before.difference(&found).collect();
        assert!(lost.is_empty(), "round {round}: {lost:?} are missing");
    }
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    assert!(
        enough(answers, copies),
        "{answers} answers, {copies} with copies"
    );
}
