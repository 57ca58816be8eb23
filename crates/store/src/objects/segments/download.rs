//! Reading objects: whole ones into files, and ranges.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::content::Content;
use super::{SegmentObjectFile, SegmentObjects};
use crate::catalogue::SegmentRecord;
use crate::error::{Result, StoreError};
use crate::objects::storage::ObjectError;
use crate::segment::ChecksumWriter;
use crate::vfs::ReadFile;

/// Bytes that are read of an object at once.
const CHUNK: usize = 1 << 20;
/// How often an object is read whose bytes are wrong or whose connection is lost.
const ATTEMPTS: usize = 2;
/// What ends the name of a file that is being downloaded.
const TEMPORARY: &str = "tmp";

/// Whether a file that is downloaded must survive a power failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Durability {
    /// It need not: the cache verifies what it reads, and downloads it again.
    Cache,
    /// It must.
    Synced,
}

impl SegmentObjects {
    /// Opens the file of a segment, which is downloaded if the cache lacks it. Blocks.
    ///
    /// # Errors
    /// [`StoreError::Object`] if it cannot be downloaded, [`StoreError::Damaged`] if the object is not what was written.
    pub(crate) fn open_file(&self, record: &SegmentRecord) -> Result<SegmentObjectFile> {
        let load = |path: &Path| self.download(record, path, Durability::Cache);
        let file = self.cache.open_or_load(&record.path, load)?;
        Ok(SegmentObjectFile(file))
    }

    /// Whether the file of a segment is in the cache, or is being downloaded.
    pub(crate) fn has_file(&self, record: &SegmentRecord) -> bool {
        self.cache.has(&record.path)
    }

    /// The ranges of an object of which a few are read, if it is large and not in the cache: each takes a request.
    pub(crate) fn ranges(self: &Arc<Self>, record: &SegmentRecord) -> Option<Box<dyn ReadFile>> {
        if record.bytes < self.parts_from || self.has_file(record) {
            return None;
        }
        Some(Box::new(Ranges::new(self, self.key(&record.path))))
    }

    /// Downloads a segment to a place outside the cache, where it survives a power failure. Blocks.
    ///
    /// # Errors
    /// As [`SegmentObjects::open_file`].
    pub(crate) fn download_durably(&self, record: &SegmentRecord, file: &Path) -> Result<()> {
        self.download(record, file, Durability::Synced).map(drop)
    }

    /// Reads an object to its end into a file that does not exist. Blocks.
    ///
    /// # Errors
    /// [`StoreError::Object`], and what the disk says.
    pub(crate) fn copy_to(&self, path_of_segment: &str, file: &Path) -> Result<()> {
        let key = self.key(path_of_segment);
        self.write_object(&key, file, Durability::Cache).map(drop)
    }

    /// Downloads a segment and compares it with its checksums; returns its size.
    fn download(&self, record: &SegmentRecord, path: &Path, durability: Durability) -> Result<u64> {
        let key = self.key(&record.path);
        self.fail_fast(&key)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        self.vfs
            .create_dir(folder)
            .map_err(StoreError::io("create", folder))?;
        let temporary = path.with_extension(TEMPORARY);
        let downloaded = self.download_to(record, &key, &temporary, durability);
        if downloaded.is_err() {
            let _ = self.vfs.remove(&temporary);
        }
        let bytes = downloaded?;
        self.vfs
            .rename(&temporary, path)
            .map_err(StoreError::io("rename", path))?;
        if durability == Durability::Synced {
            self.vfs
                .sync_dir(folder)
                .map_err(StoreError::io("sync", folder))?;
        }
        self.counters.downloads.fetch_add(1, Ordering::Relaxed);
        Ok(bytes)
    }

    fn download_to(
        &self,
        record: &SegmentRecord,
        key: &str,
        file: &Path,
        durability: Durability,
    ) -> Result<u64> {
        let mut attempt = 1;
        loop {
            let content = self.write_object(key, file, durability);
            let wrong = match content {
                Ok(content) => match content.difference(record) {
                    None => return Ok(content.bytes),
                    Some((offset, what)) => StoreError::Damaged {
                        path: PathBuf::from(self.name(key)),
                        offset,
                        what,
                    },
                },
                // A connection that was lost. What the client could not send at all, it has repeated already.
                Err(error) if error.is_object_unavailable() => error,
                Err(error) => return Err(error),
            };
            if attempt == ATTEMPTS {
                return Err(wrong);
            }
            tracing::warn!(object = %self.name(key), error = %wrong, "an object is downloaded again");
            attempt += 1;
        }
    }

    fn write_object(&self, key: &str, file: &Path, durability: Durability) -> Result<Content> {
        let created = self.vfs.create(file);
        let mut output = created.map_err(StoreError::io("create", file))?;
        let content = self.read_object(key, &mut |bytes| {
            let written = output.write_all(bytes);
            written.map_err(StoreError::io("write", file))
        })?;
        if durability == Durability::Synced {
            output.sync().map_err(StoreError::io("sync", file))?;
        }
        Ok(content)
    }

    /// Reads an object to its end.
    pub(super) fn read_object(
        &self,
        key: &str,
        each: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<Content> {
        let opened = self.storage.get(key, None);
        let mut object = opened.map_err(|error| self.failed("read", key, error))?;
        let mut sums = ChecksumWriter::default();
        let mut buffer = vec![0; CHUNK];
        let mut bytes = 0;
        loop {
            let count = object.read(&mut buffer).map_err(|error| {
                self.failed("read", key, ObjectError::Unavailable(error.to_string()))
            })?;
            let part = buffer.get(..count).unwrap_or_default();
            if part.is_empty() {
                break;
            }
            sums.update(part);
            bytes += count as u64;
            self.count_downloaded(count);
            each(part)?;
        }
        self.succeeded();
        Ok(Content {
            bytes,
            checksums: sums.finish(),
        })
    }

    fn read_range(&self, key: &str, bytes: &mut [u8], offset: u64) -> Result<()> {
        self.fail_fast(key)?;
        let range = offset..offset + bytes.len() as u64;
        let opened = self.storage.get(key, Some(range));
        let mut object = opened.map_err(|error| self.failed("read", key, error))?;
        object.read_exact(bytes).map_err(|error| {
            self.failed("read", key, ObjectError::Unavailable(error.to_string()))
        })?;
        self.count_downloaded(bytes.len());
        self.succeeded();
        Ok(())
    }

    fn count_downloaded(&self, bytes: usize) {
        let counter = &self.counters.downloaded_bytes;
        counter.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

/// Reads ranges of an object.
#[derive(Debug)]
struct Ranges {
    objects: Arc<SegmentObjects>,
    key: String,
}

impl Ranges {
    fn new(objects: &Arc<SegmentObjects>, key: String) -> Ranges {
        Ranges {
            objects: objects.clone(),
            key,
        }
    }
}

impl ReadFile for Ranges {
    /// An error has the [`StoreError`] in it.
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
        let read = self.objects.read_range(&self.key, bytes, offset);
        read.map_err(std::io::Error::other)
    }
}
