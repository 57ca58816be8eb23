//! The objects of segments: uploading, reading through the cache, deleting.
//!
//! The key of a segment's object is `<store>/segments/<path>`, with the path that the catalogue has. An object that the catalogue no longer lists
//! is deleted after a grace, in which queries of other machines may still read it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;

mod content;
mod download;

use self::content::Content;
use super::cache::{CachedFile, FileCache};
use super::storage::{ObjectError, ObjectInfo, ObjectStorage};
use crate::catalogue::SegmentRecord;
use crate::clock::Clock;
use crate::config::ObjectsConfig;
use crate::error::{Result, StoreError};
use crate::store_id::StoreId;
use crate::vfs::{ReadFile, Vfs};

/// How long reads fail at once after the object store did not reply, so that a query over many segments does not wait for each.
const FAIL_FAST: Duration = Duration::from_secs(1);
/// When the object store is probed after a failure, if no other request is sent to it.
const PROBE: Duration = Duration::from_secs(10);
/// When a deletion that failed is tried again.
const DELETE_AGAIN: Duration = Duration::from_secs(60);
/// Figures of the object store, since the process began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ObjectFigures {
    /// Segments that were uploaded.
    pub uploads: u64,
    /// Segments that were downloaded.
    pub downloads: u64,
    /// Bytes that were downloaded, ranges of segments included.
    pub downloaded_bytes: u64,
    /// Requests that failed.
    pub failures: u64,
    /// Objects that wait to be deleted.
    pub retired: u64,
    /// Objects that no catalogue lists, as they were last counted.
    pub orphans: u64,
    /// Files in the cache.
    pub cached_files: u64,
    /// Bytes in the cache.
    pub cached_bytes: u64,
    /// Whether the last request failed.
    pub is_failing: bool,
}

/// The objects of a store's segments.
#[derive(Debug)]
pub(crate) struct SegmentObjects {
    storage: Arc<dyn ObjectStorage>,
    /// What the keys of segments begin with, without a `/` at the end.
    prefix: String,
    vfs: Arc<dyn Vfs>,
    cache: Arc<FileCache>,
    clock: Arc<dyn Clock>,
    parts_from: u64,
    grace: Duration,
    /// Objects that are deleted at a time of the clock's `elapsed`.
    retired: Mutex<Vec<(Duration, String)>>,
    /// When the last request failed because the object store is unavailable, and why.
    trouble: Mutex<Option<(Duration, String)>>,
    counters: Counters,
}

#[derive(Debug, Default)]
struct Counters {
    uploads: AtomicU64,
    downloads: AtomicU64,
    downloaded_bytes: AtomicU64,
    failures: AtomicU64,
    orphans: AtomicU64,
}

impl SegmentObjects {
    /// The objects of a store. `folder` is the cache, in which the files of `records` stay.
    pub(crate) fn open(
        config: &ObjectsConfig,
        store: StoreId,
        vfs: Arc<dyn Vfs>,
        clock: Arc<dyn Clock>,
        folder: &Path,
        records: &[SegmentRecord],
    ) -> Result<SegmentObjects> {
        let known: std::collections::HashMap<&str, u64> = records
            .iter()
            .map(|record| (record.path.as_str(), record.bytes))
            .collect();
        let is_kept = |name: &str, bytes: u64| known.get(name) == Some(&bytes);
        Ok(SegmentObjects {
            cache: Arc::new(FileCache::open(
                vfs.clone(),
                folder,
                config.cache_bytes,
                is_kept,
            )?),
            parts_from: config.parts_from,
            grace: config.grace,
            ..SegmentObjects::without_cache(config.storage.clone(), store, vfs, clock)
        })
    }

    /// The objects of a store, to be read and written whole.
    pub(crate) fn without_cache(
        storage: Arc<dyn ObjectStorage>,
        store: StoreId,
        vfs: Arc<dyn Vfs>,
        clock: Arc<dyn Clock>,
    ) -> SegmentObjects {
        SegmentObjects {
            storage,
            prefix: format!("{store}/segments"),
            cache: Arc::new(FileCache::unused(vfs.clone(), Path::new(""), 0)),
            vfs,
            clock,
            parts_from: 0,
            grace: Duration::ZERO,
            retired: Mutex::default(),
            trouble: Mutex::default(),
            counters: Counters::default(),
        }
    }

    /// Uploads a segment whose file was written to its place in the cache. Blocks.
    ///
    /// # Errors
    /// [`StoreError::Object`]; the object may have been written. [`StoreError::Damaged`] if the file is not as it was written.
    pub(crate) fn upload(&self, record: &SegmentRecord) -> Result<()> {
        let path = self.cache.path(&record.path);
        self.upload_file(record, &path)?;
        self.cache.add(&record.path, record.bytes);
        Ok(())
    }

    /// Uploads a segment from any place. Blocks.
    ///
    /// # Errors
    /// As [`SegmentObjects::upload`].
    pub(crate) fn upload_file(&self, record: &SegmentRecord, path: &Path) -> Result<()> {
        let read = self.vfs.read(path);
        let bytes = Bytes::from(read.map_err(StoreError::io("read", path))?);
        let content = Content::of(&bytes);
        if let Some((offset, what)) = content.difference(record) {
            return Err(StoreError::Damaged {
                path: path.to_owned(),
                offset,
                what,
            });
        }
        let key = self.key(&record.path);
        match self.storage.put_new(&key, bytes) {
            Ok(()) => {}
            // The reply to an earlier attempt was lost, or a move to the object store is repeated.
            Err(ObjectError::Exists) if self.has_content(&key, &content)? => {}
            Err(error) => return Err(self.failed("write", &key, error)),
        }
        self.succeeded();
        self.counters.uploads.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Whether an object has this content.
    fn has_content(&self, key: &str, content: &Content) -> Result<bool> {
        let found = self.read_object(key, &mut |_| Ok(()))?;
        Ok(found.bytes == content.bytes && found.checksums == content.checksums)
    }

    /// Removes the file and the object of a segment that the catalogue does not list, as far as they can be removed. What is left is
    /// collected later.
    pub(crate) fn discard(&self, record: &SegmentRecord) {
        self.cache.remove(&record.path);
        let key = self.key(&record.path);
        if let Err(error) = self.storage.delete(&key) {
            tracing::info!(object = %self.name(&key), %error, "the object of a segment that is not listed stays for now");
        }
    }

    /// Opens the file of a segment whose bytes are wrong in the cache: it is downloaded again, unless another reader did so. Blocks.
    ///
    /// # Errors
    /// As [`SegmentObjects::open_file`].
    pub(crate) fn open_again(
        &self,
        record: &SegmentRecord,
        wrong: &SegmentObjectFile,
    ) -> Result<SegmentObjectFile> {
        self.cache.forget_file(&record.path, &wrong.0);
        self.open_file(record)
    }

    /// Says that the catalogue no longer lists a segment, and that no query here reads it.
    pub(crate) fn retire(&self, record: &SegmentRecord) {
        self.cache.remove(&record.path);
        self.delete_later(&record.path, self.grace);
    }

    /// Says that a segment was taken out of service here or by another node; its object stays.
    pub(crate) fn set_aside(&self, record: &SegmentRecord) {
        self.cache.remove(&record.path);
    }

    /// Says that the catalogue no longer lists a segment that was out of service for longer than any query runs.
    pub(crate) fn delete_soon(&self, record: &SegmentRecord) {
        self.delete_later(&record.path, Duration::ZERO);
    }

    fn delete_later(&self, path: &str, wait: Duration) {
        let due = self.clock.elapsed().saturating_add(wait);
        self.retired.lock().push((due, path.to_owned()));
    }

    /// Deletes the objects whose grace is over; returns how many. Blocks.
    ///
    /// # Errors
    /// [`StoreError::Object`]; what could not be deleted is tried again later.
    pub(crate) fn delete_due(&self) -> Result<usize> {
        let now = self.clock.elapsed();
        let due: Vec<String> = {
            let mut retired = self.retired.lock();
            let (due, later) = std::mem::take(&mut *retired)
                .into_iter()
                .partition(|(due, _)| *due <= now);
            *retired = later;
            let due: Vec<(Duration, String)> = due;
            due.into_iter().map(|(_, path)| path).collect()
        };
        let mut left = due.into_iter();
        let mut deleted = 0;
        while let Some(path) = left.next() {
            if let Err(error) = self.delete(&path) {
                self.delete_later(&path, DELETE_AGAIN);
                left.for_each(|path| self.delete_later(&path, DELETE_AGAIN));
                return Err(error);
            }
            deleted += 1;
        }
        Ok(deleted)
    }

    /// Deletes the object of a segment. Blocks.
    ///
    /// # Errors
    /// [`StoreError::Object`].
    pub(super) fn delete(&self, path: &str) -> Result<()> {
        let key = self.key(path);
        self.storage
            .delete(&key)
            .map_err(|error| self.failed("delete", &key, error))
    }

    /// The objects of segments: their paths, as the catalogue has them, in place of their keys. Blocks.
    ///
    /// # Errors
    /// [`StoreError::Object`].
    pub(crate) fn list(&self) -> Result<Vec<ObjectInfo>> {
        let found = self.storage.list(&self.prefix);
        let found = found.map_err(|error| self.failed("list", &self.prefix, error))?;
        self.succeeded();
        let below = |mut object: ObjectInfo| {
            let path = object.key.strip_prefix(&self.prefix)?.strip_prefix('/')?;
            object.key = path.to_owned();
            Some(object)
        };
        Ok(found.into_iter().filter_map(below).collect())
    }

    /// What is wrong with the object of a segment; `None` if it is as it was written. Blocks.
    ///
    /// # Errors
    /// [`StoreError::Object`] if it cannot be read for another reason than its absence.
    pub(crate) fn damage_of(&self, record: &SegmentRecord) -> Result<Option<String>> {
        match self.read_object(&self.key(&record.path), &mut |_| Ok(())) {
            Ok(content) => {
                let found = content.difference(record);
                Ok(found.map(|(offset, what)| format!("damaged at byte {offset}: {what}")))
            }
            Err(StoreError::Object {
                source: ObjectError::NotFound,
                ..
            }) => Ok(Some("missing".to_owned())),
            Err(error) => Err(error),
        }
    }

    /// Fails if the last request failed and the object store is unavailable still. Blocks.
    ///
    /// # Errors
    /// [`StoreError::Object`].
    pub(crate) fn check_availability(&self) -> Result<()> {
        if self.trouble.lock().is_none() {
            return Ok(());
        }
        let key = format!("{}/probe", self.prefix);
        match self.storage.get(&key, None) {
            Ok(_) | Err(ObjectError::NotFound) => {
                self.succeeded();
                Ok(())
            }
            Err(error) => Err(self.failed("read", &key, error)),
        }
    }

    /// Finds out whether the object store replies again, if a while has passed since a request failed. Blocks.
    pub(crate) fn probe(&self) {
        let failed = self.trouble.lock().as_ref().map(|(since, _)| *since);
        if failed.is_some_and(|since| self.clock.elapsed() >= since.saturating_add(PROBE)) {
            // The figures and the health of the store say what is found.
            let _ = self.check_availability();
        }
    }

    /// The address of an object, for messages.
    pub(crate) fn name_of(&self, path: &str) -> String {
        self.name(&self.key(path))
    }

    /// The address of the object store.
    pub(crate) fn address(&self) -> &str {
        self.storage.address()
    }

    /// What is wrong with the object store.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.trouble.lock().as_ref().map(|(_, what)| what.clone())
    }

    /// The objects that wait to be deleted.
    pub(super) fn retired(&self) -> Vec<String> {
        let retired = self.retired.lock();
        retired.iter().map(|(_, path)| path.clone()).collect()
    }

    /// Notes how many objects no catalogue lists.
    pub(super) fn note_orphans(&self, count: usize) {
        self.counters.orphans.store(count as u64, Ordering::Relaxed);
    }

    /// Figures since the process began.
    pub(crate) fn figures(&self) -> ObjectFigures {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let counters = &self.counters;
        let (cached_files, cached_bytes) = self.cache.size();
        ObjectFigures {
            uploads: read(&counters.uploads),
            downloads: read(&counters.downloads),
            downloaded_bytes: read(&counters.downloaded_bytes),
            failures: read(&counters.failures),
            retired: self.retired.lock().len() as u64,
            orphans: read(&counters.orphans),
            cached_files,
            cached_bytes,
            is_failing: self.trouble.lock().is_some(),
        }
    }

    /// Fails while the object store is unavailable, without a request.
    fn fail_fast(&self, key: &str) -> Result<()> {
        let trouble = self.trouble.lock();
        match &*trouble {
            Some((since, what)) if self.clock.elapsed() < since.saturating_add(FAIL_FAST) => {
                Err(StoreError::Object {
                    action: "read",
                    object: self.name(key),
                    source: ObjectError::Unavailable(what.clone()),
                })
            }
            _ => Ok(()),
        }
    }

    fn succeeded(&self) {
        if self.trouble.lock().take().is_some() {
            tracing::info!(objects = self.address(), "the object store replies again");
        }
    }

    fn failed(&self, action: &'static str, key: &str, error: ObjectError) -> StoreError {
        self.counters.failures.fetch_add(1, Ordering::Relaxed);
        if let ObjectError::Unavailable(what) = &error {
            *self.trouble.lock() = Some((self.clock.elapsed(), what.clone()));
        }
        StoreError::Object {
            action,
            object: self.name(key),
            source: error,
        }
    }

    fn key(&self, path: &str) -> String {
        format!("{}/{path}", self.prefix)
    }

    fn name(&self, key: &str) -> String {
        format!("{}/{key}", self.storage.address())
    }
}

/// The file of a segment in the cache. It is not removed while it is open.
#[derive(Debug)]
pub(crate) struct SegmentObjectFile(CachedFile);

impl ReadFile for SegmentObjectFile {
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.0.read_exact_at(bytes, offset)
    }

    fn read_at(&self, offset: u64, length: usize) -> std::io::Result<Vec<u8>> {
        self.0.read_at(offset, length)
    }
}
