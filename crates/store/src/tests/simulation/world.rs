//! A store on a simulated disk, and what it must hold.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::AsArray;
use arrow::record_batch::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use uuid::Uuid;

use super::disk::Disk;
use crate::clock::manual::ManualClock;
use crate::folder::Folder;
use crate::format_file::{self, CatalogueKind};
use crate::objects::memory::{Fault as ObjectFault, MemoryObjects};
use crate::segment::SegmentFileReader;
use crate::store_id::StoreId;
use crate::tests::{START, app, ids, item, requests};
use crate::{
    AppendRequest, Catalogue, Health, NewApplication, ObjectsConfig, Store, StoreConfig,
    StoreError, TICKS_PER_HOUR, Table,
};

/// How requests to the object store fail. Bytes that are wrong twice are damage, which the model does not know.
const OBJECT_FAULTS: [ObjectFault; 6] = [
    ObjectFault::PutBefore,
    ObjectFault::PutAfter,
    ObjectFault::Get,
    ObjectFault::CutGet,
    ObjectFault::List,
    ObjectFault::Delete,
];
/// The tables that items are put into.
const TABLES: [Table; 2] = [Table::Requests, Table::Dependencies];
/// How long items are kept.
const RETENTION_HOURS: i64 = 12;

/// What is known of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It was acknowledged: its items are there.
    There,
    /// It was refused or cut off, and the disk did not let itself be written: its items are there or not.
    Unknown,
    /// Its items are not there and never come back.
    Gone,
}

/// One request of the workload.
#[derive(Debug, Clone)]
struct Request {
    app: u128,
    table: Table,
    items: u64,
    /// The time of its items, in ticks.
    at: i64,
    fate: Fate,
    /// It was old enough when expiry ran, or its application was deleted, and that was cut off.
    may_go: bool,
}

/// Why a run failed.
pub(super) type Failure = String;

/// A store, its disk and its requests.
pub(super) struct World {
    pub(super) disk: Disk,
    clock: Arc<ManualClock>,
    config: StoreConfig,
    /// It stays open through power cuts: of SQLite the model assumes that a transaction survives if its commit returned, vanishes if
    /// its commit was not called, and is there or not if its commit failed, as a read tells at once.
    catalogue: Option<(Catalogue, StoreId)>,
    store: Option<Arc<Store>>,
    /// Whether every request that was refused before the store was opened is known to be there or gone.
    settled: bool,
    random: StdRng,
    requests: Vec<Request>,
    /// The application that is not deleted yet, beside the first one.
    second_app: u128,
    /// The object store that segments are in, if they are not on the disk.
    objects: Option<MemoryObjects>,
    /// Whether requests to it may fail.
    objects_fail: bool,
}

impl World {
    /// An empty disk with the folder `root`.
    pub(super) fn new(root: &Path, seed: u64) -> World {
        let disk = Disk::new(root, seed);
        let clock = Arc::new(ManualClock::at(START));
        World {
            config: StoreConfig {
                background: false,
                clock: clock.clone(),
                vfs: Arc::new(disk.clone()),
                commit_delay: Duration::ZERO,
                log_file_bytes: 12 << 10,
                compaction_fan_in: 4,
                retention: Duration::from_secs(RETENTION_HOURS as u64 * 3600),
                retention_guard: 1.0,
                ..StoreConfig::new(root)
            },
            disk,
            clock,
            catalogue: None,
            store: None,
            settled: false,
            random: StdRng::seed_from_u64(seed),
            requests: Vec::new(),
            second_app: 2,
            objects: None,
            objects_fail: false,
        }
    }

    /// The same with segments in an object store.
    pub(super) fn in_objects(root: &Path, seed: u64) -> World {
        let mut world = World::new(root, seed);
        let objects = MemoryObjects::default();
        world.config.objects = Some(ObjectsConfig {
            grace: Duration::from_secs(600),
            orphan_age: Duration::from_secs(3600),
            ..ObjectsConfig::new(Arc::new(objects.clone()))
        });
        world.objects = Some(objects);
        world
    }

    /// Lets a request to the object store fail, or does the work that deletes objects.
    async fn trouble_objects(&mut self) -> Result<(), Failure> {
        let Some(objects) = self.objects.clone() else {
            return Ok(());
        };
        objects.set_time(self.config.clock.now_ticks());
        if self.random.random_ratio(1, 8) {
            let fault = OBJECT_FAULTS[self.random.random_range(0..OBJECT_FAULTS.len())];
            objects.fail(fault, self.random.random_range(1..4));
            self.objects_fail = true;
        }
        let Some(store) = self.running().filter(|_| self.random.random_ratio(1, 8)) else {
            return Ok(());
        };
        let deleted = store.delete_objects().await.map(drop);
        self.only_faults(deleted)?;
        let collected = store.collect_orphans().await.map(drop);
        self.only_faults(collected)
    }

    /// Gives the store, which is new, an identity that depends on the seed, so that its files do.
    pub(super) fn fix_store_id(&mut self) -> Result<(), Failure> {
        let id = Uuid::from_u128(self.random.random());
        let id = id.to_string().parse().map_err(|_| "no store id")?;
        format_file::write(&self.disk, &self.config.data_dir, id, CatalogueKind::File).map_err(text)
    }

    /// Opens the store. It may fail while a fault is set.
    pub(super) async fn open(&mut self) -> Result<(), Failure> {
        let done = self.try_open().await;
        self.only_faults(done)?;
        self.check().await
    }

    /// Opens the store without a look at what it holds.
    pub(super) async fn try_open(&mut self) -> Result<(), StoreError> {
        self.settled = false;
        let config = self.config.clone();
        let folder = Folder::take(
            config.vfs.clone(),
            &config.data_dir,
            true,
            CatalogueKind::File,
        )?;
        let (catalogue, id) = match &self.catalogue {
            Some(known) => known.clone(),
            None => Catalogue::open_in(&folder).await?,
        };
        self.catalogue = Some((catalogue.clone(), id));
        self.store = Some(Store::recover(config, folder, catalogue, id).await?);
        Ok(())
    }

    /// The store, if it is open and the power is on: after a power cut no call may change the catalogue.
    fn running(&self) -> Option<Arc<Store>> {
        self.store.clone().filter(|_| self.disk.has_power())
    }

    /// Does one thing that a server does, chosen at random.
    pub(super) async fn step(&mut self) -> Result<(), Failure> {
        self.trouble_objects().await?;
        match self.random.random_range(0..100) {
            0..64 => self.append().await,
            64..73 => self.seal().await,
            73..76 => self.compact().await,
            76..78 => self.merge_beside_others().await,
            78..85 => {
                let minutes = self.random.random_range(1..240);
                self.pass(minutes);
                Ok(())
            }
            85..90 => self.expire().await,
            90..92 => self.delete_app().await,
            92..96 => self.maintain().await,
            96..98 => self.check().await,
            _ => self.close_and_open().await,
        }
    }

    /// Sends one request.
    pub(super) async fn append(&mut self) -> Result<(), Failure> {
        let Some(store) = self.running() else {
            return Ok(());
        };
        let number = self.requests.len();
        let hours = self.random.random_range(0..3);
        let request = Request {
            app: if self.random.random() {
                1
            } else {
                self.second_app
            },
            table: TABLES[self.random.random_range(0..TABLES.len())],
            items: self.random.random_range(1..4),
            at: self.config.clock.now_ticks() - hours * TICKS_PER_HOUR,
            fate: Fate::Unknown,
            may_go: false,
        };
        let items: Vec<_> = (0..request.items)
            .map(|n| item(format!("{number}-{n}"), request.at - START))
            .collect();
        let append = AppendRequest {
            app: app(request.app),
            batches: vec![(request.table, requests(&items))],
        };
        self.requests.push(request);
        match store.append(append).await {
            Ok(_) => self.requests[number].fate = Fate::There,
            Err(StoreError::Io { .. } | StoreError::ReadOnly { .. }) if self.disk.was_hit() => {}
            Err(error) => return Err(format!("an append failed with {error}")),
        }
        self.forget_refused();
        Ok(())
    }

    /// Moves the memtable to segments.
    pub(super) async fn seal(&mut self) -> Result<(), Failure> {
        let Some(store) = self.running() else {
            return Ok(());
        };
        let done = store.seal_all().await;
        self.only_faults(done)
    }

    /// Merges segments.
    pub(super) async fn compact(&mut self) -> Result<(), Failure> {
        let Some(store) = self.running() else {
            return Ok(());
        };
        let done = store.compact().await.map(drop);
        self.only_faults(done)
    }

    /// Merges segments, and does other things between the writing of the file and its commit.
    async fn merge_beside_others(&mut self) -> Result<(), Failure> {
        let Some(store) = self.running() else {
            return Ok(());
        };
        let written = async {
            let Some(merge) = store.choose_merge(|_| false).await? else {
                return Ok(None);
            };
            store.write_merge(&merge).await.map(Some)
        };
        let merge = match written.await {
            Ok(Some(merge)) => merge,
            Ok(None) => return Ok(()),
            Err(error) => return self.only_faults(Err(error)),
        };
        for _ in 0..self.random.random_range(1..4) {
            match self.random.random_range(0..10) {
                0..3 => self.append().await?,
                3..7 => self.seal().await?,
                7..9 => self.expire().await?,
                _ => self.delete_app().await?,
            }
        }
        if self.running().is_none() {
            // A process that has ended removes no file.
            std::mem::forget(merge);
            return Ok(());
        }
        match store.commit_merge(merge).await {
            Err(error) if error.is_superseded() => Ok(()),
            done => self.only_faults(done),
        }
    }

    /// Deletes what is too old.
    pub(super) async fn expire(&mut self) -> Result<(), Failure> {
        let Some(store) = self.running() else {
            return Ok(());
        };
        let limit = self.config.clock.now_ticks() - RETENTION_HOURS * TICKS_PER_HOUR;
        for request in &mut self.requests {
            request.may_go |= request.at < limit;
        }
        let done = store.expire().await.map(drop);
        self.only_faults(done)?;
        self.check().await
    }

    /// Deletes the second application; further requests go to another.
    pub(super) async fn delete_app(&mut self) -> Result<(), Failure> {
        let (Some(store), Some((catalogue, _))) = (self.running(), self.catalogue.clone()) else {
            return Ok(());
        };
        let deleted = self.second_app;
        let (id, now) = (app(deleted), self.config.clock.now_ticks());
        let new = NewApplication {
            id,
            name: format!("application {deleted}"),
            instrumentation_key: id.0,
            created: now,
        };
        self.second_app += 1;
        let created = catalogue.create_app(new).await;
        if created.is_err() {
            return self.only_faults(created.map(drop));
        }
        let marked = catalogue.delete_app(id, now).await;
        if marked.is_err() {
            // It may be deleted; the next purge tells.
            for request in self.requests.iter_mut().filter(|r| r.app == deleted) {
                request.may_go = true;
            }
            return self.only_faults(marked.map(drop));
        }
        let purged = store.purge_deleted().await.map(drop);
        for request in &mut self.requests {
            if request.app == deleted {
                request.may_go = true;
                if purged.is_ok() {
                    request.fate = Fate::Gone;
                }
            }
        }
        self.only_faults(purged)?;
        self.check().await
    }

    /// Does what the background task does every second.
    pub(super) async fn maintain(&mut self) -> Result<(), Failure> {
        let Some(store) = self.running() else {
            return Ok(());
        };
        let done = store.maintain_log().await;
        self.only_faults(done)?;
        self.check().await
    }

    /// Time passes.
    pub(super) fn pass(&self, minutes: u64) {
        self.clock.pass(Duration::from_secs(minutes * 60));
    }

    /// Ends the store in an orderly way, as far as the disk lets it, and opens it again. The catalogue stays open.
    pub(super) async fn close_and_open(&mut self) -> Result<(), Failure> {
        self.seal().await?;
        self.store = None;
        self.open().await
    }

    /// Ends the machine, or with `cache_is_lost: false` the process alone, and starts it again. The store is closed then.
    pub(super) fn crash(&mut self, cache_is_lost: bool) {
        self.disk.stop();
        self.store = None;
        self.disk.start(cache_is_lost);
    }

    /// Ends all faults: the store must open or be open, take writes again, and hold what it must.
    pub(super) async fn heal(&mut self) -> Result<(), Failure> {
        self.disk.heal();
        if let Some(objects) = &self.objects {
            for fault in OBJECT_FAULTS {
                objects.fail(fault, 0);
            }
            self.objects_fail = false;
            // Reads fail for a moment after one that failed.
            self.clock.pass(Duration::from_secs(2));
        }
        match self.store.clone() {
            Some(store) => store.maintain_log().await.map_err(text)?,
            None => self.try_open().await.map_err(text)?,
        }
        let health = self.store.as_ref().map(|store| store.health());
        if !health.as_ref().is_some_and(|health| health.writable) {
            return Err(format!("the store takes no writes: {health:?}"));
        }
        self.check().await
    }

    /// An operation may fail, but only because the disk did.
    fn only_faults(&mut self, done: Result<(), StoreError>) -> Result<(), Failure> {
        match done {
            Err(error @ (StoreError::Closed | StoreError::Task(_))) => {
                Err(format!("a thread of the store ended: {error}"))
            }
            Err(error) if !self.disk.was_hit() && !self.objects_fail => {
                Err(format!("without a fault: {error}"))
            }
            _ => {
                self.forget_refused();
                Ok(())
            }
        }
    }

    /// A store that takes writes has repaired its log: what it refused never comes back.
    fn forget_refused(&mut self) {
        if self.settled && self.is_writable() {
            for request in &mut self.requests {
                if request.fate == Fate::Unknown {
                    request.fate = Fate::Gone;
                }
            }
        }
    }

    /// The health of the store, if it is open.
    pub(super) fn health(&self) -> Option<Health> {
        self.store.as_ref().map(|store| store.health())
    }

    /// How many segments the store has.
    pub(super) fn segments(&self) -> usize {
        let view = self.store.as_ref().map(|store| store.view.get());
        let tables = view.iter().flat_map(|view| view.tables.values());
        tables.map(|state| state.segments.len()).sum()
    }

    fn is_writable(&self) -> bool {
        let writable = |store: &Arc<Store>| store.health().writable;
        self.disk.has_power() && self.store.as_ref().is_some_and(writable)
    }

    /// Compares what the store holds with what it must hold.
    pub(super) async fn check(&mut self) -> Result<(), Failure> {
        let Some(store) = self.running() else {
            return Ok(());
        };
        let found = match found(&store) {
            Ok(found) => found,
            Err(_) if self.disk.was_hit() || self.objects_fail => return Ok(()),
            Err(error) => return Err(format!("reading failed with {error}")),
        };
        self.forget_refused();
        let settle = self.is_writable();
        for (number, request) in self.requests.iter_mut().enumerate() {
            let mut there = 0;
            for item in 0..request.items {
                let key = (request.app, request.table, format!("{number}-{item}"));
                match found.get(&key) {
                    Some(1) => there += 1,
                    Some(times) => return Err(format!("{key:?} is there {times} times")),
                    None => {}
                }
            }
            let whole = there == request.items;
            if there > 0 && !whole {
                return Err(format!("request {number} is there in part: {request:?}"));
            }
            match request.fate {
                Fate::There if !whole && !request.may_go => {
                    return Err(format!("request {number} is lost: {request:?}"));
                }
                Fate::Gone if whole => {
                    return Err(format!("request {number} came back: {request:?}"));
                }
                _ => {}
            }
            if settle {
                request.fate = if whole { Fate::There } else { Fate::Gone };
            }
        }
        let known: u64 = self.requests.iter().map(|request| request.items).sum();
        if found.len() as u64 > known {
            return Err("there are items that nobody sent".to_owned());
        }
        if settle {
            self.check_usage(&store)?;
        }
        self.settled |= settle;
        Ok(())
    }

    /// Each item that is or was there is counted once. What may have expired or belongs to a deleted application may be counted.
    fn check_usage(&self, store: &Store) -> Result<(), Failure> {
        let (mut least, mut most) = (BTreeMap::new(), BTreeMap::new());
        for request in &self.requests {
            let key = (app(request.app), request.table);
            let is_there = request.fate == Fate::There;
            *least.entry(key).or_insert(0) += if is_there && !request.may_go {
                request.items
            } else {
                0
            };
            *most.entry(key).or_insert(0) += if is_there || request.may_go {
                request.items
            } else {
                0
            };
        }
        for ((app, table), most) in most {
            let usage = store.snapshot().usage(&[app]);
            let own = usage.iter().filter(|record| record.table == table);
            let counted: u64 = own.map(|record| record.items).sum();
            if counted < least[&(app, table)] || counted > most {
                return Err(format!(
                    "{counted} items of {app}'s {table} are counted, at most {most} were stored"
                ));
            }
        }
        Ok(())
    }

    /// The answers to queries are those of what the store holds.
    pub(super) async fn check_queries(&mut self) -> Result<(), Failure> {
        self.check().await?;
        let store = self.store.clone().ok_or("the store is not open")?;
        let expected = self
            .requests
            .iter()
            .filter(|request| request.fate == Fate::There && request.app == 1)
            .filter(|request| request.table == Table::Requests)
            .map(|request| request.items)
            .sum::<u64>();
        let answered = ids(&store, app(1)).await.len() as u64;
        if answered != expected {
            return Err(format!("a query finds {answered} items of {expected}"));
        }
        Ok(())
    }
}

/// How often each item is there.
fn found(store: &Store) -> Result<BTreeMap<(u128, Table, String), u32>, StoreError> {
    let mut found = BTreeMap::new();
    for ((owner, table), state) in &store.view.get().tables {
        let chunks = state.open.list.iter().chain(&state.frozen.list);
        let mut batches: Vec<RecordBatch> = chunks.map(|chunk| chunk.batch.clone()).collect();
        for segment in state.segments.iter() {
            let file = SegmentFileReader::open(segment)?;
            let builder = ParquetRecordBatchReaderBuilder::try_new(file)?;
            let id = ProjectionMask::columns(builder.parquet_schema(), ["id"]);
            for batch in builder.with_projection(id).build()? {
                batches.push(batch?);
            }
        }
        for batch in batches {
            let column = batch
                .column_by_name("id")
                .and_then(|id| id.as_string_view_opt());
            for id in column.into_iter().flatten().flatten() {
                let key = (owner.0.as_u128(), *table, id.to_owned());
                *found.entry(key).or_default() += 1;
            }
        }
    }
    Ok(found)
}

fn text(error: StoreError) -> Failure {
    error.to_string()
}
