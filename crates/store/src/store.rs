//! The store: opens a data folder, takes appends, hands out snapshots, seals.

use std::sync::Arc;
use std::time::Duration;

use arrow::record_batch::RecordBatch;
use datafusion::catalog::TableProvider;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::app_id::AppId;
use crate::batch::{Origin, normalise};
use crate::blocking::{blocking, uncancelled};
use crate::catalogue::{Catalogue, SegmentRecord};
use crate::columns::{ColumnCache, SelectionCache};
use crate::config::StoreConfig;
use crate::copies::origin;
use crate::error::{Result, StoreError};
use crate::folder::Folder;
use crate::health::{Health, HealthCell};
use crate::in_flight::{InFlight, Reserved};
use crate::log::{self, LogSettings, LogWriter};
use crate::node_state::NodeState;
use crate::object_recovery::ObjectsPlace;
use crate::objects::{ObjectFigures, Orphans, SegmentObjects};
use crate::promote::PromotionRule;
use crate::quarantine::Quarantine;
use crate::recovery;
use crate::retention::large::LargeExpiry;
use crate::schema::Table;
use crate::seal;
use crate::segment::{
    DamagedSegments, FilterBlocks, FooterCache, Segment, SegmentAccess, SegmentSettings,
};
use crate::segment_change::SegmentChange;
use crate::snapshot::{OtherRows, Snapshot};
use crate::stats::Stats;
use crate::store_id::StoreId;
use crate::trusted_time::{ClockTrust, Observation, TrustedTime};
use crate::usage::Usage;
use crate::view::{View, ViewCell, ViewSink};

/// The share of the footer cache for blocks of filters: one eighth.
const FILTER_SHARE: usize = 8;
/// The share of the column cache for remembered selections: one eighth.
const SELECTION_SHARE: usize = 8;

/// Bytes from which on a request is encoded on a thread for blocking work.
const ENCODED_ASIDE: usize = 256 << 10;

/// How much of the memtable's memory one application may hold, as a multiple of what is free.
const MEMORY_FACTOR: usize = 3;

/// What one request stores: all of it or nothing.
#[derive(Debug, Clone)]
pub struct AppendRequest {
    /// The application that the items belong to.
    pub app: AppId,
    /// The items. Columns may be missing or in any order; types must be the table's. String and binary view arrays
    /// should not share large buffers with other batches, because the log writes buffers whole.
    pub batches: Vec<(Table, RecordBatch)>,
}

/// The store's promise: the request is on disk, and every later snapshot holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ack {
    /// The request's place in the log; it grows with every request. 0 if the request held no rows.
    pub sequence: u64,
}

/// Durable telemetry in one data folder. See the crate's documentation.
#[derive(Debug)]
pub struct Store {
    pub(crate) config: StoreConfig,
    pub(crate) catalogue: Catalogue,
    pub(crate) view: Arc<ViewCell>,
    health: Arc<HealthCell>,
    in_flight: InFlight,
    pub(crate) access: Arc<SegmentAccess>,
    pub(crate) segment_settings: SegmentSettings,
    quarantine: Quarantine,
    /// One merge at a time: from the choice of its segments to its commit. It is taken before `changing`.
    pub(crate) merging: tokio::sync::Mutex<()>,
    /// One seal, expiry, or choice or commit of a merge at a time.
    pub(crate) changing: tokio::sync::Mutex<()>,
    /// A change of the list of segments is committed and made visible under this lock, or the list is read of the catalogue.
    pub(crate) commits: tokio::sync::Mutex<()>,
    pub(crate) nodes: NodeState,
    /// One append of [`Store::append_unique`] at a time.
    pub(crate) appending_unique: tokio::sync::Mutex<()>,
    pub(crate) wake: Arc<Notify>,
    /// When the oldest row in memory arrived, by the clock's `elapsed`.
    pub(crate) oldest: Mutex<Option<Duration>>,
    pub(crate) large_expiry: LargeExpiry,
    /// The objects that no catalogue lists.
    pub(crate) orphans: Arc<Orphans>,
    /// A change of segments whose commit failed and of which it is not known whether it was committed.
    pub(crate) in_doubt: Mutex<Option<SegmentChange>>,
    trusted_time: TrustedTime,
    pub(crate) background: Mutex<Vec<JoinHandle<()>>>,
    /// Before `folder`: the writer's thread must have ended when the lock is released.
    log: Mutex<Option<Arc<LogWriter>>>,
    folder: Mutex<Option<Folder>>,
}

impl Store {
    /// Opens a data folder as [`Store::open`] does, without the background tasks.
    pub(crate) async fn open_without_tasks(config: StoreConfig) -> Result<Arc<Store>> {
        let (root, create) = (config.data_dir.clone(), config.create);
        let vfs = config.vfs.clone();
        let kind = config.catalogue.kind();
        let folder = blocking(move || Folder::take(vfs, &root, create, kind)).await?;
        config.check_node()?;
        let (node, shared) = (&config.node, config.is_shared());
        let now = config.clock.now_ticks();
        let owned = config.catalogue.own(&folder, node, shared, now);
        let (catalogue, id) = owned.await?;
        let store = Store::recover(config, folder, catalogue, id).await?;
        if !store.is_shared() || store.config.is_alone() {
            store.join().await?;
        }
        Ok(store)
    }

    /// Reads back what is in a folder and goes on with its log.
    pub(crate) async fn recover(
        config: StoreConfig,
        folder: Folder,
        catalogue: Catalogue,
        id: StoreId,
    ) -> Result<Arc<Store>> {
        let view = Arc::new(ViewCell::default());
        let objects = ObjectsPlace {
            config: config.objects.clone(),
            clock: config.clock.clone(),
        };
        let recovered = recovery::recover(&folder, &catalogue, id, &view, objects).await?;
        let health = Arc::new(HealthCell::default());
        let settings = LogSettings {
            dir: folder.log_dir(),
            vfs: config.vfs.clone(),
            delay: config.commit_delay,
            commit_bytes: config.commit_bytes,
            file_bytes: config.log_file_bytes,
        };
        let (writer_health, sink) = (health.clone(), ViewSink(view.clone()));
        let replica = origin::replica(&config, &catalogue);
        let log = blocking(move || {
            LogWriter::start(settings, recovered.log_end, writer_health, sink, replica)
        })
        .await?;
        let mark = catalogue.time_mark_or(config.clock.now_ticks()).await?;
        let trusted_time = TrustedTime::new(mark, config.clock.elapsed(), config.max_clock_jump);
        let clock = &config.clock;
        let seen = trusted_time.observe(clock.now_ticks(), clock.elapsed());
        if !seen.trust.is_trusted() {
            tracing::warn!(
                trust = ?seen.trust,
                "the clock is suspect: nothing expires until it is confirmed ('hindsight retention confirm')"
            );
        }
        let filter_bytes = config.footer_cache_bytes / FILTER_SHARE;
        let selection_bytes = config.column_cache_bytes / SELECTION_SHARE;
        let oldest = (view.sizes().bytes > 0).then(|| config.clock.elapsed());
        let is_shared = config.is_shared();
        Ok(Arc::new(Store {
            segment_settings: segment_settings(&config, &folder, id, recovered.objects),
            quarantine: recovered.quarantine,
            access: Arc::new(SegmentAccess {
                footers: FooterCache::new(config.footer_cache_bytes - filter_bytes),
                filter_blocks: FilterBlocks::new(filter_bytes),
                columns: ColumnCache::new(config.column_cache_bytes - selection_bytes),
                selections: SelectionCache::new(selection_bytes),
                damaged: DamagedSegments::new(recovered.damage),
                text_index: config.text_index,
                value_index: config.value_index,
            }),
            trusted_time,
            config,
            catalogue,
            view,
            health,
            in_flight: InFlight::default(),
            merging: tokio::sync::Mutex::default(),
            changing: tokio::sync::Mutex::default(),
            commits: tokio::sync::Mutex::default(),
            nodes: NodeState::new(!is_shared),
            appending_unique: tokio::sync::Mutex::default(),
            wake: Arc::default(),
            oldest: Mutex::new(oldest),
            large_expiry: LargeExpiry::default(),
            orphans: Arc::default(),
            in_doubt: Mutex::default(),
            background: Mutex::default(),
            log: Mutex::new(Some(Arc::new(log))),
            folder: Mutex::new(Some(folder)),
        }))
    }

    /// Stores a request. Returns when it is on disk (synced) and visible to the next snapshot.
    ///
    /// # Errors
    /// [`StoreError::BadBatch`] for columns that do not fit; [`StoreError::Overloaded`] when memory is full;
    /// [`StoreError::ReadOnly`] after a failed sync, until [`Store::maintain_log`] succeeds; [`StoreError::Io`] when the disk is full. In
    /// both cases nothing was stored, as far as the disk lets itself be written.
    pub async fn append(&self, request: AppendRequest) -> Result<Ack> {
        if let Some(error) = self.health.read_only() {
            return Err(error);
        }
        self.check_joined()?;
        let origin = Origin::Request {
            received: self.config.clock.now_ticks(),
        };
        let mut batches = Vec::with_capacity(request.batches.len());
        for (table, batch) in request
            .batches
            .iter()
            .filter(|(_, batch)| batch.num_rows() > 0)
        {
            batches.push((*table, normalise(*table, batch, origin)?));
        }
        if batches.is_empty() {
            return Ok(Ack { sequence: 0 });
        }
        let _reserved = self.reserve_memory(request.app, &batches)?;
        let (batches, payload) = encode(request.app, batches).await?;
        let writer = self.log_writer()?;
        let sequence = writer.append(request.app, batches, payload).await?;
        self.note_arrival();
        Ok(Ack { sequence })
    }

    /// Reserves the memory of a request until its rows are in the memtable, and refuses an application that has no room there. It may hold
    /// three times what is free: three quarters if it is alone, less the more others hold (dynamic thresholds, as switches share
    /// their buffers). The request that reaches that is stored whole, so a large one may take what is left for others.
    fn reserve_memory(&self, app: AppId, batches: &[(Table, RecordBatch)]) -> Result<Reserved<'_>> {
        let limit = self.hot_room();
        // The memtable is looked at after the requests, which release their memory when their rows are there: none is missed.
        let has_room = |all: usize, own: usize| {
            let bytes = self.view.sizes().bytes + all;
            let free = limit.saturating_sub(bytes);
            let most = free.saturating_mul(MEMORY_FACTOR);
            bytes < most || (free > 0 && self.view.bytes_of(app) + own < most)
        };
        let needed = batches
            .iter()
            .map(|(_, batch)| batch.get_array_memory_size())
            .sum();
        let reserved = self.in_flight.reserve(app, needed, has_room);
        reserved.ok_or_else(|| {
            self.wake.notify_one();
            StoreError::Overloaded {
                bytes: self.view.sizes().bytes,
                limit,
            }
        })
    }

    /// Makes durable by which the log tells damage from a torn end, and tries to write the log again after it could not be
    /// written. The background task does this every second.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`] while the log cannot be written.
    pub async fn maintain_log(&self) -> Result<()> {
        let writer = self.log_writer()?;
        writer.maintain().await.map(|_| ())
    }

    /// The writer of the log, until the store is closed.
    pub(crate) fn log_writer(&self) -> Result<Arc<LogWriter>> {
        self.log.lock().clone().ok_or(StoreError::Closed)
    }

    fn note_arrival(&self) {
        self.oldest
            .lock()
            .get_or_insert_with(|| self.config.clock.elapsed());
        let sizes = self.view.sizes();
        if sizes.open_bytes >= self.seal_bytes() || sizes.open_rows >= self.config.seal_rows {
            self.wake.notify_one();
        }
    }

    /// Everything that is stored now, unchanged for as long as the snapshot lives.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot_over(self.view.get(), OtherRows::default())
    }

    /// A view with the rows of other nodes.
    pub(crate) fn snapshot_over(&self, view: Arc<View>, others: OtherRows) -> Snapshot {
        Snapshot::new(view, self.access.clone(), others)
    }

    /// A table of these applications over a snapshot of now. A query over several tables should take one
    /// [`Store::snapshot`] for all.
    pub fn table(&self, apps: &[AppId], table: Table) -> Arc<dyn TableProvider> {
        Arc::new(self.snapshot().table(apps, table))
    }

    /// The catalogue of applications and keys.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Whether the store takes writes, and what is wrong if something is.
    pub fn health(&self) -> Health {
        let mut health = self.health.get();
        if health.reason.is_none() {
            health.reason = match self.damaged_segments() {
                0 => None,
                count => Some(format!("{count} segments are damaged")),
            };
        }
        if health.reason.is_none() && !self.clock_trust().is_trusted() {
            health.reason = Some("the clock is suspect".to_owned());
        }
        if health.reason.is_none()
            && let Some(objects) = &self.segment_settings.objects
        {
            health.reason = objects.trouble();
        }
        health
    }

    /// Figures of the object store that segments are in; `None` if they are in the data folder.
    pub fn object_figures(&self) -> Option<ObjectFigures> {
        let objects = self.segment_settings.objects.as_ref()?;
        Some(objects.figures())
    }

    /// Fails before segments are written that could not be uploaded.
    async fn check_objects(&self) -> Result<()> {
        match self.segment_settings.objects.clone() {
            Some(objects) => blocking(move || objects.check_availability()).await,
            None => Ok(()),
        }
    }

    /// How many segments cannot be read.
    pub fn damaged_segments(&self) -> usize {
        self.access.damaged.known().len()
    }

    /// Whether the clock is trusted.
    pub fn clock_trust(&self) -> ClockTrust {
        self.observe_clock().trust
    }

    pub(crate) fn observe_clock(&self) -> Observation {
        let clock = &self.config.clock;
        self.trusted_time
            .observe(clock.now_ticks(), clock.elapsed())
    }

    /// Raises the mark of trusted time in the catalogue.
    pub(crate) async fn save_time_mark(&self) -> Result<()> {
        self.catalogue
            .raise_time_mark(self.trusted_time.mark())
            .await
    }

    /// Follows an operator who has confirmed the clock.
    pub(crate) async fn follow_confirmation(&self) -> Result<()> {
        if let Some(mark) = self.catalogue.time_mark().await?
            && self.trusted_time.confirm(mark, self.config.clock.elapsed())
        {
            tracing::info!("the clock was confirmed; retention goes on");
        }
        Ok(())
    }

    /// Marks segments that queries found to be damaged in the catalogue.
    pub(crate) async fn save_damage(&self) -> Result<()> {
        let reports = self.access.damaged.unsaved();
        if !reports.is_empty() {
            self.catalogue.set_damage(&reports).await?;
            self.access.damaged.saved(&reports);
        }
        Ok(())
    }

    /// What lay in the quarantine when the store was opened: segments that the catalogue does not list.
    pub fn quarantine(&self) -> Quarantine {
        self.quarantine
    }

    /// What is stored, by application and table.
    pub fn stats(&self) -> Stats {
        Stats::of(&self.view.get(), &self.access.damaged.known())
    }

    /// Leaves this server's address in the folder, for [`crate::holder`] to find.
    pub fn announce(&self, url: &str, tls_url: Option<&str>) -> Result<()> {
        match &*self.folder.lock() {
            Some(folder) => folder.announce(url, tls_url),
            None => Err(StoreError::Closed),
        }
    }

    /// Flushes the memtable to segments, and removes log files that are no longer needed.
    ///
    /// If it fails, nothing is lost: the rows stay visible and in the log, and the next seal includes them. If the caller stops waiting, it goes on: rows
    /// of which it is not known that they are in segments would be sealed again.
    pub async fn seal_all(self: &Arc<Self>) -> Result<()> {
        let store = Arc::clone(self);
        uncancelled(async move { store.seal_memtable().await }).await
    }

    async fn seal_memtable(&self) -> Result<()> {
        let _one = self.changing.lock().await;
        let done = self.seal().await;
        if done.is_err() {
            // What could not be sealed is tried again when the age is reached once more.
            self.oldest
                .lock()
                .get_or_insert_with(|| self.config.clock.elapsed());
        }
        self.health.set_seal_trouble(
            done.as_ref()
                .err()
                .map(|error| format!("sealing failed: {error}")),
        );
        done
    }

    async fn seal(&self) -> Result<()> {
        let writer = self.log_writer()?;
        // Before more rows are frozen: the frozen rows may be in segments already.
        self.settle().await?;
        self.check_objects().await?;
        let collections = self.catalogue.collections().await?;
        *self.oldest.lock() = None;
        let position = writer.freeze().await?;
        let view = self.view.get();
        let settings = self.segment_settings.clone();
        let now = self.config.clock.now_ticks();
        let frozen = view.clone();
        let (mut records, usage) = blocking(move || {
            let (mut records, mut usage) = (Vec::new(), Usage::default());
            let written = seal::write_frozen(&settings, &frozen, now, &mut records, &mut usage);
            if let Err(error) = written.and_then(|()| settings.publish(&records)) {
                settings.discard(&records);
                return Err(error);
            }
            Ok((records, usage))
        })
        .await?;
        let _commits = self.commits.lock().await;
        let log = view.sealed..=position;
        let sealing = self
            .catalogue
            .register_sealed(&mut records, &usage, log, collections);
        let committed = sealing.await;
        self.conclude(
            SegmentChange::Sealed(view, records, usage, position),
            committed,
        )
        .await?;
        drop(_commits);
        let (vfs, dir) = (self.config.vfs.clone(), self.config.data_dir.join("log"));
        blocking(move || {
            log::remove_through(&*vfs, &dir, position).map_err(StoreError::io("remove from", &dir))
        })
        .await
    }

    pub(crate) fn segments(&self, records: Vec<SegmentRecord>) -> Vec<Arc<Segment>> {
        let folder = &self.segment_settings.folder;
        records
            .into_iter()
            .map(|record| {
                let segment = Segment::new(self.config.vfs.clone(), folder, record);
                Arc::new(segment.in_objects(self.segment_settings.objects.clone()))
            })
            .collect()
    }

    /// Seals everything, stops the background work and releases the folder. Snapshots stay readable.
    pub async fn close(self: &Arc<Self>) -> Result<()> {
        for task in std::mem::take(&mut *self.background.lock()) {
            task.abort();
        }
        let sealed = match self.health.read_only() {
            None => self.seal_all().await,
            Some(error) => Err(error),
        };
        // A merge whose task was aborted may be committed still.
        drop(self.changing.lock().await);
        let log = self.log.lock().take();
        blocking(move || {
            drop(log);
            Ok(())
        })
        .await?;
        self.nodes.copies.close_all().await?;
        self.save_damage().await?;
        self.end_log().await?;
        if self.clock_trust().is_trusted() {
            self.save_time_mark().await?;
        }
        self.catalogue.close().await;
        if let Some(folder) = self.folder.lock().take() {
            folder.withdraw();
        }
        sealed
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        for task in self.background.lock().drain(..) {
            task.abort();
        }
    }
}

/// Encodes a request for the log. A large one takes milliseconds, in which no other task of the same thread would run: it is encoded on
/// a thread for blocking work.
async fn encode(
    app: AppId,
    batches: Vec<(Table, RecordBatch)>,
) -> Result<(Vec<(Table, RecordBatch)>, Vec<u8>)> {
    let bytes: usize = batches
        .iter()
        .map(|(_, batch)| batch.get_array_memory_size())
        .sum();
    let encode = move || log::encode_batches(app, &batches).map(|payload| (batches, payload));
    if bytes < ENCODED_ASIDE {
        return encode();
    }
    blocking(encode).await
}

fn segment_settings(
    config: &StoreConfig,
    folder: &Folder,
    store: StoreId,
    objects: Option<Arc<SegmentObjects>>,
) -> SegmentSettings {
    SegmentSettings {
        store,
        folder: match &objects {
            Some(_) => folder.cache_dir(),
            None => folder.segments_dir(),
        },
        objects,
        vfs: config.vfs.clone(),
        row_group_rows: config.row_group_rows,
        zstd_level: config.zstd_level,
        promotion: PromotionRule {
            max_keys: config.promoted_keys,
            min_share: config.promoted_share,
        },
        text_index: config.text_index,
        value_index: config.value_index,
        durable_folders: Arc::default(),
    }
}
