//! The open file of a segment: in the data folder, in the cache of an object store, or in the object store itself.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use parquet::errors::{ParquetError, Result};

use super::Segment;
use crate::catalogue::SegmentRecord;
use crate::error::StoreError;
use crate::objects::{SegmentObjectFile, SegmentObjects};
use crate::vfs::ReadFile;

/// An open file.
#[derive(Debug)]
pub(super) enum OpenFile {
    /// A file that has the only copy of its segment.
    Only(Box<dyn ReadFile>),
    /// A file of the cache.
    Cached(Box<Cached>),
    /// Ranges of an object.
    Object(Box<dyn ReadFile>),
}

/// A copy of an object.
#[derive(Debug)]
pub(super) struct Cached {
    file: SegmentObjectFile,
    objects: Arc<SegmentObjects>,
    record: SegmentRecord,
}

impl OpenFile {
    /// Opens the file of a segment. Blocks.
    pub(super) fn whole(segment: &Segment) -> Result<OpenFile> {
        let Some(objects) = segment.objects() else {
            let path = segment.path();
            let opened = segment.vfs().open(path);
            let file = opened.map_err(|source| external(StoreError::io("open", path)(source)))?;
            return Ok(OpenFile::Only(file));
        };
        Ok(OpenFile::Cached(Box::new(Cached {
            file: objects.open_file(&segment.record).map_err(external)?,
            objects: objects.clone(),
            record: segment.record.clone(),
        })))
    }

    /// Opens the file of a segment of which a few parts are read. Blocks.
    pub(super) fn parts(segment: &Segment) -> Result<OpenFile> {
        let objects = segment.objects();
        match objects.and_then(|objects| objects.ranges(&segment.record)) {
            Some(ranges) => Ok(OpenFile::Object(ranges)),
            None => OpenFile::whole(segment),
        }
    }

    /// The bytes of a range of the file. `path` is for messages.
    pub(super) fn read(&self, range: &Range<u64>, path: &Path) -> Result<Vec<u8>> {
        match self {
            OpenFile::Only(file) | OpenFile::Object(file) => read(&**file, range, path),
            OpenFile::Cached(cached) => read(&cached.file, range, path),
        }
    }

    /// Reads once more what could not be read, or was not what was written; `None` if there is no other copy.
    pub(super) fn read_again(&self, range: &Range<u64>, path: &Path) -> Option<Result<Vec<u8>>> {
        match self {
            OpenFile::Only(_) => None,
            OpenFile::Object(file) => Some(read(&**file, range, path)),
            OpenFile::Cached(cached) => {
                tracing::warn!(file = %path.display(), "a file of the cache is damaged; it is downloaded again");
                let file = cached.objects.open_again(&cached.record, &cached.file);
                let file = file.map_err(external);
                Some(file.and_then(|file| read(&file, range, path)))
            }
        }
    }
}

fn read(file: &dyn ReadFile, range: &Range<u64>, path: &Path) -> Result<Vec<u8>> {
    let length = usize::try_from(range.end.saturating_sub(range.start))?;
    file.read_at(range.start, length)
        .map_err(|error| external(store_error(error, path)))
}

/// An error of the store that was wrapped as one of a file, or that of the file.
fn store_error(error: io::Error, path: &Path) -> StoreError {
    error
        .downcast::<StoreError>()
        .unwrap_or_else(StoreError::io("read", path))
}

pub(super) fn external(error: StoreError) -> ParquetError {
    ParquetError::External(Box::new(error))
}
