//! Segments: sealed, immutable Parquet files of one application's table.

mod access;
mod block_filters;
mod checksums;
mod covers;
mod damaged;
mod description;
mod file;
pub(crate) mod filter_reader;
mod footer;
mod lookup;
mod open_file;
mod raw_file;
mod reader;
mod row_parts;
mod text_index;
mod value_index;
mod verify;
mod writer;

pub(crate) use access::SegmentAccess;
pub(crate) use checksums::{ChecksumWriter, Checksums};
pub(crate) use covers::Covers;
pub(crate) use damaged::{Damage, DamagedSegments};
pub(crate) use description::Description;
pub(crate) use file::SegmentFileReader;
pub(crate) use filter_reader::FilterBlocks;
pub(crate) use footer::FooterCache;
pub(crate) use lookup::{LOOKUP_COLUMNS, Lookup};
pub(crate) use reader::SegmentReaders;
pub(crate) use row_parts::RowParts;
pub(crate) use verify::{
    WholeFile, damage_of, decode, first_application, length_differs, named_checksum, read_footer,
    read_whole,
};
pub(crate) use writer::{SegmentFile, SegmentSettings, SegmentWriter, TEMPORARY, Unlisted};

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use object_store::path::Path as ObjectPath;
use parking_lot::Mutex;

use crate::catalogue::SegmentRecord;
use crate::objects::SegmentObjects;
use crate::time_range::TimeRange;
use crate::vfs::Vfs;

/// Rows of a page. A page is the least that is read of a column.
pub(crate) const PAGE_ROWS: usize = 2048;

/// A segment that can be read. The file outlives its removal from the catalogue until the last reader is done.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) record: SegmentRecord,
    vfs: Arc<dyn Vfs>,
    path: PathBuf,
    /// The path of the record as scans of the query engine name it.
    location: ObjectPath,
    /// The object store, if the file at `path` is a copy of an object.
    objects: Option<Arc<SegmentObjects>>,
    retired: Mutex<Option<Retired>>,
    alive: Arc<()>,
}

/// What becomes of the file of a segment that is no longer data, once its last reader is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Retired {
    /// It is removed, and so is its object.
    Removed,
    /// A copy in the cache is removed. What becomes of the object is for the node that has changed the list of segments.
    Released,
    /// It is moved to this path.
    Moved(PathBuf),
}

impl Segment {
    pub(crate) fn new(vfs: Arc<dyn Vfs>, folder: &Path, record: SegmentRecord) -> Segment {
        Segment {
            vfs,
            path: folder.join(&record.path),
            location: ObjectPath::from(record.path.as_str()),
            record,
            objects: None,
            retired: Mutex::new(None),
            alive: Arc::default(),
        }
    }

    /// The same segment in an object store, if there is one.
    pub(crate) fn in_objects(mut self, objects: Option<Arc<SegmentObjects>>) -> Segment {
        self.objects = objects;
        self
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the record as scans of the query engine name it.
    pub(crate) fn location(&self) -> &ObjectPath {
        &self.location
    }

    pub(crate) fn vfs(&self) -> &dyn Vfs {
        &*self.vfs
    }

    /// The object store that it is in.
    pub(crate) fn objects(&self) -> Option<&Arc<SegmentObjects>> {
        self.objects.as_ref()
    }

    /// Whether its file is in an object store and not in the cache.
    pub(crate) fn is_far(&self) -> bool {
        let objects = self.objects.as_ref();
        objects.is_some_and(|objects| !objects.has_file(&self.record))
    }

    /// What is kept beside the segment lasts as long as this can be upgraded: until the last reference to the segment is gone.
    pub(crate) fn alive(&self) -> Weak<()> {
        Arc::downgrade(&self.alive)
    }

    /// Says what becomes of the file of a segment that the catalogue no longer lists as data: it happens with the last reference.
    pub(crate) fn retire(&self, to: Retired) {
        *self.retired.lock() = Some(to);
    }

    /// The times of its rows.
    pub(crate) fn times(&self) -> TimeRange {
        TimeRange {
            from: self.record.min_ts,
            to: self.record.max_ts,
        }
    }

    /// Whether any of its rows may lie in the range, ends included.
    pub(crate) fn overlaps(&self, from: i64, to: i64) -> bool {
        self.record.min_ts <= to && self.record.max_ts >= from
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        let done = match (self.retired.get_mut(), &self.objects) {
            (None, _) => return,
            (Some(Retired::Removed), Some(objects)) => return objects.retire(&self.record),
            (Some(Retired::Moved(_) | Retired::Released), Some(objects)) => {
                return objects.set_aside(&self.record);
            }
            (Some(Retired::Released), None) => return,
            (Some(Retired::Removed), None) => self.vfs.remove(&self.path),
            (Some(Retired::Moved(target)), None) => move_file(&*self.vfs, &self.path, target),
        };
        match done {
            // The file of a damaged segment may be missing.
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                // The next opening moves it.
                tracing::warn!(file = %self.path.display(), %error, "the file of a retired segment could not be removed or moved");
            }
            _ => {}
        }
    }
}

/// Moves a file, creating the folder that it goes to.
pub(crate) fn move_file(vfs: &dyn Vfs, from: &Path, to: &Path) -> std::io::Result<()> {
    if let Some(parent) = to.parent() {
        vfs.create_dir(parent)?;
    }
    vfs.rename(from, to)
}
