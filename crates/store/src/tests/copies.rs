//! The second copy of a log: what was acknowledged is there once though a node and its disk are lost, and what was refused is not there twice.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::cluster::{Away, Cluster, Cut, LIFETIME, all_ids};
use super::simulation::disk::{Disk, Fault};
use super::*;
use crate::{Forgotten, NodeId, NodeRole, Replicas, StoreError};

fn id_of(node: &Store) -> NodeId {
    node.catalogue().node().unwrap()
}

/// The node with the copy of another one's log.
async fn holder_of(any: &Store, origin: NodeId) -> Option<NodeId> {
    let copies = any.catalogue().log_copies().await.unwrap();
    let copy = copies.iter().find(|copy| copy.origin == origin)?;
    copy.holder
}

async fn forget(any: &Store, node: NodeId) -> Forgotten {
    let forgotten = any.catalogue().forget_node(&node.to_string(), false).await;
    forgotten.unwrap()
}

/// The folders of copies at a node.
fn copies_at(cluster: &Cluster, name: &str) -> Vec<PathBuf> {
    let list = |dir: PathBuf| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(dir).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let origins = list(cluster.folders.path().join(name).join("copies"));
    origins.into_iter().flat_map(list).collect()
}

fn is_refused(put: crate::Result<crate::Ack>) -> bool {
    match put {
        Err(StoreError::NoCopy { .. }) => true,
        Ok(_) => false,
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_whose_disk_is_lost_loses_nothing() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (a, b) = (cluster.replicated("a").await, cluster.replicated("b").await);
    put(&a, app(1), &[item("a1", 1)]).await.unwrap();
    a.seal_all().await.unwrap();
    for id in ["a2", "a3"] {
        put(&a, app(1), &[item(id, 2)]).await.unwrap();
    }
    put(&b, app(1), &[item("b1", 3)]).await.unwrap();
    assert_eq!(holder_of(&a, id_of(&a)).await, Some(id_of(&b)));
    assert_eq!(holder_of(&a, id_of(&b)).await, Some(id_of(&a)));
    let lost = id_of(&a);
    drop(a);
    std::fs::remove_dir_all(cluster.folders.path().join("a")).unwrap();
    assert_eq!(forget(&b, lost).await, Forgotten::Recovering(id_of(&b)));
    // Queries read the copy until it is sealed.
    b.follow().await.unwrap();
    assert_eq!(all_ids(&b, app(1)).await, ["a1", "a2", "a3", "b1"]);
    b.tend_copies().await.unwrap();
    assert_eq!(all_ids(&b, app(1)).await, ["a1", "a2", "a3", "b1"]);
    assert_eq!(holder_of(&b, lost).await, None);
    b.tend_copies().await.unwrap();
    assert_eq!(copies_at(&cluster, "b"), Vec::<PathBuf>::new());
    let usage = b.catalogue().usage().await.unwrap();
    assert_eq!(usage.records().map(|record| record.items).sum::<u64>(), 3);
    // The other one has no holder any more until another node runs.
    assert!(is_refused(put(&b, app(1), &[item("b2", 4)]).await));
    assert!(is_refused(put(&b, app(1), &[item("b2", 4)]).await));
    let a = cluster.replicated("a").await;
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    put(&b, app(1), &[item("b2", 4)]).await.unwrap();
    put(&a, app(1), &[item("a4", 4)]).await.unwrap();
    for node in [&a, &b] {
        assert_eq!(
            all_ids(node, app(1)).await,
            ["a1", "a2", "a3", "a4", "b1", "b2"]
        );
    }
    assert_eq!(b.health().reason, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_node_takes_the_place_of_a_holder_that_does_not_reply() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let a = cluster.replicated("a").await;
    let (b, c) = (cluster.replicated("b").await, cluster.replicated("c").await);
    put(&a, app(1), &[item("a1", 1)]).await.unwrap();
    let mut expected = vec!["a1".to_owned()];
    for (number, cut) in [Cut::Request, Cut::Reply, Cut::Request]
        .into_iter()
        .enumerate()
    {
        let holder = holder_of(&a, id_of(&a)).await.unwrap();
        let name = if holder == id_of(&b) { "b" } else { "c" };
        cluster.wires.cut(name, 0, cut);
        let id = format!("more-{number}");
        put(&a, app(1), &[item(&id, 1)]).await.unwrap();
        expected.push(id);
        cluster.wires.mend();
        assert_ne!(holder_of(&a, id_of(&a)).await.unwrap(), holder);
    }
    expected.sort();
    // Earlier copies are removed. What the last one has is sealed in its time, and its files go.
    let copies = || [copies_at(&cluster, "b"), copies_at(&cluster, "c")].concat();
    assert!(copies().len() > 1);
    for node in [&b, &c] {
        node.tend_copies().await.unwrap();
    }
    assert_eq!(copies().len(), 1);
    let (lost, rest) = (id_of(&a), [b, c]);
    drop(a);
    std::fs::remove_dir_all(cluster.folders.path().join("a")).unwrap();
    assert!(matches!(
        forget(&rest[0], lost).await,
        Forgotten::Recovering(_)
    ));
    for node in &rest {
        node.tend_copies().await.unwrap();
    }
    for node in &rest {
        node.follow().await.unwrap();
        assert_eq!(all_ids(node, app(1)).await, expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_refused_does_not_come_back() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (a, b) = (cluster.replicated("a").await, cluster.replicated("b").await);
    put(&a, app(1), &[item("a1", 1)]).await.unwrap();
    // The copy has it, and no reply comes.
    cluster.wires.cut("b", 0, Cut::Reply);
    assert!(is_refused(put(&a, app(1), &[item("x", 1)]).await));
    assert_eq!(all_ids(&b, app(1)).await, ["a1"]);
    cluster.wires.mend();
    put(&b, app(1), &[item("x", 1)]).await.unwrap();
    let (lost, folder) = (id_of(&a), cluster.folders.path().join("a"));
    drop(a);
    let saved = cluster.folders.path().join("saved");
    copy_dir(&folder, &saved);
    forget(&b, lost).await;
    b.tend_copies().await.unwrap();
    assert_eq!(all_ids(&b, app(1)).await, ["a1", "x"]);
    // The node returns with its log, which has what is in segments already.
    let a = cluster.replicated("a").await;
    assert_eq!(id_of(&a), lost);
    b.follow().await.unwrap();
    put(&a, app(1), &[item("a2", 1)]).await.unwrap();
    for node in [&a, &b] {
        assert_eq!(all_ids(node, app(1)).await, ["a1", "a2", "x"]);
    }
    a.seal_all().await.unwrap();
    drop(a);
    let a = cluster.replicated("a").await;
    for node in [&a, &b] {
        assert_eq!(all_ids(node, app(1)).await, ["a1", "a2", "x"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_returns_before_its_copy_is_sealed_goes_on() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (a, b) = (cluster.replicated("a").await, cluster.replicated("b").await);
    put(&a, app(1), &[item("a1", 1)]).await.unwrap();
    let lost = id_of(&a);
    drop(a);
    forget(&b, lost).await;
    let a = cluster.replicated("a").await;
    b.follow().await.unwrap();
    b.tend_copies().await.unwrap();
    assert_eq!(b.catalogue().segments().await.unwrap(), []);
    assert_eq!(all_ids(&b, app(1)).await, ["a1"]);
    put(&a, app(1), &[item("a2", 1)]).await.unwrap();
    b.tend_copies().await.unwrap();
    assert_eq!(copies_at(&cluster, "b").len(), 1);
    assert_eq!(all_ids(&b, app(1)).await, ["a1", "a2"]);
    // A node that ends has sealed all, and its copy goes. One that makes none gives the last one up.
    a.close().await.unwrap();
    drop(a);
    b.tend_copies().await.unwrap();
    assert_eq!(copies_at(&cluster, "b"), Vec::<PathBuf>::new());
    let a = cluster.node("a").await;
    assert_eq!(holder_of(&b, lost).await, None);
    put(&a, app(1), &[item("a3", 1)]).await.unwrap();
    drop(a);
    assert_eq!(forget(&b, lost).await, Forgotten::Done);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_node_that_is_forgotten_acknowledges_nothing_any_more() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (a, b) = (cluster.replicated("a").await, cluster.replicated("b").await);
    put(&a, app(1), &[item("a1", 1)]).await.unwrap();
    // It still reaches the holder until that one seals the copy, so this is acknowledged and kept.
    forget(&b, id_of(&a)).await;
    put(&a, app(1), &[item("a2", 1)]).await.unwrap();
    b.tend_copies().await.unwrap();
    assert_eq!(all_ids(&b, app(1)).await, ["a1", "a2"]);
    assert!(is_refused(put(&a, app(1), &[item("a3", 1)]).await));
    // Its rows are in segments: it would show them twice.
    let refused = a.follow().await.unwrap_err();
    assert!(refused.to_string().contains("was forgotten"), "{refused}");
    let refused = a.seal_all().await.unwrap_err();
    assert!(refused.to_string().contains("taken over"), "{refused}");
    assert!(a.follow().await.is_err());
    drop(a);
    let a = cluster.replicated("a").await;
    put(&a, app(1), &[item("a3", 1)]).await.unwrap();
    b.follow().await.unwrap();
    for node in [&a, &b] {
        assert_eq!(all_ids(node, app(1)).await, ["a1", "a2", "a3"]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_that_is_gone_or_damaged_is_not_taken_for_an_empty_one() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (a, b) = (cluster.replicated("a").await, cluster.replicated("b").await);
    for id in ["a1", "a2"] {
        put(&a, app(1), &[item(id, 1)]).await.unwrap();
    }
    let lost = id_of(&a);
    drop(a);
    let folder = copies_at(&cluster, "b").pop().unwrap();
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap();
    let file = file.unwrap().path();
    let bytes = std::fs::read(&file).unwrap();
    forget(&b, lost).await;
    let mut damaged = bytes.clone();
    damaged[40] ^= 1;
    std::fs::write(&file, &damaged).unwrap();
    let refused = b.tend_copies().await.unwrap_err();
    assert!(matches!(refused, StoreError::Damaged { .. }), "{refused}");
    std::fs::remove_file(&file).unwrap();
    let refused = b.tend_copies().await.unwrap_err();
    assert!(matches!(refused, StoreError::Missing { .. }), "{refused}");
    assert!(b.snapshot_of_all(LIFETIME).await.is_err());
    std::fs::write(&file, &bytes).unwrap();
    b.tend_copies().await.unwrap();
    assert_eq!(all_ids(&b, app(1)).await, ["a1", "a2"]);
    // An operator may give a copy up.
    let c = cluster.replicated("c").await;
    put(&c, app(1), &[item("c1", 1)]).await.unwrap();
    let lost = id_of(&c);
    drop(c);
    let given_up = b.catalogue().forget_node(&lost.to_string(), true).await;
    assert_eq!(given_up.unwrap(), Forgotten::Done);
    b.follow().await.unwrap();
    b.tend_copies().await.unwrap();
    assert_eq!(all_ids(&b, app(1)).await, ["a1", "a2"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_fails_at_either_end_keeps_the_promise() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let world = World::new(&cluster, 3, Replicas::One);
    let (a, b) = (world.open("a").await, world.open("b").await);
    put(&a, app(1), &[item("a1", 1)]).await.unwrap();
    // The holder cannot write: the request is refused, and nothing of it is left.
    world.disk("b").fill();
    assert!(is_refused(put(&a, app(1), &[item("x", 1)]).await));
    world.disk("b").heal();
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    put(&a, app(1), &[item("a2", 1)]).await.unwrap();
    // The origin cannot: the holder has what was refused, and the catalogue knows.
    world.disk("a").fill();
    put(&a, app(1), &[item("y", 1)]).await.unwrap_err();
    world.disk("a").stop();
    let lost = id_of(&a);
    drop(a);
    put(&b, app(1), &[item("y", 1)]).await.unwrap_err();
    forget(&b, lost).await;
    b.tend_copies().await.unwrap();
    assert_eq!(all_ids(&b, app(1)).await, ["a1", "a2"]);
}

/// Nodes over simulated disks.
struct World<'a> {
    cluster: &'a Cluster,
    disks: Vec<Disk>,
    replicas: Replicas,
}

const NAMES: [&str; 3] = ["a", "b", "c"];

impl World<'_> {
    fn new(cluster: &Cluster, seed: u64, replicas: Replicas) -> World<'_> {
        let disk = |(name, seed)| Disk::new(&cluster.folders.path().join(name), seed);
        World {
            cluster,
            disks: NAMES.into_iter().zip(seed..).map(disk).collect(),
            replicas,
        }
    }

    fn disk(&self, name: &str) -> &Disk {
        let index = NAMES.iter().position(|known| *known == name);
        &self.disks[index.unwrap()]
    }

    async fn open(&self, name: &str) -> Arc<Store> {
        let config = StoreConfig {
            replicas: self.replicas,
            vfs: Arc::new(self.disk(name).clone()),
            log_file_bytes: 4 << 10,
            compaction_fan_in: 4,
            ..self.cluster.config(name, NodeRole::All)
        };
        self.cluster.open(config).await
    }
}

/// Sends one item until a node takes it.
async fn send(nodes: &[Arc<Store>], first: usize, id: &str) -> bool {
    for index in first..first + nodes.len() {
        let node = &nodes[index % nodes.len()];
        // A node refuses at once for a second after it has found no holder.
        for _ in 0..2 {
            match put(node, app(1), &[item(id, 1)]).await {
                Ok(_) => return true,
                Err(
                    StoreError::NoCopy { .. } | StoreError::ReadOnly { .. } | StoreError::Io { .. },
                ) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
    false
}

async fn compare(nodes: &[Arc<Store>], acknowledged: &BTreeSet<String>, about: &str) {
    for node in nodes {
        node.follow().await.unwrap();
    }
    for node in nodes {
        check(all_ids(node, app(1)).await, acknowledged, about);
    }
}

/// Compares what queries see while nodes are dead or do not reply. Returns how many have read copies. A query may fail: a copy may be lost with
/// its holder.
async fn compare_readable(
    nodes: &[Arc<Store>],
    acknowledged: &BTreeSet<String>,
    about: &str,
) -> usize {
    let mut copies = 0;
    for node in nodes {
        match node.snapshot_of_all(LIFETIME).await {
            Ok(snapshot) => {
                check(ids_of(frame(&snapshot, app(1))).await, acknowledged, about);
                copies += usize::from(!node.nodes.away.lock().is_empty());
            }
            Err(StoreError::Node { .. }) => {}
            Err(error) => panic!("{about}: {error}"),
        }
    }
    copies
}

fn check(found: Vec<String>, acknowledged: &BTreeSet<String>, about: &str) {
    let mut once = found.clone();
    once.dedup();
    assert_eq!(found, once, "{about}: items are doubled");
    let found: BTreeSet<String> = found.into_iter().collect();
    let lost: Vec<&String> = acknowledged.difference(&found).collect();
    assert!(lost.is_empty(), "{about}: {lost:?} are lost");
    let more: Vec<&String> = found.difference(acknowledged).collect();
    assert!(more.is_empty(), "{about}: {more:?} were refused");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_failures_lose_and_double_nothing() {
    random_failures(Replicas::One, 11).await;
}

/// Two nodes run at any time, so there is a copy as if it were required.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_failures_lose_and_double_nothing_by_default() {
    random_failures(Replicas::Auto, 12).await;
}

async fn random_failures(replicas: Replicas, seed: u64) {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let mut random = StdRng::seed_from_u64(seed);
    let mut world = World::new(&cluster, seed, replicas);
    let mut nodes = Vec::new();
    for name in NAMES {
        nodes.push(world.open(name).await);
    }
    let mut acknowledged = BTreeSet::new();
    let (mut losses, mut copies) = (0, 0);
    let steps = if proving() { 2000 } else { 250 };
    for step in 0..steps {
        let about = format!("seed {seed}, step {step}");
        let index = random.random_range(0..nodes.len());
        let other = (index + random.random_range(1..nodes.len())) % nodes.len();
        match random.random_range(0..100) {
            0..45 => {
                let id = format!("{step:05}");
                if send(&nodes, index, &id).await {
                    acknowledged.insert(id);
                }
            }
            45..55 => nodes[index].seal_all().await.unwrap(),
            55..60 => {
                let cut = [Cut::Request, Cut::Reply][random.random_range(0..2)];
                cluster
                    .wires
                    .cut(NAMES[index], random.random_range(0..3), cut);
            }
            60..65 => {
                cluster.wires.mend();
                if random.random_bool(0.5) {
                    nodes[index].look_for_away().await;
                }
            }
            65..68 => cluster.wires.part(NAMES[index], Away::Refuses),
            68..72 => {
                // One call of a disk fails, within a request or in its copy.
                world.disks[index].fail_after(random.random_range(0..6), Fault::Error);
                let id = format!("{step:05}");
                let sender = [index, other][random.random_range(0..2)];
                if send(&nodes, sender, &id).await {
                    acknowledged.insert(id);
                }
                world.disks[index].heal();
                for node in &nodes {
                    node.maintain_log().await.unwrap();
                }
            }
            72..80 => nodes[index].tend_copies().await.unwrap(),
            80..86 => {
                // The process is killed, or its machine loses power. It may have been given up before it returns.
                let lost = id_of(&nodes[index]);
                drop(nodes.remove(index));
                world.disks[index].stop();
                copies += compare_readable(&nodes, &acknowledged, &about).await;
                if random.random_bool(0.5) {
                    forget(&nodes[0], lost).await;
                    if random.random_bool(0.5) {
                        for node in &nodes {
                            node.tend_copies().await.unwrap();
                        }
                    }
                }
                world.disks[index].start(random.random_bool(0.5));
                nodes.insert(index, world.open(NAMES[index]).await);
            }
            86..92 => {
                // The disk is lost.
                let lost = id_of(&nodes[index]);
                drop(nodes.remove(index));
                world.disks[index].stop();
                copies += compare_readable(&nodes, &acknowledged, &about).await;
                let folder = cluster.folders.path().join(NAMES[index]);
                world.disks[index] = Disk::new(&folder, seed + step);
                forget(&nodes[0], lost).await;
                for node in &nodes {
                    node.tend_copies().await.unwrap();
                }
                nodes.insert(index, world.open(NAMES[index]).await);
                losses += 1;
                // Copies that the lost disk had are made again with the next request.
                cluster.wires.mend();
                tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
                for (number, node) in nodes.iter().enumerate() {
                    let id = format!("{step:05}-{number}");
                    put(node, app(1), &[item(&id, 1)]).await.unwrap();
                    acknowledged.insert(id);
                }
            }
            _ => copies += compare_readable(&nodes, &acknowledged, &about).await,
        }
        // A node counts as gone fifteen seconds after its last report.
        if step % 10 == 0 {
            for node in &nodes {
                node.beat().await.unwrap();
            }
        }
    }
    cluster.wires.mend();
    compare(&nodes, &acknowledged, "at the end").await;
    assert!(losses > 3 && copies > 20 && acknowledged.len() > steps as usize / 4);
}
