//! The folder `expired`: the files of segments that retention took out of service, until they are deleted.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::catalogue::SegmentRecord;
use crate::error::{Result, StoreError};
use crate::segment::move_file;
use crate::vfs::{self, Vfs};

/// The folder in a data folder.
pub(crate) fn folder(root: &Path) -> PathBuf {
    root.join("expired")
}

/// The two folders that the file of a segment may be in.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    vfs: Arc<dyn Vfs>,
    segments: PathBuf,
    expired: PathBuf,
}

impl Places {
    /// The folders in a data folder.
    pub(crate) fn of(vfs: Arc<dyn Vfs>, root: &Path) -> Places {
        Places {
            vfs,
            segments: root.join("segments"),
            expired: folder(root),
        }
    }

    /// Where the file of a segment is. It may be at another place than its record says: a crash may come between a transaction and
    /// the move, and `hindsight retention restore` leaves the move to the next opening.
    pub(crate) fn location(&self, record: &SegmentRecord) -> Result<PathBuf> {
        let (due, other) = match record.expired {
            Some(_) => (&self.expired, &self.segments),
            None => (&self.segments, &self.expired),
        };
        let (due, other) = (due.join(&record.path), other.join(&record.path));
        let exists =
            |path: &Path| vfs::exists(&*self.vfs, path).map_err(StoreError::io("read", path));
        Ok(if !exists(&due)? && exists(&other)? {
            other
        } else {
            due
        })
    }

    /// Moves the file of a segment to where its record says that it is.
    pub(crate) fn put_in_place(&self, record: &SegmentRecord) -> Result<()> {
        let found = self.location(record)?;
        let due = match record.expired {
            Some(_) => self.expired.join(&record.path),
            None => self.segments.join(&record.path),
        };
        if found == due {
            return Ok(());
        }
        move_file(&*self.vfs, &found, &due).map_err(StoreError::io("move", &found))
    }
}
