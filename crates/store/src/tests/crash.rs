//! Crashes: the folder is copied at random moments under load, and each copy is opened.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use rand::Rng;

use super::*;
use crate::TICKS_PER_HOUR;

const CRASHES: usize = 25;
const CLIENTS: u64 = 4;

/// Clients that append, and what they were told.
struct Load {
    store: Arc<Store>,
    stop: AtomicBool,
    next: AtomicU64,
    acknowledged: Mutex<BTreeSet<String>>,
}

impl Load {
    async fn client(self: Arc<Load>) {
        while !self.stop.load(Ordering::SeqCst) {
            let request = self.next.fetch_add(1, Ordering::SeqCst);
            let items: Vec<Item> = (0..request % 5 + 1)
                .map(|n| {
                    item(
                        format!("{request}-{n}"),
                        (request % 7) as i64 * TICKS_PER_HOUR,
                    )
                })
                .collect();
            put(&self.store, app(1), &items).await.unwrap();
            self.acknowledged
                .lock()
                .extend(items.into_iter().map(|item| item.id));
        }
    }

    async fn sealer(self: Arc<Load>) {
        while !self.stop.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(20)).await;
            self.store.seal_all().await.unwrap();
            self.store.compact().await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_survives_a_crash_exactly_once() {
    let dir = tempfile::tempdir().unwrap();
    let clock = manual_clock();
    clock.pass(Duration::from_secs(3 * 86_400));
    let config = StoreConfig {
        log_file_bytes: 64 << 10,
        clock,
        ..quiet(dir.path())
    };
    let load = Arc::new(Load {
        store: Store::open(config).await.unwrap(),
        stop: AtomicBool::new(false),
        next: AtomicU64::new(0),
        acknowledged: Mutex::default(),
    });
    let mut tasks: Vec<_> = (0..CLIENTS)
        .map(|_| tokio::spawn(load.clone().client()))
        .collect();
    tasks.push(tokio::spawn(load.clone().sealer()));
    let mut crashes = Vec::new();
    while crashes.len() < CRASHES {
        tokio::time::sleep(Duration::from_millis(rand::rng().random_range(1..30))).await;
        let acknowledged = load.acknowledged.lock().clone();
        let copy = tempfile::tempdir().unwrap();
        if freeze_copy(dir.path(), copy.path()) {
            crashes.push((acknowledged, copy));
        }
    }
    load.stop.store(true, Ordering::SeqCst);
    for task in tasks {
        task.await.unwrap();
    }
    for (crash, (acknowledged, copy)) in crashes.into_iter().enumerate() {
        let store = Store::open(quiet(copy.path()))
            .await
            .unwrap_or_else(|error| panic!("crash {crash}: {error}"));
        check(crash, &acknowledged, &ids(&store, app(1)).await);
    }
}

/// Every acknowledged item is there once, and no request is there in part.
fn check(crash: usize, acknowledged: &BTreeSet<String>, found: &[String]) {
    let mut requests: BTreeMap<u64, u64> = BTreeMap::new();
    for pair in found.windows(2) {
        assert_ne!(pair[0], pair[1], "crash {crash}: twice");
    }
    for id in found {
        let request = id.split('-').next().unwrap().parse().unwrap();
        *requests.entry(request).or_default() += 1;
    }
    for (request, count) in requests {
        assert_eq!(
            count,
            request % 5 + 1,
            "crash {crash}: request {request} in part"
        );
    }
    let found: BTreeSet<&String> = found.iter().collect();
    let lost: Vec<&String> = acknowledged
        .iter()
        .filter(|id| !found.contains(id))
        .collect();
    assert!(lost.is_empty(), "crash {crash}: lost {lost:?}");
}

/// A copy is a crash only if it shows one moment: names, sizes and the catalogue must not have changed meanwhile,
/// except for the log's last file, which only grows.
fn freeze_copy(from: &Path, to: &Path) -> bool {
    let before = fingerprint(from);
    copy_dir(from, to);
    before == fingerprint(from)
}

fn fingerprint(dir: &Path) -> BTreeMap<std::path::PathBuf, Option<(u64, SystemTime)>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else {
                let grows = path
                    .extension()
                    .is_some_and(|end| end == "wal" || end == "tmp");
                let state = entry
                    .metadata()
                    .and_then(|data| Ok((data.len(), data.modified()?)))
                    .ok();
                files.insert(path, state.filter(|_| !grows));
            }
        }
    }
    files
}
