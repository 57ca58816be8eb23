//! Live metrics: what instances of watched applications sent within the last minute, in memory.
//!
//! SDKs send a sample each second while somebody watches their application, and ask each few seconds otherwise. Samples are
//! shown and forgotten; nothing of them goes into tables.

mod sample;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use hindsight_store::{AppId, Clock};
use parking_lot::Mutex;
use tokio::sync::broadcast::{self, Receiver, Sender};
use tokio_util::sync::CancellationToken;

pub(crate) use sample::{
    Document, MAX_DOCUMENTS, MAX_FIELDS, MAX_METRICS, MAX_TEXT, Metric, Sample, Source,
};

/// How long samples are kept.
const KEPT: Duration = Duration::from_secs(60);
/// How long an application counts as watched after its last watcher has left: who reloads a page does not end the sending.
const GRACE: Duration = Duration::from_secs(20);
/// Instances of an application whose samples are kept; beyond it the one that has sent nothing for longest is forgotten.
const MAX_INSTANCES: usize = 64;
/// Bytes of the samples of an instance; beyond it its oldest samples are forgotten.
const MAX_BYTES: usize = 256 << 10;
/// Samples that wait for a watcher; one that reads too slowly misses the oldest.
const MAX_WAITING: usize = 256;

/// The live metrics of all applications.
pub(crate) struct LiveMetrics {
    clock: Arc<dyn Clock>,
    apps: Mutex<HashMap<AppId, Live>>,
    closing: CancellationToken,
}

/// The live metrics of an application.
struct Live {
    watchers: usize,
    /// When the last watcher left.
    left: Duration,
    instances: BTreeMap<Source, Kept>,
    sender: Sender<Arc<Sample>>,
}

/// The samples of an instance, oldest first, each with when it came.
#[derive(Default)]
struct Kept {
    samples: VecDeque<(Duration, Arc<Sample>)>,
    bytes: usize,
}

impl Kept {
    fn add(&mut self, sample: Arc<Sample>, now: Duration) {
        self.bytes += sample.size();
        self.samples.push_back((now, sample));
        while self.bytes > MAX_BYTES && self.samples.len() > 1 {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some((_, sample)) = self.samples.pop_front() {
            self.bytes = self.bytes.saturating_sub(sample.size());
        }
    }

    fn forget_until(&mut self, then: Duration) {
        while self.samples.front().is_some_and(|(came, _)| *came < then) {
            self.forget_oldest();
        }
    }

    fn last(&self) -> Duration {
        self.samples
            .back()
            .map_or(Duration::ZERO, |(came, _)| *came)
    }
}

impl Live {
    fn new() -> Live {
        Live {
            watchers: 0,
            left: Duration::ZERO,
            instances: BTreeMap::new(),
            sender: broadcast::channel(MAX_WAITING).0,
        }
    }

    fn is_watched(&self, now: Duration) -> bool {
        self.watchers > 0 || now < self.left.saturating_add(GRACE)
    }

    fn keep(&mut self, sample: &Arc<Sample>, now: Duration) {
        let known = self.instances.contains_key(&sample.source);
        if !known && self.instances.len() >= MAX_INSTANCES {
            let quietest = self.instances.iter().min_by_key(|(_, kept)| kept.last());
            if let Some(source) = quietest.map(|(source, _)| source.clone()) {
                self.instances.remove(&source);
            }
        }
        let kept = self.instances.entry(sample.source.clone()).or_default();
        kept.add(sample.clone(), now);
    }

    fn forget_old(&mut self, now: Duration) {
        let then = now.saturating_sub(KEPT);
        self.instances.retain(|_, kept| {
            kept.forget_until(then);
            !kept.samples.is_empty()
        });
    }
}

impl LiveMetrics {
    /// No samples, and nobody who watches.
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Arc<LiveMetrics> {
        Arc::new(LiveMetrics {
            clock,
            apps: Mutex::default(),
            closing: CancellationToken::new(),
        })
    }

    /// The applications that are watched or were watched a moment ago; all others are forgotten.
    fn with<T>(&self, work: impl FnOnce(&mut HashMap<AppId, Live>, Duration) -> T) -> T {
        let now = self.clock.elapsed();
        let mut apps = self.apps.lock();
        apps.retain(|_, live| live.is_watched(now));
        work(&mut apps, now)
    }

    /// Whether somebody watches an application: its instances then send samples.
    pub(crate) fn is_watched(&self, app: AppId) -> bool {
        self.with(|apps, _| apps.contains_key(&app))
    }

    /// Keeps samples of a watched application and shows them to its watchers; those of others are dropped.
    pub(crate) fn keep(&self, app: AppId, samples: Vec<Sample>) {
        self.with(|apps, now| {
            let Some(live) = apps.get_mut(&app) else {
                return;
            };
            for sample in samples {
                let sample = Arc::new(sample);
                live.keep(&sample, now);
                // Without a watcher at the moment nobody receives it.
                let _ = live.sender.send(sample);
            }
            live.forget_old(now);
        });
    }

    /// Watches an application until the returned value is dropped.
    pub(crate) fn watch(self: &Arc<LiveMetrics>, app: AppId) -> Watch {
        let (past, receiver) = self.with(|apps, now| {
            let live = apps.entry(app).or_insert_with(Live::new);
            live.watchers += 1;
            live.forget_old(now);
            let instances = live.instances.values();
            let mut past: Vec<_> = instances.flat_map(|kept| kept.samples.clone()).collect();
            past.sort_by_key(|(came, _)| *came);
            (past, live.sender.subscribe())
        });
        Watch {
            past: past.into_iter().map(|(_, sample)| sample).collect(),
            receiver,
            closing: self.closing.clone(),
            _watcher: Watcher {
                live: self.clone(),
                app,
            },
        }
    }

    /// Ends every watch: the server stops.
    pub(crate) fn close(&self) {
        self.closing.cancel();
    }
}

/// Counts as a watcher until it is dropped.
struct Watcher {
    live: Arc<LiveMetrics>,
    app: AppId,
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let now = self.live.clock.elapsed();
        if let Some(live) = self.live.apps.lock().get_mut(&self.app) {
            live.watchers = live.watchers.saturating_sub(1);
            live.left = now;
        }
    }
}

/// The samples of a watched application: those of the last minute, oldest first, then each as it comes.
pub(crate) struct Watch {
    past: VecDeque<Arc<Sample>>,
    receiver: Receiver<Arc<Sample>>,
    closing: CancellationToken,
    _watcher: Watcher,
}

/// What a watch shows next.
#[derive(Debug, PartialEq)]
pub(crate) enum Shown {
    /// A sample.
    Sample(Arc<Sample>),
    /// How many samples were missed, because the watcher reads too slowly.
    Missed(u64),
}

impl Watch {
    /// Waits for the next sample; `None` when the server stops. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Option<Shown> {
        if self.closing.is_cancelled() {
            return None;
        }
        if let Some(sample) = self.past.pop_front() {
            return Some(Shown::Sample(sample));
        }
        tokio::select! {
            () = self.closing.cancelled() => None,
            received = self.receiver.recv() => match received {
                Ok(sample) => Some(Shown::Sample(sample)),
                Err(broadcast::error::RecvError::Lagged(count)) => Some(Shown::Missed(count)),
                Err(broadcast::error::RecvError::Closed) => None,
            },
        }
    }
}
