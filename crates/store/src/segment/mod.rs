//! Segments: sealed, immutable Parquet files of one application's table.

mod checksums;
mod file;
mod footer;
mod reader;
mod writer;

pub(crate) use checksums::{ChecksumWriter, Checksums};
pub(crate) use file::SegmentFileReader;
pub(crate) use footer::FooterCache;
pub(crate) use reader::SegmentReaders;
pub(crate) use writer::{SegmentFile, SegmentSettings, SegmentWriter, TEMPORARY};

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::catalogue::SegmentRecord;
use crate::vfs::Vfs;

/// A segment that can be read. The file outlives its removal from the catalogue until the last reader is done.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) record: SegmentRecord,
    vfs: Arc<dyn Vfs>,
    path: PathBuf,
    doomed: AtomicBool,
}

impl Segment {
    pub(crate) fn new(vfs: Arc<dyn Vfs>, folder: &Path, record: SegmentRecord) -> Segment {
        Segment {
            vfs,
            path: folder.join(&record.path),
            record,
            doomed: AtomicBool::new(false),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn vfs(&self) -> &dyn Vfs {
        &*self.vfs
    }

    /// Marks a segment that the catalogue no longer names: its file is removed with the last reference.
    pub(crate) fn remove_when_unused(&self) {
        self.doomed.store(true, Ordering::Release);
    }

    /// Whether any of its rows may lie in the range, ends included.
    pub(crate) fn overlaps(&self, from: i64, to: i64) -> bool {
        self.record.min_ts <= to && self.record.max_ts >= from
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        if self.doomed.load(Ordering::Acquire)
            && let Err(error) = self.vfs.remove(&self.path)
        {
            // The catalogue does not list it: the next start moves it to the quarantine.
            tracing::warn!(file = %self.path.display(), %error, "a segment's file could not be removed");
        }
    }
}
