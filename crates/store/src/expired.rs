//! The folder `expired`: the files of segments that retention took out of service, until they are deleted.

use std::path::{Path, PathBuf};

use crate::catalogue::SegmentRecord;
use crate::error::{Result, StoreError};
use crate::segment::move_file;

/// The folder in a data folder.
pub(crate) fn folder(root: &Path) -> PathBuf {
    root.join("expired")
}

/// Where the file of a segment is. It may be at another place than its record says: a crash may come between a transaction and the
/// move, and `hindsight retention restore` leaves the move to the next opening.
pub(crate) fn location(segments: &Path, expired: &Path, record: &SegmentRecord) -> PathBuf {
    let (due, other) = match record.expired {
        Some(_) => (expired, segments),
        None => (segments, expired),
    };
    let (due, other) = (due.join(&record.path), other.join(&record.path));
    if !due.exists() && other.exists() {
        other
    } else {
        due
    }
}

/// Moves the file of a segment to where its record says that it is.
pub(crate) fn put_in_place(segments: &Path, expired: &Path, record: &SegmentRecord) -> Result<()> {
    let found = location(segments, expired, record);
    let due = match record.expired {
        Some(_) => expired.join(&record.path),
        None => segments.join(&record.path),
    };
    if found == due {
        return Ok(());
    }
    move_file(&found, &due).map_err(StoreError::io("move", &found))
}
